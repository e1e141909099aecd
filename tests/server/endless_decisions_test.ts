/** Decisions that never end, submitted and registered over HTTP: each is refused or ended by itself, and no other user waits for it. */
import { expect } from "@std/expect";
import { buildInterpreter } from "../../workers/sandbox/python/build_interpreter.ts";
import { type Answer, BACKTEST, type TestClient } from "../support/client.ts";
import { startProcess } from "../support/process.ts";
import { until } from "../support/until.ts";
import { pythonDeciding } from "../workers/sandbox/python/python_scripts.ts";
import { deciding } from "../workers/sandbox/script/scripts.ts";
import { compileWat, strategyWat } from "../workers/sandbox/wasm/modules.ts";

// A twentieth is the least that a decision may take.
const RUN_SECONDS_MAX = 40;
const MINUTES = { ...BACKTEST, strategy: "mine" };
const INSTRUMENTS = ["OAK", "PINE"].map((symbol) => ({ symbol, exchange: "SAMPLE" }));
const DAYS = { ...MINUTES, symbol: "OAK", start_date: "2023-01-01", end_date: "2023-07-01" };

const script = (source: string, language = "typescript") => ({ type: "script", language, source });
/** Endless in its first decision on minutes; a check has other candles. */
const FIRST = `strategy((parameters, { timeframeMs }) => ({
  decide() { if (timeframeMs === 60_000) for (;;); },
}));`;
const MODULE = strategyWat({
  before: "(global $seen (mut i32) (i32.const 0))",
  onCandle: `(global.set $seen (i32.add (global.get $seen) (i32.const 1)))
    (if (i32.gt_u (global.get $seen) (i32.const 5000)) (then (loop $again (br $again)))) (i32.const 0)`,
});
const ALL_MARKETS = `portfolio(() => ({
  every: "day",
  decide(now, markets) { if (markets[0].symbol === "OAK") for (;;); },
}));`;

const RUNS: readonly (readonly [what: string, backtest: object, where: RegExp])[] = [
  [
    "a script, at once",
    one(script(FIRST)),
    /candle 0 of the range, counted from 0 \(2024-01-01T00:00:00.* at strategy\.ts:2:\d+$/,
  ],
  [
    "a script, late",
    one(script(deciding("if (i === 5000) for (;;);"))),
    /candle 5000 of the range.* at strategy\.ts:3:\d+$/,
  ],
  [
    "a Python script",
    one(script(pythonDeciding("while i == 5000: pass"), "python")),
    /candle 5000 .* at decide \(strategy\.py:6:\d+\)$/,
  ],
  [
    "a module",
    one({ type: "wasm", artifact: { content_base64: compileWat(MODULE).toBase64() } }),
    /candle 5000 of the range/,
  ],
  [
    "a script that decides on all markets",
    { ...DAYS, parameters: { timeframe: "1d", instruments: INSTRUMENTS, runtime: script(ALL_MARKETS) } },
    /^Cannot go on: its decision took.* at strategy\.ts:3:\d+$/,
  ],
];

/** Sends code that is checked, again where a busy machine had no time for the check. */
async function sendCode(client: TestClient, path: string, body: object): Promise<Answer> {
  return await until(async () => {
    const answer = await client.send("POST", path, body);
    return answer.status === 503 ? undefined : answer;
  });
}

function one(runtime: object) {
  return { ...MINUTES, parameters: { timeframe: "1m", runtime } };
}

Deno.test("a decision that never ends costs its owner a run, and nobody else anything", async (t) => {
  await buildInterpreter();
  const DATA_DIR = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const service = await startProcess("serve", { DATA_DIR, RUN_SECONDS_MAX: String(RUN_SECONDS_MAX), PYTHON: "on" });
  const [worst, other] = [service.client(), service.client()];
  await worst.signUp();
  await other.signUp();
  await t.step("one that every check meets is refused at its submission and its registration", async () => {
    const source = deciding("for (;;);");
    const submitted = await sendCode(worst, "/api/backtests", { backtest: one(script(source)) });
    expect([submitted.status, submitted.at("/error/code")]).toEqual([400, "INVALID_SCRIPT"]);
    const own = await sendCode(worst, "/api/backtests", { backtest: one(script(`for (;;);\n${source}`)) });
    expect([own.status, own.at("/error/code")]).toEqual([400, "INVALID_SCRIPT"]);
    const strategy = {
      ...{ slug: "endless", name: "Endless", description: "", runtime_type: "script", language: "typescript" },
      ...{ lookback_candles: 1, parameter_schema: { type: "object" } },
      initial_version: { version: "1.0", runtime_config: script(source) },
    };
    const registered = await sendCode(worst, "/api/strategies", { strategy });
    expect([registered.status, registered.at("/error/code")]).toEqual([400, "INVALID_SCRIPT"]);
    // Its line follows where a busy machine has the time to look for it: the runs below have theirs.
    expect(registered.at("/error/message")).toMatch(
      /within (5|12) s: 0 candles were done|decision had not ended after/,
    );
  });
  for (const [what, backtest, where] of RUNS) {
    await t.step(what, async () => {
      const made = await sendCode(worst, "/api/backtests", { backtest });
      expect([made.status, made.at("/error")]).toEqual([202, undefined]);
      const { code, message } = Object((await worst.finish(made.at("/backtest/id"))).at("/backtest/error"));
      expect([code, message]).toEqual(["STRATEGY_TIMED_OUT", expect.stringMatching(where)]);
      expect(message).toContain("its decision took more than 2 s");
    });
  }
  const made = await other.send("POST", "/api/backtests", { backtest: BACKTEST });
  expect((await other.finish(made.at("/backtest/id"))).at("/backtest/status")).toBe("completed");
  expect((await service.end("SIGTERM")).code).toBe(0);
  await Deno.remove(DATA_DIR, { recursive: true });
});
