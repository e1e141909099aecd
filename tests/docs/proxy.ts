/** Runs the configurations of nginx and Caddy that docs/operating.md gives, in front of a service: `deno task test:debian`. */
import { expect } from "@std/expect";
import { findWay } from "../../cli/hindcast/doctor_way.ts";
import { type Answer, BACKTEST, TestClient } from "../support/client.ts";
import { inCluster } from "../support/cluster.ts";
import { freePort } from "../support/free_port.ts";
import { startPostgres } from "../support/postgres.ts";
import { startProcess } from "../support/process.ts";
import { PROXIES, startDeployedCaddy, startProxy } from "../support/proxies.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

/** Sends a text and reads until the other side closes. @returns What it answered. */
async function sendAndWait(port: number, text: string): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  if (text !== "") await connection.write(new TextEncoder().encode(text));
  return await new Response(connection.readable).text().catch(() => "");
}

/** Shorter times than the page's. */
function hurry(configuration: string): string {
  return configuration.replaceAll(/\b10s\b/g, "1s").replace("keepalive_timeout 30s", "keepalive_timeout 1s")
    .replace("idle 30s", "idle 1s").replace("read_body 10m", "read_body 3s");
}

for (const name of PROXIES) {
  Deno.test(`the page's ${name} closes idle and half-sent requests, and passes whole ones on`, async () => {
    const service = await startTestService("PGlite", { TRUSTED_PROXIES: "127.0.0.1", STREAM_STALL_SECONDS: "1" });
    const proxy = await startProxy(name, [Number(new URL(service.url).port)], hurry);
    const proxied = Object.assign(service.client(), { url: proxy.url });
    await until(() => proxied.get("/api/health").then(({ status }) => status === 200, () => false));
    await proxied.signUp();
    expect((await proxied.get("/api/session")).status).toBe(200);
    const year = "/api/market-data/ticks?symbol=DEMO&startDate=2024-01-01&endDate=2024-03-01";
    expect((await proxied.get(year)).list("/ticks").length).toBe(60 * 1440);

    expect(await findWay({ url: proxy.url })).toContainEqual(
      expect.objectContaining({ check: "events", status: "ok" }),
    );
    if (name === "nginx") {
      // Events say themselves that they must not be held; this one does not listen, nor speaks of chunks.
      const holding = (text: string) =>
        text.replace("proxy_http_version 1.1;", "proxy_ignore_headers X-Accel-Buffering;");
      const holder = await startProxy(name, [Number(new URL(service.url).port)], holding);
      const finding = expect.objectContaining({ check: "events", status: "failed" });
      const held = new TestClient(holder.url);
      await until(() => held.get("/api/health/live").then(({ status }) => status === 200, () => false));
      expect(await findWay({ url: holder.url })).toContainEqual(finding);
      await holder.end();
    }

    const host = "host: x\r\n";
    const halves = [
      "",
      `GET /api/health HTTP/1.1\r\n${host}`,
      `POST /api/auth/sign-in/email HTTP/1.1\r\n${host}content-type: application/json\r\ncontent-length: 99\r\n\r\n{`,
    ];
    for (const answer of await Promise.all(halves.map((half) => sendAndWait(proxy.port, half)))) {
      expect(answer).toMatch(/^$|^HTTP\/1\.1 4\d\d /);
    }
    const whole = `GET /api/health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`;
    expect(await sendAndWait(proxy.port, whole)).toMatch(/^HTTP\/1\.1 200 /);
    await proxy.end();
    await service.close();
  });
}

Deno.test("the Caddyfile of deploy/ passes requests on, and says in our words when no process is up", async () => {
  const service = await startTestService("PGlite", { TRUSTED_PROXIES: "127.0.0.1" });
  const proxy = await startDeployedCaddy(Number(new URL(service.url).port));
  const proxied = Object.assign(service.client(), { url: proxy.url });
  await until(() => proxied.get("/api/health").then(({ status }) => status === 200, () => false));
  await proxied.signUp();
  expect((await proxied.get("/api/session")).status).toBe(200);
  await service.close();
  const away = await proxied.get("/api/session");
  expect([away.status, away.at("/error/code"), away.headers.get("retry-after")]).toEqual([503, "UNAVAILABLE", "1"]);
  await proxy.end();
});

const POSTS = 1_000;
const CLIENTS = 4;

