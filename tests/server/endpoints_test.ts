/** Endpoints that fetch their requests: `serve:NAME`, over HTTP, as programs and their users see them. */
import { expect } from "@std/expect";
import { z } from "zod";
import { openPostgres } from "../../db/client.ts";
import { servedRequests } from "../../db/schema.ts";
import { type Answer, BACKTEST, type TestClient } from "../support/client.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const served = (more: object = {}) => ({
  ...BACKTEST,
  strategy: "Mine",
  parameters: { timeframe: "1h", runtime: { type: "remote", endpoint: "serve:mine", ...more } },
});
const asking = z.object({ first_asked: z.int(), asked: z.int() });
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
/** Buys at the close of candle 3 and closes at that of candle 20. */
function decide(body: unknown): object {
  const { first_asked, asked } = asking.parse(body);
  const decideOn = (candle: number) => candle === 3 ? [{ side: "buy" }] : candle === 20 ? [{ action: "close" }] : [];
  return { body: { version: 1, decisions: Array.from({ length: asked }, (_, n) => decideOn(first_asked + n)) } };
}

async function tokenOf(user: TestClient, scope: string): Promise<Readonly<Record<string, string>>> {
  const made = await user.send("POST", "/api/tokens", { token: { name: scope, scope } });
  return bearer(String(made.at("/secret")));
}

async function submit(user: TestClient, backtest: object): Promise<string> {
  const answer = await user.send("POST", "/api/backtests", { backtest });
  if (answer.status !== 202) throw new Error(`Cannot submit: ${answer.status} ${answer.text}`);
  return String(answer.at("/backtest/id"));
}

