/** Strategies that users bring, registered and run over REST. */
import { expect } from "@std/expect";
import type { TestClient } from "../support/client.ts";
import { compileWat, strategyWat } from "../workers/sandbox/wasm/modules.ts";

/** The folder of the examples. */
export const EXAMPLES = new URL("../../strategies/examples/", import.meta.url);
const SCHEMA = {
  type: "object",
  properties: { fast: { type: "integer", default: 10 }, slow: { type: "integer", default: 30 } },
};
/** Three months of the sample. */
export const RANGE = {
  symbol: "DEMO",
  exchange: "SAMPLE",
  start_date: "2024-02-01",
  end_date: "2024-05-01",
  initial_balance: 10_000,
  // The same code comes along several ways, each of which must run it.
  fresh: true,
};
/** Of the examples. */
export const PARAMETERS = { timeframe: "1h", fast: 12, slow: 48, direction: "both" };

/** A compiled example. */
export async function readExample(path: string): Promise<Uint8Array> {
  return await Deno.readFile(new URL(path, EXAMPLES));
}

/** The body of a registration, around a `runtime_config`. */
export function registration(slug: string, runtime_config: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return {
    slug,
    name: slug,
    description: "",
    runtime_type: runtime_config.type,
    language: "any",
    lookback_candles: 200,
    parameter_schema: SCHEMA,
    initial_version: { version: "1.0", runtime_config },
  };
}

/** Runs a strategy by its name. @returns Its trades. */
export async function runToTrades(user: TestClient, strategy: string, more: object = {}): Promise<readonly unknown[]> {
  const backtest = { ...RANGE, strategy, parameters: { ...PARAMETERS, ...more } };
  const submitted = await user.send("POST", "/api/backtests", { backtest });
  expect([submitted.status, submitted.at("/error")]).toEqual([202, undefined]);
  const id = submitted.at("/backtest/id");
  const done = await user.finish(id);
  expect([done.at("/backtest/status"), done.at("/backtest/error")]).toEqual(["completed", null]);
  return (await user.get(`/api/backtests/${id}/trades?limit=200`)).list("/trades");
}

/** Runs code that asks for a longer warm-up than its runtime's lookback: with enough candles, with fewer, and with too few. */
export async function checkWarmUps(user: TestClient): Promise<void> {
  const run = async (runtime: object, more: object = {}) => {
    const backtest = { ...RANGE, ...more, strategy: "warm", parameters: { timeframe: "1h", runtime } };
    const done = await user.finish((await user.send("POST", "/api/backtests", { backtest })).at("/backtest/id"));
    const [trade] = (await user.get(`/api/backtests/${done.at("/backtest/id")}/trades?limit=1`)).list("/trades");
    return { first: Object(trade).entry_time, notes: JSON.stringify(done.at("/backtest/result/notes")) };
  };
  // Buys at its first decision, which needs 300 candles.
  const source = "strategy(() => ({ warmup: 300, decide(i, { close }, account, orders) { orders.buy(); } }));";
  const buys = strategyWat({
    init: "(i32.store offset=16 (local.get $frame) (i32.const 300)) (i32.const 0)",
    onCandle: `(i32.store (local.get $order) (i32.const 1))
      (i32.store offset=4 (local.get $order) (i32.const 1)) (i32.const 1)`,
  });
  const runtimes = [
    { type: "script", source },
    { type: "wasm", artifact: { content_base64: compileWat(buys).toBase64() }, lookbackCandles: 20 },
  ];
  for (const runtime of runtimes) {
    const warm = await run(runtime);
    expect([warm.first, warm.notes]).toEqual(["2024-02-01T01:00:00.000Z", expect.not.stringMatching(/decision/)]);
    // It buys again and again, with nothing left to pay.
    expect(warm.notes).toMatch(/The simulator refused \d+ of \d+ orders: \d+ \(smaller than one lot\)/);
    const [summary] = (await user.get("/api/backtests?view=summary&limit=1")).list("/backtests");
    expect(Object(summary).failed_checks).toEqual([]);
    // The archive begins with the year: ten days are held.
    const early = await run(runtime, { start_date: "2024-01-11", end_date: "2024-01-31" });
    expect([early.first, early.notes]).toEqual([
      "2024-01-13T12:00:00.000Z",
      expect.stringMatching(/first decision came at candle 60 .*needs 300 candles.* 240 from before the range/),
    ]);
  }
  const never = await run(runtimes[0]!, { start_date: "2024-01-01", end_date: "2024-01-03" });
  expect([never.first, never.notes]).toEqual([
    undefined,
    expect.stringMatching(/No decision was due.* had 48, of/),
  ]);
}