for (const name of PROXIES) {
  Deno.test(`no request fails while two processes behind the page's ${name} are restarted one after the other`, async () => {
    const places = [freePort(), freePort()];
    await inCluster(async (start) => {
      const begin = (place: number) =>
        start("serve", { PORT: String(place), WORKERS: "0", TRUSTED_PROXIES: "127.0.0.1", LAME_DUCK_SECONDS: "1" });
      const processes = await Promise.all(places.map(begin));
      const proxy = await startProxy(name, places);
      const client = new TestClient(proxy.url);
      // Caddy asks by itself whether a process ends.
      const probe = () => client.get(name === "nginx" ? "/api/health/serving" : "/api/market-data/instruments");
      expect((await until(() => probe().catch(() => null))).status).toBe(200);
      await client.signUp();

      let hasRestarted = false;
      const restarting = (async () => {
        for (const [i, place] of places.entries()) {
          const ended = processes[i]!.end("SIGTERM");
          while (!processes[i]!.hasEnded) expect((await probe()).status).toBe(200);
          expect(await ended).toMatchObject({ code: 0 });
          processes[i] = await begin(place);
          await until(async () => (await probe()).headers.get("x-upstream") === `127.0.0.1:${place}`);
        }
        hasRestarted = true;
      })();
      const statuses = new Map<number, number>();
      let sent = 0;
      const post = async () => {
        for (; sent < POSTS || !hasRestarted; sent++) {
          const { status } = await client.send("POST", "/api/backtests", { backtest: BACKTEST });
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }
      };
      // A restart that fails must end the test.
      await Promise.all([restarting, ...Array.from({ length: CLIENTS }, post)]);
      expect([...statuses.keys()]).toEqual([202]);
      await proxy.end();
      await Promise.all(processes.map((process) => process.end("SIGINT")));
    });
  });
}

const STOCK = "/api/market-data/ticks?symbol=AAPL&assetClass=stock&startDate=2024-01-01&endDate=2024-01-02";
// More than the sockets between the proxy and the service hold.
const LARGE = new Uint8Array(48 * 1024 * 1024);

for (const name of PROXIES) {
  Deno.test(`no answer that the service chooses has the page's ${name} give up a process`, async (t) => {
    const database = await startPostgres();
    const shared = { DATABASE_URL: database.url, BETTER_AUTH_SECRET: "a secret of at least 32 characters" };
    const more = { ...shared, WORKERS: "0", TRUSTED_PROXIES: "127.0.0.1", LAME_DUCK_SECONDS: "0" };
    const places = [freePort(), freePort()];
    const processes = await Promise.all(places.map((place) => startProcess("serve", { ...more, PORT: String(place) })));
    const proxy = await startProxy(name, places);
    const stranger = new TestClient(proxy.url);
    const answers = async (count: number, ask: () => Promise<Answer>): Promise<unknown[]> => {
      const found = [];
      for (let i = 0; i < count; i++) {
        const answer = await ask();
        found.push([answer.status, answer.at("/error/code")]);
      }
      return [...new Set(found.map((each) => JSON.stringify(each)))].map((text) => JSON.parse(text));
    };
    const expectBoth = async () => {
      const found = new Set<string | null>();
      // Caddy chooses at random.
      for (let i = 0; i < 64 && found.size < places.length; i++) {
        const answer = await stranger.get("/api/market-data/instruments");
        expect(answer.status).toBe(200);
        found.add(answer.headers.get("x-upstream"));
      }
      expect([...found].toSorted()).toEqual(places.map((place) => `127.0.0.1:${place}`).toSorted());
    };
    await until(() => stranger.get("/api/health").then(({ status }) => status === 200, () => false));

    await t.step("a provider without its key", async () => {
      expect(await answers(20, () => stranger.get(STOCK))).toEqual([[404, "SYMBOL_NOT_FOUND"]]);
      await expectBoth();
    });

    await t.step("a large body that is refused before its end", async () => {
      for (let i = 0; i < 6; i++) {
        const answer = await fetch(`${proxy.url}/api/backtests`, { method: "POST", body: LARGE }).catch(() => null);
        await answer?.body?.cancel();
        await expectBoth();
      }
    });

    await t.step("a database that is away", async () => {
      await database.halt();
      for (const path of ["/api/market-data/instruments", "/api/health", STOCK]) await stranger.get(path);
      const ask = () => stranger.get("/api/market-data/instruments");
      expect(await answers(40, ask)).toEqual([[503, "UNAVAILABLE"]]);
      expect((await ask()).at("/error/message")).toMatch(/^Cannot answer now: the database is unreachable/);
      expect((await stranger.get("/api/health")).at("/checks/database")).toBe("failed");
      expect((await stranger.get("/api/health/serving")).status).toBe(200);
      await database.start();
      await until(async () => (await ask()).status === 200);
      await until(async () => (await stranger.get("/api/health")).status === 200);
      await expectBoth();
    });

    await t.step("no process at all", async () => {
      await Promise.all(processes.map((process) => process.end("SIGINT")));
      const answer = await stranger.get("/api/health");
      expect([answer.status, answer.headers.get("retry-after"), answer.at("/error/code"), answer.at("/error/message")])
        .toEqual([503, "1", "UNAVAILABLE", "Cannot answer: no process of the service is up"]);
    });
    await proxy.end();
    await database.stop();
  });
}
