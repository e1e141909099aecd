import type { Candles } from "../../engine/candles.ts";
import type { RunResult } from "../../engine/run.ts";
import type { Finding, Integrity } from "../protocol.ts";

// Where there is a dependence on later candles it shows early; the whole of a long run again would double its time.
const CANDLES_AGAIN_MAX = 65_536;

/**
 * Puts a strategy to the test by running it again on the first candles alone: what it does then may not depend on the rest.
 *
 * @param runAgain Runs the strategy anew on the candles before index `until` of all candles.
 * @param run The run on all candles; `count` of them in the range, lookback not counted.
 */
export function checkIntegrity(
  runAgain: (until: number) => RunResult,
  run: { readonly result: RunResult; readonly firstIndex: number; readonly count: number; readonly seed: number },
): Integrity {
  return {
    ...checkPrefix(runAgain, run),
    warm_up: {
      status: "skipped",
      evidence: `Not tested in this run. The strategy was shown ${run.firstIndex} candles before the range.`,
    },
    orders: checkOrders(run.result),
  };
}

function checkPrefix(
  runAgain: (until: number) => RunResult,
  { result, firstIndex, count, seed }: Parameters<typeof checkIntegrity>[1],
): Pick<Integrity, "lookahead" | "determinism"> {
  if (count < 3) {
    const finding = { status: "skipped", evidence: `${count} candles are too few to cut off the last ones.` } as const;
    return { lookahead: finding, determinism: finding };
  }
  // At least two candles, and at least one fewer than all.
  const kept = 2 + seed % Math.min(count - 2, CANDLES_AGAIN_MAX);
  const again = runAgain(firstIndex + kept);
  // The last candle of a run is not compared: positions may be closed there because it is the last.
  const compared = kept - 1;
  const differing = firstDifference(result, again, compared);
  const how = `The strategy was run again on the first ${kept} of ${count} candles alone`;
  if (differing < 0) {
    const evidence = `${how}: equity and position were the same, to the last bit, at each of ${compared} candles.`;
    return { lookahead: { status: "passed", evidence }, determinism: { status: "passed", evidence } };
  }
  const evidence = `${how}: equity or position differed at candle ${differing} of the range, counted from 0.`;
  return {
    lookahead: { status: "failed", evidence },
    determinism: { status: "skipped", evidence: "A difference was found that looking ahead may explain." },
  };
}

function firstDifference(a: RunResult, b: RunResult, count: number): number {
  for (let i = 0; i < count; i++) {
    if (!Object.is(a.equity[i], b.equity[i]) || !Object.is(a.position[i], b.position[i])) return i;
  }
  return -1;
}

function checkOrders({ metrics, orders }: RunResult): Finding {
  const evidence = `${metrics.rejected_orders} of ${orders.count} orders were refused by the simulator.`;
  return { status: metrics.rejected_orders === 0 ? "passed" : "failed", evidence };
}

/** Candles before index `until`, as views of the same memory. */
export function cutCandles(candles: Candles, until: number): Candles {
  return {
    time: candles.time.subarray(0, until),
    open: candles.open.subarray(0, until),
    high: candles.high.subarray(0, until),
    low: candles.low.subarray(0, until),
    close: candles.close.subarray(0, until),
    volume: candles.volume.subarray(0, until),
  };
}
