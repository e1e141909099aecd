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
  const { candles, finer, timeframeMs, tick } = randomMarket(random);
  const initialBalance = random.pick([200, 1000, 10_000, 1_000_000]);
  return {
    candles,
    finer,
    timeframeMs,
    firstIndex: random.chance(0.2) ? random.whole(1, 10) : 0,
    initialBalance,
    execution: withVisibleLots(randomExecution(random), initialBalance),
    strategy: randomStrategy(random.whole(0, 2 ** 31), random.pick([0.2, 1, 2.5]), tick, random.whole(1, 4)),
    control: null,
  };
}

/** A lot must be worth more than the rounding of the money at stake, or two right simulators may differ by one. */
function withVisibleLots(execution: Execution, initialBalance: number): Execution {
  const isVisible = execution.quantityStep > 1e-3 || initialBalance * execution.leverage <= 50_000;
  return isVisible ? execution : { ...execution, quantityStep: 0.01 };
}
