import type { Balances } from "../../engine/balance_log.ts";
import type { Columns } from "./packed_columns.ts";

/**
 * Replaces the equity and the position of a stretch of a curve by the balances behind them, a row for each change, if every value comes
 * back to the bit as `cash + units * close`. Equity has new digits at each candle; a close is a short decimal that results share.
 *
 * @param columns `time`, `equity` and `position`, and `close` where it is known.
 * @param begin The stretch's first row among those of the balances.
 * @param balances Of the whole curve, as its simulation noted them; absent where nobody did.
 * @returns `time`, `close`, and the shorter columns `from`, `cash` and `units`; or else `time`, `equity` and `position`.
 */
export function packEquity({ close, ...curve }: Columns, begin: number, balances?: Balances): Columns {
  const { time, equity, position } = curve;
  if (time === undefined || equity === undefined || position === undefined) return curve;
  if (close === undefined || balances === undefined) return curve;
  const cut = cutBalances(balances, begin, begin + equity.length);
  return givesBack(cut, { equity, position, close }) ? { time, close, ...cut } : curve;
}

/**
 * The `time`, `equity` and `position` that `packEquity` was given.
 *
 * @param columns Those that it returned; earlier versions kept `position` and a row of `cash` for each close.
 */
export function unpackEquity(columns: Columns): Columns {
  const { from, cash, units, close, position, ...others } = columns;
  if (cash === undefined || close === undefined) return columns;
  if (from === undefined || units === undefined) {
    return position === undefined ? columns : { ...others, position, equity: mark({ cash, units: position }, close) };
  }
  const expand = (values: Float64Array) => {
    const expanded = new Float64Array(close.length);
    for (let k = 0; k < from.length; k++) expanded.fill(values[k]!, from[k], from[k + 1]);
    return expanded;
  };
  const held = expand(units);
  return { ...others, position: held, equity: mark({ cash: expand(cash), units: held }, close) };
}

function mark({ cash, units }: { cash: Float64Array; units: Float64Array }, close: Float64Array): Float64Array {
  const equity = new Float64Array(close.length);
  for (let i = 0; i < equity.length; i++) equity[i] = cash[i]! + units[i]! * close[i]!;
  return equity;
}

/** The balances of rows `begin` to `end` - 1, counted from `begin`. */
function cutBalances({ from, cash, units }: Balances, begin: number, end: number) {
  const first = Math.max(0, rowsBefore(from, begin + 1) - 1);
  const last = rowsBefore(from, end);
  return {
    from: new Float64Array(from.subarray(first, last)).map((row) => Math.max(0, row - begin)),
    cash: cash.slice(first, last),
    units: units.slice(first, last),
  };
}

/** How many of the ascending values are below a limit. */
function rowsBefore(values: Int32Array, limit: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** True if the balances give these columns back to the bit. */
function givesBack(
  { from, cash, units }: Readonly<Record<keyof Balances, Float64Array>>,
  { equity, position, close }: Readonly<Record<"equity" | "position" | "close", Float64Array>>,
): boolean {
  let i = 0;
  for (let k = 0; k < from.length; k++) {
    const end = from[k + 1] ?? equity.length;
    const [money, held] = [cash[k]!, units[k]!];
    for (; i < end; i++) {
      const value = money + held * close[i]!;
      if (value === equity[i] && held === position[i] && value !== 0 && held !== 0) continue;
      // -0 equals 0.
      if (!Object.is(value, equity[i]) || !Object.is(held, position[i])) return false;
    }
  }
  return i === equity.length;
}
