/** Optimizations of every kind of strategy: a trial is a backtest of the same parameters. */
import { expect } from "@std/expect";
import { PostgresClient } from "../../db/postgres/postgres.ts";
import { checkTrials } from "../support/check_trials.ts";
import { finishOptimization, submitOptimization } from "../support/optimizations.ts";
import { startTestService } from "../support/service.ts";
import { compileWat, strategyWat } from "../workers/sandbox/wasm/modules.ts";
import { EXAMPLES, readExample, registration } from "./foreign_code.ts";
import { LimitedServices, RUN } from "./limited_services.ts";

/** A module whose only parameter, `{"fault":N}`, decides how it fails: 2 is refused, 3 and 6 trap, 5 has no memory. */
const FAULTY = compileWat(strategyWat({
  before: "(global $fault (mut i32) (i32.const 0))",
  init: `
    (global.set $fault (i32.sub (i32.load8_u offset=9 (i32.load offset=8 (local.get $frame))) (i32.const 48)))
    (if (i32.eq (global.get $fault) (i32.const 6)) (then unreachable))
    (if (i32.eq (global.get $fault) (i32.const 5)) (then (global.set $free (i32.const 0))))
    (if (result i32) (i32.eq (global.get $fault) (i32.const 2)) (then (i32.const 1)) (else (i32.const 0)))`,
  onCandle: `
    (if (i32.eq (global.get $fault) (i32.const 3)) (then unreachable))
    (i32.const 0)`,
}));

/** A script whose parameter `fault` decides how it fails. */
const FAULTY_SCRIPT = `strategy(({ fault }) => {
  if (fault === "refuses") throw new RangeError("not this one");
  const kept = [];
  return { decide(i, candles, account, orders) {
    if (i === 3) orders.buy();
    if (i < 5) return;
    if (fault === "throws") throw new Error("at candle 5");
    while (fault === "hangs");
    if (fault === "splits") kept.push("x".repeat(2 ** 28).split(""));
    if (fault === "grows") kept.push(new Float64Array(8e6).fill(1));
  } };
});`;
const MARKETS = {
  timeframe: "1d",
  instruments: ["ALDER", "ASPEN"].map((symbol) => ({ symbol, exchange: "SAMPLE" })),
};

