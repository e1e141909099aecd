import { describeRefusals } from "../../engine/decision_notes.ts";
import type { Acts, RunResult } from "../../engine/run.ts";
import type { Finding, Integrity } from "../../engine/result.ts";
import { Random } from "./random.ts";
import { findTemptations, takeInTurn } from "./temptations.ts";

/** Each check runs the strategy again from the start; together they take at most a twentieth of a long run. */
export const CHECKS = 6;
export const CHECKS_SHARE = 0.05;
// So few candles cost nothing, even in a short run.
const CHECK_CANDLES_MIN = 256;

/** A run whose integrity is checked. */
interface CheckedRun {
  readonly result: RunResult;
  /** Of all its candles, lookback included. */
  readonly time: Float64Array;
  readonly close: Float64Array;
  readonly firstIndex: number;
  /** Chooses the samples; an unsigned 32-bit number. */
  readonly seed: number;
}

type Timing = Pick<Integrity, "lookahead" | "determinism">;

/**
 * Checks a strategy by running it again on only the first candles: its decisions there may not depend on later candles.
 *
 * @param runAgain Runs a new instance of the strategy on the candles before index `until`.
 */
export function checkIntegrity(runAgain: (until: number) => Acts, run: CheckedRun): Integrity {
  return {
    ...checkPrefixes(runAgain, run),
    warm_up: {
      status: "skipped",
      evidence: `Not tested in this run. The strategy was shown ${run.firstIndex} candles before the range.`,
    },
    orders: checkOrders(run.result),
  };
}

function checkPrefixes(runAgain: (until: number) => Acts, run: CheckedRun): Timing {
  const { result, time, firstIndex } = run;
  const count = time.length - firstIndex;
  if (count < 3) {
    const finding = { status: "skipped", evidence: `${count} candles are too few to cut off the last ones.` } as const;
    return { lookahead: finding, determinism: finding };
  }
  const lengths = chooseLengths(run, count);
  for (const kept of lengths) {
    const until = firstIndex + kept;
    const again = runAgain(until);
    const differing = firstDifference(result, again, run, until);
    if (differing < 0) continue;
    // The longest of them shows best whether a run can be repeated at all.
    const most = lengths.at(-1) ?? kept;
    const moved = firstDifference(runAgain(firstIndex + most), runAgain(firstIndex + most), run, firstIndex + most);
    const how = (length: number) => `The strategy was run again on the first ${length} of ${count} candles alone`;
    return moved < 0
      ? failLookahead(how(kept), how(most), describeCandle(run, differing))
      : failDeterminism(how(most), describeCandle(run, moved));
  }
  const evidence = `The strategy was run again on the first ${lengths.join(", ")} of ${count} candles alone: orders, ` +
    "equity and position were the same, to the last bit.";
  return { lookahead: { status: "passed", evidence }, determinism: { status: "passed", evidence } };
}

/**
 * How many of the first candles each check keeps: at least two, and at least one fewer than all. The checks end at candles that are
 * chosen at random and where cheating would have paid most: an order that came from looking ahead is missing there.
 */
function chooseLengths({ result, time, close, firstIndex, seed }: CheckedRun, count: number): readonly number[] {
  const keptMax = Math.min(count - 1, Math.max(CHECK_CANDLES_MIN, Math.floor(count * CHECKS_SHARE / CHECKS)));
  const random = new Random(seed);
  const any = Array.from({ length: CHECKS }, () => firstIndex + 1 + random.below(keptMax - 1));
  const range = { first: firstIndex, until: firstIndex + keptMax };
  const { decisions, trades, kinds } = findTemptations({ result, time, close }, range);
  const ends = takeInTurn([decisions, any, trades, kinds], CHECKS);
  return [...new Set(ends.map((index) => Math.max(2, index - firstIndex + 1)))].sort((a, b) => a - b);
}

/** Index of the first candle before `until` at which two runs differ; -1: none. */
function firstDifference(a: Acts, b: Acts, { time, firstIndex }: CheckedRun, until: number): number {
  const rows = Math.max(
    lowerBound(a.orders.time, time[until], a.orders.count),
    lowerBound(b.orders.time, time[until], b.orders.count),
  );
  const row = Array.from({ length: rows }, (_, row) => row).find((row) => !isSameOrder(a, b, row)) ?? -1;
  const times = [a, b].flatMap(({ orders }) => row >= 0 && row < orders.count ? [orders.time[row]!] : []);
  const atOrder = row < 0 ? until : lowerBound(time, Math.min(...times), until);
  // The last candle is not compared: positions may be closed there because it is the last.
  for (let i = firstIndex; i < Math.min(atOrder, until - 1); i++) {
    const n = i - firstIndex;
    if (!Object.is(a.equity[n], b.equity[n]) || !Object.is(a.position[n], b.position[n])) return i;
  }
  return row < 0 ? -1 : atOrder;
}

/** True if both runs placed the same order in this row; its fate may depend on later candles. */
function isSameOrder({ orders: a }: Acts, { orders: b }: Acts, row: number): boolean {
  if (row >= a.count || row >= b.count) return false;
  const columns = ["time", "side", "type", "limitPrice", "stopPrice", "tag"] as const;
  return columns.every((column) => Object.is(a[column][row], b[column][row]));
}

/** How many of the first `count` values, in ascending order, are below the limit; all of them without a limit. */
function lowerBound(values: Float64Array, limit: number | undefined, count: number): number {
  if (limit === undefined) return count;
  let [from, until] = [0, count];
  while (from < until) {
    const middle = (from + until) >> 1;
    if (values[middle]! < limit) from = middle + 1;
    else until = middle;
  }
  return from;
}

function describeCandle({ time, firstIndex }: CheckedRun, index: number): string {
  return `candle ${index - firstIndex} of the range, counted from 0 (${new Date(time[index]!).toISOString()})`;
}

function failLookahead(how: string, howTwice: string, candle: string): Timing {
  return {
    lookahead: { status: "failed", evidence: `${how}: its orders, equity or position differed at ${candle}.` },
    determinism: { status: "passed", evidence: `${howTwice}, twice: it did the same, to the last bit.` },
  };
}

function failDeterminism(how: string, candle: string): Timing {
  const evidence = "Not tested: the strategy is not deterministic, so its runs differ anyway.";
  return {
    lookahead: { status: "skipped", evidence },
    determinism: { status: "failed", evidence: `${how}, twice: its orders, equity or position differed at ${candle}.` },
  };
}

/** Reports how many orders the simulator refused and why. A strategy may try what it cannot have: this is never a fault. */
export function checkOrders({ orders }: Pick<RunResult, "orders">): Finding {
  const [evidence = `The simulator refused none of ${orders.count} orders`] = describeRefusals(orders);
  return { status: "passed", evidence: `${evidence}.` };
}

/** Of a trial: nobody reads it. */
export function uncheckedIntegrity(result: Pick<RunResult, "orders">): Integrity {
  const skipped = { status: "skipped", evidence: "Not tested in a trial." } as const;
  return { lookahead: skipped, determinism: skipped, warm_up: skipped, orders: checkOrders(result) };
}
