import type { Columns } from "./packed_columns.ts";
import { countDecimals } from "./tick_planes.ts";

/** The columns that the arithmetic needs. */
type TradeColumns = Readonly<Record<(typeof NEEDED)[number], Float64Array>>;

const NEEDED = [
  "side",
  "quantity",
  "entryPrice",
  "exitPrice",
  "fees",
  "pnl",
  "return",
  "mae",
  "mfe",
] as const;

/**
 * Leaves out what follows from a trade's other columns to the bit, because its digits hardly compress: NaN takes its place. An excursion
 * follows from its length in ticks, in `maeTicks` or `mfeTicks`; `parts` is the number of ticks in one.
 *
 * @returns The given columns where they cannot be packed.
 */
export function packTrades(columns: Columns): Columns {
  if (!hasTrades(columns)) return columns;
  const { side, quantity, entryPrice, exitPrice, fees } = columns;
  const decimals = countDecimals(entryPrice);
  if (decimals === null) return columns;
  const parts = 10 ** Math.max(0, decimals);
  const [pnl, fraction, mae, mfe] = [
    columns.pnl.slice(),
    columns.return.slice(),
    columns.mae.slice(),
    columns.mfe.slice(),
  ];
  const [maeTicks, mfeTicks] = [new Float64Array(pnl.length), new Float64Array(pnl.length)];
  let isLost = false;
  const leaveOut = (own: Float64Array, i: number, derived: number) => {
    isLost ||= Number.isNaN(own[i]) && !Number.isNaN(derived);
    if (Object.is(own[i], derived)) own[i] = NaN;
  };
  for (let i = 0; i < pnl.length; i++) {
    const price = entryPrice[i]!;
    maeTicks[i] = Math.round(mae[i]! * price * parts);
    mfeTicks[i] = Math.round(mfe[i]! * price * parts);
    leaveOut(fraction, i, returnOf(pnl[i]!, price, quantity[i]!));
    leaveOut(pnl, i, pnlOf(side[i]!, quantity[i]!, price, exitPrice[i]!, fees[i]!));
    leaveOut(mae, i, excursionOf(price, -side[i]!, maeTicks[i]!, parts));
    leaveOut(mfe, i, excursionOf(price, side[i]!, mfeTicks[i]!, parts));
  }
  if (isLost) return columns;
  const constant = new Float64Array(pnl.length).fill(parts);
  return { ...columns, pnl, return: fraction, mae, mfe, maeTicks, mfeTicks, parts: constant };
}

/** The columns that `packTrades` packed; others as they are. */
export function unpackTrades({ maeTicks, mfeTicks, parts, ...columns }: Columns): Columns {
  if (!hasTrades(columns) || maeTicks === undefined || mfeTicks === undefined || parts === undefined) return columns;
  const { side, quantity, entryPrice, exitPrice, fees } = columns;
  const fill = (own: Float64Array, derive: (i: number) => number) =>
    own.map((value, i) => Number.isNaN(value) ? derive(i) : value);
  const pnl = fill(columns.pnl, (i) => pnlOf(side[i]!, quantity[i]!, entryPrice[i]!, exitPrice[i]!, fees[i]!));
  return {
    ...columns,
    pnl,
    return: fill(columns.return, (i) => returnOf(pnl[i]!, entryPrice[i]!, quantity[i]!)),
    mae: fill(columns.mae, (i) => excursionOf(entryPrice[i]!, -side[i]!, maeTicks[i]!, parts[i]!)),
    mfe: fill(columns.mfe, (i) => excursionOf(entryPrice[i]!, side[i]!, mfeTicks[i]!, parts[i]!)),
  };
}

function hasTrades(columns: Columns): columns is Columns & TradeColumns {
  return NEEDED.every((name) => columns[name] !== undefined);
}

// The simulator's arithmetic in its own order, for a trade without financing: otherwise the last digit would differ.

function pnlOf(side: number, quantity: number, entryPrice: number, exitPrice: number, fees: number): number {
  return side * quantity * (exitPrice - entryPrice) - fees + 0;
}

function returnOf(pnl: number, entryPrice: number, quantity: number): number {
  return pnl / (entryPrice * quantity);
}

/** @param direction From the entry price to the extreme: 1 is up, -1 is down. */
function excursionOf(price: number, direction: number, ticks: number, parts: number): number {
  const extreme = (Math.round(price * parts) + direction * ticks) / parts;
  return Math.max(0, direction * (extreme - price)) / price;
}
