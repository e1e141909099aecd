/** The series that a strategy plotted, as they are stored. */
import type { PartColumns, ResultChunk } from "./result_parts.ts";
import { storableText } from "./storable.ts";

/** A stored plot without its values. */
export interface StoredPlot {
  readonly name: string;
  /** Plots of one pane are drawn together, those of "price" over the candles. */
  readonly pane: string;
}

/** A series that a strategy plotted. */
export interface Plot {
  readonly name: string;
  /** See StoredPlot. Null: over the candles if its values lie near them, else alone. */
  readonly pane: string | null;
  /** A value a candle, NaN where there is none. */
  readonly values: Float64Array;
}

/** A series that a strategy plotted in one of many markets. */
export interface MarketPlot {
  /** Row of the market; null: of all, whose strategy is one. */
  readonly market: number | null;
  readonly name: string;
  readonly pane: string | null;
  /** A value a mark of the run, NaN where the market has none. */
  readonly values: Float64Array;
}

/** Plots in the form in which they are stored. */
export interface EncodedSeries {
  /** In the order of their columns. */
  readonly plots: readonly StoredPlot[];
  readonly chunks: readonly ResultChunk[];
  /** True if insertChunksAhead() has written them. */
  readonly areChunksWritten?: boolean;
}

/** Columns of candles, of the length of the plots. */
interface Prices {
  readonly time: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
}

/** The pane of the candles. */
const PRICE_PANE = "price";
// An average of prices lies between the extremes; bands around it may lie somewhat beyond.
const BEYOND_PRICES = 2;

export const plotColumn = (place: number): string => `plot${place}`;

/**
 * Plots as one part of a result, and their names and panes. Null where there are none.
 *
 * @param candles Of the run.
 * @param isWhole False for a run that failed: its candles behind the last plotted value are left out.
 */
export function plotsPart(
  plots: readonly Plot[],
  candles: Prices,
  isWhole: boolean,
): { readonly part: PartColumns; readonly plots: readonly StoredPlot[] } | null {
  const count = isWhole ? candles.time.length : countPlotted(plots);
  if (plots.length === 0 || count === 0) return null;
  const prices = extremesOf(candles.low, candles.high);
  const columns = Object.fromEntries([
    ["time", candles.time.subarray(0, count)],
    ...plots.map(({ values }, place) => [plotColumn(place), values.subarray(0, count)]),
  ]);
  return {
    part: { part: "plots", count, columns, time: "time" },
    plots: plots.map(({ name, pane, values }) => ({
      name: storableText(name),
      pane: storableText(pane ?? (isNear(extremesOf(values, values), prices) ? PRICE_PANE : name)),
    })),
  };
}

/** Candles up to the last one with a value. */
function countPlotted(plots: readonly Plot[]): number {
  return plots.reduce(
    (most, { values }) => Math.max(most, values.findLastIndex((value) => !Number.isNaN(value)) + 1),
    0,
  );
}

interface Extremes {
  readonly low: number;
  readonly high: number;
}

function extremesOf(lows: Float64Array, highs: Float64Array): Extremes {
  let [low, high] = [Infinity, -Infinity];
  // A comparison with NaN is false.
  for (let i = 0; i < lows.length; i++) {
    if (lows[i]! < low) low = lows[i]!;
    if (highs[i]! > high) high = highs[i]!;
  }
  return { low, high };
}

/** True if all values lie between half of the lowest price and twice the highest. */
function isNear(values: Extremes, prices: Extremes): boolean {
  return values.low >= prices.low / BEYOND_PRICES && values.high <= prices.high * BEYOND_PRICES;
}

/** The names of plots for their record; null where there are none, so that most records need no place for them. */
export function storedPlots(plots: readonly StoredPlot[]): readonly StoredPlot[] | null {
  return plots.length > 0 ? plots : null;
}