Deno.test("a program fetches the requests of its user's runs, and no others", async (t) => {
  const service = await startTestService("PostgreSQL", { WORKERS: "2" });
  const handle = await openPostgres(service.databaseUrl, 1);
  const [ada, eve] = [await service.user(), await service.user()];
  const program = service.client();
  const key = await tokenOf(ada, "serve");
  const next = (body: object = {}, as = key, name = "mine") =>
    program.send("POST", `/api/endpoints/${name}/next`, body, as);
  const storedFor = (count: number) =>
    until(async () => (await handle.db.select().from(servedRequests)).length >= count || null);

  /** Answers until a run has ended. @returns The bodies that it was sent. */
  const serve = async (id: string, user: TestClient, answerTo = decide): Promise<unknown[]> => {
    const bodies: unknown[] = [];
    let answer: object | undefined;
    for (;;) {
      const said: Answer = await next({ wait: 1, ...(answer === undefined ? {} : { answer }) });
      answer = undefined;
      if (said.at("/request") !== null) {
        bodies.push(said.at("/request/body"));
        answer = { id: said.at("/request/id"), ...answerTo(said.at("/request/body")) };
      } else if (
        !["queued", "running"].includes(String((await user.get(`/api/backtests/${id}`)).at("/backtest/status")))
      ) {
        return bodies;
      }
    }
  };

  await t.step("a run is decided by the answers, and its requests name the market", async () => {
    const id = await submit(ada, served());
    const bodies = await serve(id, ada);
    expect(bodies[0]).toMatchObject({ version: 1, run_id: id, mode: "batch", symbol: "DEMO", exchange: "SAMPLE" });
    const run = await ada.finish(id);
    expect([run.at("/backtest/status"), run.at("/backtest/result/metrics/trades")]).toEqual(["completed", 1]);
    expect(run.at("/backtest/result/integrity/determinism/status")).toBe("passed");
    expect(await handle.db.select().from(servedRequests)).toEqual([]);
  });
  await t.step("the first answer to a request counts, and a program that is late is replaced once", async () => {
    const id = await submit(ada, served({ timeoutMs: 1 }));
    const first = await next();
    // Its time is over at once, so that the relay offers it again.
    const again = await next();
    expect(again.at("/request/id")).toBe(first.at("/request/id"));
    const answer = { id: first.at("/request/id"), ...decide(first.at("/request/body")) };
    const both = await Promise.all([next({ wait: 0, answer }), next({ wait: 0, answer })]);
    expect(both.map((each) => each.at("/accepted")).toSorted()).toEqual([false, true]);
    await ada.send("POST", `/api/backtests/${id}/cancel`);
    await ada.finish(id);
    expect(await until(async () => (await handle.db.select().from(servedRequests)).length === 0)).toBe(true);
  });
  await t.step("a run of another user with the same name reaches nobody else's program", async () => {
    const id = await submit(eve, served());
    await storedFor(1);
    expect((await next({ wait: 0 })).at("/request")).toBe(null);
    const [row] = await handle.db.select().from(servedRequests);
    const forged = await next({ wait: 0, answer: { id: row?.id, body: { version: 1, decisions: [] } } });
    expect(forged.at("/accepted")).toBe(false);
    await eve.send("POST", `/api/backtests/${id}/cancel`);
    expect((await eve.finish(id)).at("/backtest/status")).toBe("cancelled");
    expect(await until(async () => (await handle.db.select().from(servedRequests)).length === 0)).toBe(true);
  });
  await t.step("a token of the scope serve does nothing else, and one of the scope read does not serve", async () => {
    for (
      const [method, path] of [["GET", "/api/backtests"], ["GET", "/api/session"], ["POST", "/api/backtests"]] as const
    ) {
      const refused = await program.send(method, path, undefined, key);
      expect([method, path, refused.status, refused.at("/error/code")]).toEqual([method, path, 403, "FORBIDDEN"]);
    }
    const reader = await next({ wait: 0 }, await tokenOf(ada, "read"));
    expect([reader.status, reader.at("/error/message")]).toEqual([
      403,
      "Cannot do this with a token of the scope read: it needs the scope serve",
    ]);
    expect((await program.send("POST", "/api/endpoints/mine/next", { wait: 0 })).status).toBe(401);
  });
  await t.step("names and answers are checked", async () => {
    expect((await next({ wait: 0 }, key, "Mine")).at("/error/issues/0/path")).toBe("/name");
    const answer = { id: crypto.randomUUID(), body: { version: 1 } };
    expect((await next({ wait: 0, answer })).at("/accepted")).toBe(false);
    const long = { id: crypto.randomUUID(), body: { version: 1, decisions: ["x".repeat(2 ** 20)] } };
    expect((await next({ wait: 0, answer: long })).status).toBe(413);
    const endpoint = "serve:Not/Mine";
    const refused = await ada.send("POST", "/api/backtests", { backtest: served({ endpoint }) });
    expect([refused.status, refused.at("/error/issues/0/path")]).toEqual([
      400,
      "/backtest/parameters/runtime/endpoint",
    ]);
  });
  await t.step("others run a public strategy by its owner's program, and read nothing of it", async () => {
    const made = await ada.send("POST", "/api/strategies", {
      strategy: {
        slug: "served-one",
        name: "Served one",
        description: "",
        runtime_type: "remote",
        language: "python",
        is_public: true,
        initial_version: { version: "1.0.0", runtime_config: { type: "remote", endpoint: "serve:mine" } },
      },
    });
    expect([made.status, made.text]).toEqual([201, made.text]);
    const id = await submit(eve, { ...BACKTEST, strategy: "Served one" });
    await serve(id, eve, () => ({ error: "out of cheese" }));
    const ended = await eve.finish(id);
    expect(ended.at("/backtest/error/code")).toBe("ENDPOINT_FAILED");
    expect(String(ended.at("/backtest/error/message"))).toMatch(
      /^Cannot get an answer from the strategy's endpoint for candle 0 .*: out of cheese$/,
    );
    expect((await eve.get("/api/strategies/served-one")).text).not.toContain("serve:mine");
  });
  await handle.close();
  await service.close();
});
