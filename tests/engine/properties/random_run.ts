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
  const { candles, finer, timeframeMs, tick } = randomMarket(random);
  return {
    candles,
    finer,
    timeframeMs,
    firstIndex: random.chance(0.2) ? random.whole(1, 10) : 0,
    initialBalance: random.pick([200, 1000, 10_000, 1_000_000]),
    execution: randomExecution(random),
    strategy: randomStrategy(random.whole(0, 2 ** 31), random.pick([0.2, 1, 2.5]), tick, random.whole(1, 4)),
    control: null,
  };
}
