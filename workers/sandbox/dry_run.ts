import type { Candles } from "../../engine/candles.ts";
import { resolveExecution } from "../../engine/execution.ts";
import { repeat, run, type RunInput } from "../../engine/run.ts";
import type { Account, OrderBook, Strategy } from "../../engine/strategy.ts";
import type { DryRun } from "./dry_report.ts";
import { checkOrders } from "./integrity.ts";
import { candlesToDecide, SAMPLE_TIMEFRAME_MS } from "./sample_candles.ts";

const BALANCE = 10_000;

/** A run of a strategy over so many sample candles that it has to decide. */
function inputOf(strategy: Strategy): RunInput {
  return {
    candles: candlesToDecide(strategy.warmup),
    firstIndex: 0,
    timeframeMs: SAMPLE_TIMEFRAME_MS,
    initialBalance: BALANCE,
    execution: resolveExecution({}, "crypto"),
    strategy,
    control: null,
  };
}

/** Lets a strategy decide once on each of the sample candles, in one simulation. */
export function decideDry(strategy: Strategy): void {
  repeat(inputOf(strategy));
}

/** Runs a strategy over the sample candles. */
export function runDry(strategy: Strategy): DryRun {
  const timed = new TimedStrategy(strategy);
  const input = inputOf(timed);
  const count = input.candles.time.length;
  const result = run(input);
  return {
    warmup: strategy.warmup,
    candles: count,
    orders: result.orders.count,
    refused: checkOrders(result),
    notes: result.notes,
    nanosecondsPerCandle: Math.round(timed.decisionsMs * 1e6 / count),
  };
}

/** Times a strategy's decisions, in code that V8 has not optimised yet. */
class TimedStrategy implements Strategy {
  readonly warmup: number;
  readonly #strategy: Strategy;
  decisionsMs = 0;

  constructor(strategy: Strategy) {
    this.#strategy = strategy;
    this.warmup = strategy.warmup;
  }

  prepare(candles: Candles): void {
    this.#strategy.prepare(candles);
  }

  decide(i: number, account: Account, book: OrderBook): void {
    const begun = performance.now();
    this.#strategy.decide(i, account, book);
    this.decisionsMs += performance.now() - begun;
  }
}
