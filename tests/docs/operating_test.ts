/** The examples of docs/operating.md do what it says, and its tables agree with the code. */
import { expect } from "@std/expect";
import { openPostgres } from "../../db/client.ts";
import { grantAdmin } from "../../db/users.ts";
import { inCluster } from "../support/cluster.ts";
import { createTestDatabase } from "../support/database.ts";
import { freePort } from "../support/free_port.ts";
import { blockIn, listFiles, readPage, ROOT, runLines } from "../support/pages.ts";
import { prepare } from "../support/prepare.ts";
import { withProvider } from "../support/provider.ts";
import { INGESTION_SECRET, startTestService } from "../support/service.ts";

const PAGE = await readPage("docs/operating.md");
const INTERVALS: Readonly<Record<string, number>> = { "1h": 3_600_000, "1d": 86_400_000 };

Deno.test("the lines start a cluster and restart its processes one after another", async () => {
  const { url, drop } = await createTestDatabase("service");
  // Two starts that found no build would each make one.
  await prepare("console");
  // tests/docs/proxy.ts restarts behind nginx.
  const restart = blockIn(PAGE, "sh", "kill -TERM").replace("http://127.0.0.1\n", "http://127.0.0.1:8002\n")
    .replace(/^sleep 5 .*/m, "");
  const script = `${blockIn(PAGE, "sh", "export DATABASE_URL=")}\n${restart}
    until curl -sf http://127.0.0.1:8001/api/health; do sleep 0.2; done
    kill -TERM $API1 $API2 $WORKER
    wait $API1; wait $API2
    # It may not have come so far as to listen for signals.
    wait $WORKER || test $? = 143`
    .replace(/postgres:\/\/\S+/, url).replaceAll("8001", String(freePort())).replaceAll("8002", String(freePort()));
  const { code, stdout, stderr } = await runLines(script, { env: { LOG_LEVEL: "error" } });
  const said = stderr.split("\n").filter((line) => !/^$|^Task |^Buil(ding|t) the (console|interpreter)/.test(line));
  expect([code, said]).toEqual([0, []]);
  expect(stdout.match(/"status":"ok"/g)?.length).toBe(4);
  expect(stdout.match(/Hindcast listens on/g)?.length).toBe(3);
  await drop();
});

Deno.test("the line that starts a service with OpenTelemetry exports to a collector", async () => {
  const line = blockIn(PAGE, "sh", "OTEL_DENO=");
  const given = Object.fromEntries(line.matchAll(/(OTEL_\w+)=(\S+)/g).map(([, name, value]) => [name, value ?? ""]));
  expect(Object.keys(given)).toContain("OTEL_EXPORTER_OTLP_ENDPOINT");
  const arrived = new Set<string>();
  const collect = (url: URL, request: Request) => {
    arrived.add(`${url.pathname} ${request.headers.get("content-type")}`);
    return new Response(null);
  };
  await inCluster((start) =>
    withProvider(collect, async (baseUrl) => {
      const service = await start("serve", { ...given, OTEL_EXPORTER_OTLP_ENDPOINT: baseUrl });
      await service.client().get("/api/health");
      await service.end("SIGTERM");
    })
  );
  expect([...arrived].toSorted()).toEqual(["/v1/metrics application/x-protobuf", "/v1/traces application/x-protobuf"]);
});

Deno.test("the list of metrics has every one of ours and no other", async () => {
  const sources = await Promise.all(
    (await listFiles()).filter((path) => /^(market|workers)\/.*\.ts$/.test(path))
      .map((path) => Deno.readTextFile(`${ROOT}${path}`)),
  );
  const made = sources.flatMap((text) =>
    [...text.matchAll(/\.create\w+\("([a-z.]+)", \{[^}]*?unit: "([^"]+)"/g)].map(([, name, unit]) => [name, unit])
  );
  const rows = [...PAGE.matchAll(/^\| `(hindcast\.[a-z.]+)` +\| `([^`]+)`/gm)].map(([, name, unit]) => [name, unit]);
  expect(rows.toSorted()).toEqual(made.toSorted());
});

Deno.test("a holder of the secret imports candles with the page's line", async () => {
  const service = await startTestService();
  const cwd = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  await Deno.writeTextFile(`${cwd}/AAPL.csv`, "Volume,Close,Low,High,Open,Date\n10,1.5,0.5,2,1,2024-01-02\n");
  const env = { API: `${service.url}/api`, INGESTION_ADMIN_SECRET: INGESTION_SECRET };
  const { code, stdout, stderr } = await runLines(blockIn(PAGE, "sh", "AAPL.csv"), { cwd, env });
  expect([code, stderr, JSON.parse(stdout)]).toEqual([0, "", expect.objectContaining({ imported: 1, rejected: [] })]);
  await Deno.remove(cwd, { recursive: true });
  await service.close();
});

Deno.test("an admin's lines make an account, set its password and remove it", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const admin = service.client();
  const handle = await openPostgres(service.databaseUrl, 1);
  await grantAdmin(handle.db, await admin.signUp());
  await handle.close();
  const cwd = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  await Deno.writeTextFile(`${cwd}/jar`, admin.jar());
  const signIn = async (password: string) => {
    const credentials = { email: "bo@example.com", password };
    return (await service.client().send("POST", "/api/auth/sign-in/email", credentials)).status;
  };
  const make = blockIn(PAGE, "sh", "create-user").replace("http://127.0.0.1:8000", service.url);
  const made = await runLines(`${make}\necho; echo "ID=$ID"`, { cwd });
  expect([made.code, made.stderr]).toEqual([0, ""]);
  expect([await signIn("correct horse bo"), await signIn("another horse bo")]).toEqual([401, 200]);
  const [, ID = ""] = /^ID=(.+)$/m.exec(made.stdout) ?? [];
  const env = { ID, API: `${service.url}/api/auth/admin`, JSON: "content-type: application/json" };
  const removed = await runLines(blockIn(PAGE, "sh", "remove-user"), { cwd, env });
  expect([removed.code, removed.stderr, await signIn("another horse bo")]).toEqual([0, "", 401]);
  await Deno.remove(cwd, { recursive: true });
  await service.close();
});

Deno.test("an operator's lines add an instrument, backfill it, watch the events and read its candles", async () => {
  const exchange = (url: URL) => {
    const get = (name: string) => Number(url.searchParams.get(name));
    const length = INTERVALS[url.searchParams.get("interval") ?? ""] ?? 0;
    const rows = [];
    for (let time = get("startTime"); time <= get("endTime") && rows.length < 1000; time += length) {
      rows.push([time, "1", "2", "0.5", "1.5", "10", time + length - 1, "0", 1, "0", "0", "0"]);
    }
    return Response.json(rows);
  };
  await withProvider(exchange, async (baseUrl) => {
    const service = await startTestService("PostgreSQL", { BINANCE_BASE_URL: baseUrl });
    const script = blockIn(PAGE, "sh", "run-once").replace("http://127.0.0.1:8000", service.url);
    const { code, stdout, stderr } = await runLines(script, { env: { INGESTION_ADMIN_SECRET: INGESTION_SECRET } });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain('"schedule":"5 * * * *"');
    expect(stdout).toContain('"status":"queued"');
    // Thirty-one days of January, whether the run had come to them or they were fetched for the request.
    expect(stdout.match(/^2024-01-..T00:00:00.000Z,1,2,0.5,1.5,\d+$/gm)?.length).toBe(31);
    await service.close();
  });
});
