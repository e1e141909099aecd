/**
 * The trials of bench/optimize_engine_bench.ts as a plain program: the rules and the metrics of optimize_numpy.py in a few loops over
 * columns that all trials share. It has no orders, whole lots, stops or columns of a result, and its sums are not compensated:
 * JavaScript can hardly do them in less time.
 */
import type { Candles } from "../engine/candles.ts";
import { findDays } from "../engine/metrics/daily.ts";
import { BALANCE, type Columns, measure, type Traded } from "./optimize_floor_metrics.ts";

/** Trades the crosses of two averages, in order of their lengths; and measures the last trial. */
export interface PlainProgram {
  readonly trade: (fast: number, slow: number) => void;
  readonly measure: () => ReturnType<typeof measure>;
}

/** @param fee A share of the value of each fill. */
export function plainProgram(candles: Candles, fee: number): PlainProgram {
  const days = findDays({ ...candles, assetClass: "crypto" });
  const count = candles.close.length;
  const columns: Columns = {
    equity: new Float64Array(count),
    returns: new Float64Array(days.ends.length),
    pnl: new Float64Array(count),
    fractions: new Float64Array(count),
    lengths: new Float64Array(count),
  };
  const averages = new Map<number, Float64Array>();
  const averageOf = (length: number) => {
    const held = averages.get(length) ?? average(candles.close, length);
    averages.set(length, held);
    return held;
  };
  let traded: Traded = { trades: 0, turned: 0, firstFill: 0, fee };
  return {
    trade(fast, slow) {
      traded = trade(candles, { fast: averageOf(fast), slow: averageOf(slow), first: slow, fee }, columns);
    },
    measure: () => measure(candles, traded, days, columns),
  };
}

function average(values: Float64Array, length: number): Float64Array {
  const averages = new Float64Array(values.length).fill(NaN);
  let sum = 0;
  for (let i = 0; i < values.length; i++) {
    sum += values[i]! - (i < length ? 0 : values[i - length]!);
    if (i >= length - 1) averages[i] = sum / length;
  }
  return averages;
}

interface Crosses {
  readonly fast: Float64Array;
  readonly slow: Float64Array;
  /** Candles before the first comparison but one. */
  readonly first: number;
  readonly fee: number;
}

/** The first candle from `i` on at which one column is above the other. */
function findCross(above: Float64Array, below: Float64Array, i: number): number {
  while (i < above.length && !(above[i]! > below[i]!)) i++;
  return i;
}

interface Stretch {
  readonly from: number;
  readonly until: number;
  readonly cash: number;
  readonly quantity: number;
}

function mark(equity: Float64Array, close: Float64Array, { from, until, cash, quantity }: Stretch): void {
  for (let i = from; i < until; i++) equity[i] = cash + quantity * close[i]!;
}

/** A cross is filled at the next open: the opposite position is closed, and everything goes into the new one. */
function trade({ open, close }: Candles, { fast, slow, first, fee }: Crosses, columns: Columns): Traded {
  const { equity, pnl, fractions, lengths } = columns;
  const count = close.length;
  let [account, held, side, entry, entryIndex, trades, turned] = [BALANCE, 0, 0, NaN, 0, -1, 0];
  let firstFill = 0;
  let next = first;
  let isAbove = fast[first - 1]! > slow[first - 1]!;
  while (true) {
    next = isAbove ? findCross(slow, fast, next) : findCross(fast, slow, next);
    const until = Math.min(next + 1, count);
    const [quantity, cash] = [side * held, account - side * held * entry - fee * held * entry];
    if (side === 0) equity.fill(BALANCE, 0, until);
    else mark(equity, close, { from: entryIndex, until, cash, quantity });
    if (next + 1 >= count) break;
    const price = open[next + 1]!;
    if (side === 0) firstFill = next + 1;
    else {
      const gain = side * (price - entry) - fee * (entry + price);
      pnl[trades] = held * gain;
      fractions[trades] = gain / entry;
      lengths[trades] = next + 1 - entryIndex;
      account += held * gain;
      turned += held * price;
    }
    trades++;
    isAbove = !isAbove;
    side = isAbove ? 1 : -1;
    held = account / (price * (1 + fee));
    turned += held * price;
    entry = price;
    entryIndex = ++next;
  }
  return { trades, turned, fee, firstFill };
}
