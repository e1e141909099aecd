import { expect } from "@std/expect";
import { run } from "../../engine/run.ts";
import type { Strategy } from "../../engine/strategy.ts";
import { emaCross } from "../../strategies/builtin/ema_cross.ts";
import { smaCross } from "../../strategies/builtin/sma_cross.ts";
import { bytesOf } from "./properties/bytes.ts";
import { randomRun } from "./properties/random_run.ts";

const RUNS = 1500;

/** The same strategy, asked at every candle. */
function askedAlways(strategy: Strategy): Strategy {
  return {
    warmup: strategy.warmup,
    prepare: (candles) => strategy.prepare(candles),
    decide: (i, account, book) => strategy.decide(i, account, book),
  };
}

Deno.test("a strategy that tells its next decision is run to the same bytes as when it is asked at every candle", () => {
  let trades = 0;
  let ruined = 0;
  for (let n = 0; n < RUNS; n++) {
    const input = randomRun(1, n);
    const { create } = n % 2 === 0 ? smaCross : emaCross;
    const parameters = {
      fast: 1 + n % 3,
      slow: 4 + n % 5,
      direction: n % 4 < 2 ? "both" : "long",
      stopLossLevel: n % 7 < 3 ? 0 : 0.002 * (n % 7),
      takeProfitLevel: n % 5 < 2 ? 0 : 0.003 * (n % 5),
    };
    const result = run({ ...input, strategy: create(parameters) });
    expect([n, bytesOf(result)]).toEqual([n, bytesOf(run({ ...input, strategy: askedAlways(create(parameters)) }))]);
    trades += result.trades.side.length;
    if (result.equity.at(-1)! <= 0) ruined++;
  }
  // What did not happen was not compared.
  expect(trades).toBeGreaterThan(RUNS);
  expect(ruined).toBeGreaterThan(0);
});
