import type { Execution } from "../../../engine/execution.ts";
import type { RunInput } from "../../../engine/run.ts";
import { mixSeeds, randomFrom } from "./random.ts";
import { randomExecution } from "./random_execution.ts";
import { randomMarket } from "./random_market.ts";
import { type RandomStrategy, randomStrategy } from "./random_strategy.ts";

export interface RandomRun extends RunInput {
  readonly strategy: RandomStrategy;
}

/** Run number `n` of a seed: a market, settings, an account and a strategy, each time the same. */
export function randomRun(seed: number, n: number): RandomRun {
  const random = randomFrom(mixSeeds(seed, n));
  const { candles, finer, timeframeMs, tick, scale } = randomMarket(random);
  // Not a round number: if money buys exactly a whole number of lots, rounding decides and correct simulators differ.
  const initialBalance = random.pick([200, 1000, 10_000, 1_000_000]) * random.between(0.9, 1.1);
  return {
    candles,
    finer,
    timeframeMs,
    firstIndex: random.chance(0.2) ? random.whole(1, 10) : 0,
    initialBalance,
    execution: withVisibleLots(randomExecution(random, scale), initialBalance, candles.close.length, scale),
    strategy: randomStrategy(random.whole(0, 2 ** 31), {
      activity: random.pick([0.2, 1, 2.5]),
      tick,
      warmup: random.whole(1, 4),
      hoards: random.chance(0.05),
    }),
    control: null,
  };
}

/**
 * A lot must be worth more than the rounding error of all money that passes through the account, or two correct simulators
 * may differ by one lot. So small lots need small accounts and short runs, and cheap instruments have large lots.
 */
function withVisibleLots(
  execution: Execution,
  initialBalance: number,
  candlesCount: number,
  scale: number,
): Execution {
  const isSmall = initialBalance * execution.leverage <= 55_000 && candlesCount < 100;
  const step = execution.quantityStep > 1e-3 || isSmall ? execution.quantityStep : 0.01;
  return { ...execution, quantityStep: scale < 1 ? step / scale : step };
}
