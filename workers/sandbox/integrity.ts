import type { Candles } from "../../engine/candles.ts";
import { ORDER_REASONS, REJECTED } from "../../engine/order_columns.ts";
import type { RunResult } from "../../engine/run.ts";
import type { Finding, Integrity } from "../../engine/result.ts";
import { Random } from "./random.ts";

// Each look runs the strategy again from the start; together they take at most a twentieth of a long run.
const LOOKS = 6;
const LOOKS_SHARE = 0.05;
// So few candles cost nothing, however short the run.
const LOOK_CANDLES_MIN = 256;

/** A run that is put to the test. */
export interface CheckedRun {
  readonly result: RunResult;
  /** Opens of all its candles, lookback included. */
  readonly time: Float64Array;
  readonly firstIndex: number;
  /** Chooses where the checks look; an unsigned 32-bit number. */
  readonly seed: number;
}

type Timing = Pick<Integrity, "lookahead" | "determinism">;

/**
 * Puts a strategy to the test by running it again on the first candles alone: what it does then may not depend on the rest.
 *
 * @param runAgain Runs the strategy anew on the candles before index `until` of all candles.
 */
export function checkIntegrity(runAgain: (until: number) => RunResult, run: CheckedRun): Integrity {
  return {
    ...checkPrefixes(runAgain, run),
    warm_up: {
      status: "skipped",
      evidence: `Not tested in this run. The strategy was shown ${run.firstIndex} candles before the range.`,
    },
    orders: checkOrders(run.result),
  };
}

function checkPrefixes(runAgain: (until: number) => RunResult, run: CheckedRun): Timing {
  const { result, time, firstIndex } = run;
  const count = time.length - firstIndex;
  if (count < 3) {
    const finding = { status: "skipped", evidence: `${count} candles are too few to cut off the last ones.` } as const;
    return { lookahead: finding, determinism: finding };
  }
  const looks = chooseLooks(run, count);
  for (const kept of looks) {
    const until = firstIndex + kept;
    const again = runAgain(until);
    const differing = firstDifference(result, again, run, until);
    if (differing < 0) continue;
    const moved = firstDifference(again, runAgain(until), run, until);
    const how = `The strategy was run again on the first ${kept} of ${count} candles alone`;
    return moved < 0 ? looksAhead(how, name(run, differing)) : neverSame(how, name(run, moved));
  }
  const evidence = `The strategy was run again on the first ${looks.join(", ")} of ${count} candles alone: orders, ` +
    "equity and position were the same, to the last bit.";
  return { lookahead: { status: "passed", evidence }, determinism: { status: "passed", evidence } };
}

/**
 * How many of the first candles are kept, each time: at least two, and at least one fewer than all. Of three looks one ends at
 * any candle, one where the strategy bought and one where it sold, if it did early enough: who has looked ahead does not do so
 * there again.
 */
function chooseLooks({ result: { orders }, time, firstIndex, seed }: CheckedRun, count: number): readonly number[] {
  const keptMax = Math.min(count - 1, Math.max(LOOK_CANDLES_MIN, Math.floor(count * LOOKS_SHARE / LOOKS)));
  const random = new Random(seed);
  const early = orders.time.subarray(0, lowerBound(orders.time, time[firstIndex + keptMax], orders.count));
  const ends = [1, -1].map((side) => early.filter((_, row) => orders.side[row] === side));
  const chosen = new Set<number>();
  for (let look = 0; look < LOOKS; look++) {
    const times = ends[look % (ends.length + 1)] ?? new Float64Array(0);
    const kept = times.length === 0
      ? 2 + random.below(keptMax - 1)
      : lowerBound(time, times[random.below(times.length)], time.length) - firstIndex + 1;
    chosen.add(Math.max(2, kept));
  }
  return [...chosen].sort((a, b) => a - b);
}

/** Index of the first candle before `until` at which two runs do something different; -1: none. */
function firstDifference(a: RunResult, b: RunResult, { time, firstIndex }: CheckedRun, until: number): number {
  const rows = Math.max(
    lowerBound(a.orders.time, time[until], a.orders.count),
    lowerBound(b.orders.time, time[until], b.orders.count),
  );
  const row = Array.from({ length: rows }, (_, row) => row).find((row) => !isSameOrder(a, b, row)) ?? -1;
  const times = [a, b].flatMap(({ orders }) => row >= 0 && row < orders.count ? [orders.time[row]!] : []);
  const atOrder = row < 0 ? until : lowerBound(time, Math.min(...times), until);
  // The last candle's marks are not compared: positions may be closed there because it is the last.
  for (let i = firstIndex; i < Math.min(atOrder, until - 1); i++) {
    const n = i - firstIndex;
    if (!Object.is(a.equity[n], b.equity[n]) || !Object.is(a.position[n], b.position[n])) return i;
  }
  return row < 0 ? -1 : atOrder;
}

/** Whether both runs asked for the same as their order of that number; what became of it may depend on later candles. */
function isSameOrder({ orders: a }: RunResult, { orders: b }: RunResult, row: number): boolean {
  if (row >= a.count || row >= b.count) return false;
  const columns = ["time", "side", "type", "limitPrice", "stopPrice", "tag"] as const;
  return columns.every((column) => Object.is(a[column][row], b[column][row]));
}

/** How many of the first `count` values, which never fall, are below a limit; past the last candle there is no limit. */
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

function name({ time, firstIndex }: CheckedRun, index: number): string {
  return `candle ${index - firstIndex} of the range, counted from 0 (${new Date(time[index]!).toISOString()})`;
}

function looksAhead(how: string, candle: string): Timing {
  return {
    lookahead: { status: "failed", evidence: `${how}: its orders, equity or position differed at ${candle}.` },
    determinism: { status: "passed", evidence: `${how}, twice: it did the same, to the last bit.` },
  };
}

function neverSame(how: string, candle: string): Timing {
  const evidence = "Not tested: a strategy that never does the same shows differences anyway.";
  return {
    lookahead: { status: "skipped", evidence },
    determinism: { status: "failed", evidence: `${how}, twice: its orders, equity or position differed at ${candle}.` },
  };
}

/** Whether the simulator refused orders, and which was the first. */
export function checkOrders({ orders }: RunResult): Finding {
  let refused = 0;
  let first = "";
  for (let row = 0; row < orders.count; row++) {
    if (orders.status[row] !== REJECTED) continue;
    const when = new Date(orders.time[row]!).toISOString();
    if (refused++ === 0) first = ` The first, at the candle of ${when}: ${ORDER_REASONS[orders.reason[row]!]!}.`;
  }
  const evidence = `${refused} of ${orders.count} orders were refused by the simulator.${first}`;
  return { status: refused === 0 ? "passed" : "failed", evidence };
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