Deno.test("the trials of built-in strategies, modules, scripts and endpoints are backtests of their parameters", async (t) => {
  const ended = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const endpoint = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { parameters, candles, asked: count } = await request.json();
    if (request.url.endsWith("/shared")) {
      asked.resolve();
      await answered.promise;
    }
    if (parameters.fault === "hangs") await ended.promise;
    // No status of 500: the pauses before its retries would count among the seconds of a trial.
    if (parameters.fault === "throws") return new Response("no", { status: 400 });
    if (parameters.fault === "grows") return new Response("x".repeat(20_000_000));
    const times: number[] = candles.time.slice(-count);
    // Buys every `fast` hours unless long, and leaves every `slow` hours.
    const decisions = times.map((time) => time / 3_600_000).map((hour) =>
      hour % parameters.slow === 0
        ? [{ action: "close" }]
        : hour % parameters.fast === 0
        ? [{ side: "buy", when: "not_long" }]
        : []
    );
    return Response.json({ version: 1, decisions });
  });
  const host = `127.0.0.1:${endpoint.addr.port}`;
  const service = await startTestService("PostgreSQL", { REMOTE_ENDPOINT_ALLOW: host });
  const limited = new LimitedServices(host);
  const user = await service.user();

  await t.step("built-in ones, whose lookback and stops differ from trial to trial", async () => {
    const spaces: Record<string, object> = {
      "SMA Cross": { fast: { values: [3, 30] }, slow: { values: [40, 90] } },
      "EMA Cross": { fast: { values: [5] }, slow: { values: [20, 300] } },
      "MACD": { signal: { values: [5, 9] }, stopLossLevel: { values: [0, 0.01] } },
      "RSI Reversion": { period: { values: [5, 40] }, direction: { values: ["long", "both"] } },
      "Bollinger Reversion": { period: { values: [10, 60] } },
      "Donchian Breakout": { entry: { values: [10, 80] } },
      "ATR Trend": { trend: { values: [20, 200] } },
    };
    for (const [strategy, space] of Object.entries(spaces)) {
      const trials = await checkTrials(user, { ...RUN, strategy, space });
      expect([strategy, trials.every(({ error }) => error === null), trials.length > 0]).toEqual([
        strategy,
        true,
        true,
      ]);
    }
  });

  const space = { fast: { values: [6, 12] }, slow: { values: [24, 260] } };
  const costs = { ...space, "execution.commission": { values: [0, 0.001] }, "execution.delay": { values: [1] } };
  await t.step("modules and scripts, whose warm-up only they know", async () => {
    const source = await Deno.readTextFile(new URL("../scripts/sma_cross.ts", EXAMPLES));
    const module = await readExample("c/sma_cross.wasm");
    const artifact = { content_base64: module.toBase64() };
    for (const runtime of [{ type: "script", source }, { type: "wasm", artifact }]) {
      const parameters = { ...RUN.parameters, direction: "both", runtime };
      const trials = await checkTrials(user, { ...RUN, strategy: "own", parameters, space });
      expect(trials.map(({ error }) => error)).toEqual([null, null, null, null]);
      await checkTrials(user, { ...RUN, strategy: "own", parameters, space: costs });
    }
  });

  await t.step("endpoints", async () => {
    const runtime = { type: "remote", endpoint: `http://${host}/`, timeoutMs: 60_000 };
    const trials = await checkTrials(user, {
      ...RUN,
      strategy: "remote",
      parameters: { ...RUN.parameters, runtime },
      space: costs,
    });
    expect(trials.map(({ error }) => error)).toEqual(new Array(8).fill(null));
  });
  for (const [over, own] of Object.entries({ "one market": {}, "two markets with one account": MARKETS })) {
    await t.step(
      `over ${over}, a point that the script refuses is none, and those that throw, hang, grow or end the engine are failed trials`,
      async () => {
        const parameters = { ...RUN.parameters, ...own, runtime: { type: "script", source: FAULTY_SCRIPT } };
        const faults = ["first", "throws", "second", "hangs", "third", "grows", "refuses", "splits", "fourth"];
        const { ended, trials } = await limited.optimize({ strategy: "faulty", parameters }, faults);
        expect(ended.at("/optimization")).toMatchObject({
          status: "completed",
          points: { done: 9, refused: 1 },
          trials: { done: 8, failed: 4 },
        });
        expect(trials.map(({ parameters, error }) => [parameters.fault, error?.code])).toEqual([
          ["first", undefined],
          ["second", undefined],
          ["third", undefined],
          ["fourth", undefined],
          ["throws", "STRATEGY_FAILED"],
          ["hangs", "STRATEGY_TIMED_OUT"],
          ["grows", "STRATEGY_OUT_OF_MEMORY"],
          ["splits", "STRATEGY_OUT_OF_MEMORY"],
        ]);
      },
    );
  }
  await t.step("modules and endpoints fail on some points, and the others go on", async () => {
    const module = { type: "wasm", artifact: { content_base64: FAULTY.toBase64() } };
    const ofModule = { "3": "STRATEGY_FAILED", "5": "STRATEGY_OUT_OF_MEMORY", "6": "STRATEGY_FAILED" };
    const checks: readonly (readonly [kind: string, own: object, faults: readonly unknown[], ended: object])[] = [
      ["wasm", { runtime: module }, [0, 3, 1, 5, 2, 6, 7], ofModule],
      ["wasm", { ...MARKETS, runtime: module }, [0, 3, 1, 5, 2, 6, 7], ofModule],
      ["remote", { fast: 5, slow: 7, runtime: { type: "remote", endpoint: `http://${host}/`, timeoutMs: 60_000 } }, [
        "first",
        "throws",
        "hangs",
        "grows",
        "last",
      ], {
        throws: "ENDPOINT_FAILED",
        hangs: "STRATEGY_TIMED_OUT",
        grows: "ENDPOINT_FAILED",
      }],
    ];
    for (const [kind, own, values, errors] of checks) {
      const parameters = { ...RUN.parameters, ...own };
      const { ended, trials } = await limited.optimize({ strategy: kind, parameters }, values);
      const refused = kind === "wasm" ? 1 : 0;
      expect(ended.at("/optimization")).toMatchObject({
        status: "completed",
        points: { done: values.length, refused },
        trials: { done: values.length - refused, failed: Object.keys(errors).length },
      });
      const failed = trials.filter(({ error }) => error !== null);
      expect([kind, Object.fromEntries(failed.map(({ parameters, error }) => [parameters.fault, error.code]))]).toEqual(
        [
          kind,
          errors,
        ],
      );
    }
  });
  await t.step("an endpoint that fails five times in a row ends an optimization, which keeps its trials", async () => {
    const runtime = { type: "remote", endpoint: `http://${host}/again`, timeoutMs: 60_000 };
    const id = await submitOptimization(user, {
      ...RUN,
      strategy: "failing",
      parameters: { ...RUN.parameters, fast: 5, slow: 7, runtime },
      space: { fault: { values: ["no", "throws"] }, count: { min: 1, max: 7, step: 1 } },
    });
    const ended = await finishOptimization(user, id);
    expect(ended.at("/optimization")).toMatchObject({
      status: "failed",
      error: { code: "ENDPOINT_FAILED", message: expect.stringMatching(/too many runs in a row failed/) },
      trials: { done: 12, failed: 5 },
    });
    expect((await user.get(`/api/optimizations/${id}/trials`)).list("/trials").length).toBe(12);
  });
  await t.step(
    "a trial and a backtest run again in their version, and not in one that was registered in its place",
    async () => {
      const register = async (path: string) => {
        const config = { type: "remote", endpoint: `http://${host}/${path}`, timeoutMs: 30_000 };
        const answer = await user.send("POST", "/api/strategies", { strategy: registration("again", config) });
        expect(answer.status).toBe(201);
      };
      await register("first");
      const own = { fast: { values: [5] }, slow: { values: [7] } };
      const id = await submitOptimization(user, { ...RUN, strategy: "again", space: own });
      await finishOptimization(user, id);
      const run = await user.send("POST", `/api/optimizations/${id}/trials/1/backtest`);
      const backtest = `/api/backtests/${run.at("/backtest/id")}`;
      await user.finish(run.at("/backtest/id"));
      const config = { type: "remote", endpoint: `http://${host}/second`, timeoutMs: 30_000 };
      const version = { version: "2.0", runtime_config: config };
      expect((await user.send("POST", "/api/strategies/again/versions", { version })).status).toBe(201);
      const verified = await user.send("POST", `${backtest}/verify`);
      expect(await user.finish(verified.at("/backtest/id"))).toMatchObject({ status: 200 });
      const { version: ran } = Object(verified.at("/backtest/parameters/runtime"));
      expect([verified.status, ran]).toEqual([202, "1.0"]);
      expect((await user.send("DELETE", "/api/strategies/again")).status).toBe(204);
      await register("second");
      const unverified = await user.send("POST", `${backtest}/verify`);
      expect([unverified.status, unverified.at("/error/code")]).toEqual([400, "UNKNOWN_STRATEGY"]);
      expect(unverified.at("/error/message")).toMatch(/version 1.0 of again .* which was deleted/);
      const refused = await user.send("POST", `/api/optimizations/${id}/trials/1/backtest`);
      expect([refused.status, refused.at("/error/code")]).toEqual([400, "UNKNOWN_STRATEGY"]);
      expect(refused.at("/error/message")).toMatch(/version 1.0 of again .* which was deleted/);
    },
  );
  await t.step("an optimization keeps its version when its strategy goes in the middle", async () => {
    const owner = await service.user();
    const config = { type: "remote", endpoint: `http://${host}/shared`, timeoutMs: 30_000 };
    const strategy = { ...registration("shared", config), is_public: true };
    expect((await owner.send("POST", "/api/strategies", { strategy })).status).toBe(201);
    const id = await submitOptimization(user, {
      ...RUN,
      strategy: "shared",
      space: { fast: { values: [5, 6] }, slow: { values: [7] } },
    });
    await asked.promise;
    const refused = await owner.send("DELETE", "/api/strategies/shared");
    expect([refused.status, refused.at("/error/code")]).toEqual([409, "STRATEGY_IN_USE"]);
    expect(refused.at("/error/message")).toMatch(/one of its backtests or optimizations has not ended/);
    const version = { version: "2.0", runtime_config: { ...config, endpoint: `http://${host}/other` } };
    expect((await owner.send("POST", "/api/strategies/shared/versions", { version })).status).toBe(201);

    const database = await PostgresClient.connect(service.databaseUrl);
    // Nothing keeps an operator from removing a user with their strategies.
    await database.query('delete from "user" where id = (select owner_id from strategies where slug = $1)', ["shared"]);
    expect(await database.query("select from strategies where slug = 'shared'")).toEqual([]);
    answered.resolve();
    expect((await finishOptimization(user, id)).at("/optimization")).toMatchObject({
      status: "completed",
      strategy_version: "1.0",
      trials: { done: 2, failed: 0 },
    });
    const again = await user.send("POST", `/api/optimizations/${id}/trials/1/backtest`);
    expect([again.status, again.at("/error/code")]).toEqual([400, "UNKNOWN_STRATEGY"]);
    expect((await user.send("DELETE", `/api/optimizations/${id}`)).status).toBe(204);
    const left = await database.query(
      "select from pgboss.job where data ->> 'optimizationId' = $1 and state < 'completed' " +
        "union all select from trial_chunks where optimization_id::text = $1",
      [id],
    );
    expect(left).toEqual([]);
    await database.close();
  });
  await limited.close();
  await service.close();
  ended.resolve();
  answered.resolve();
  await endpoint.shutdown();
});
