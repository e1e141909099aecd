import type { Candles } from "../../engine/candles.ts";
import { allocateCandles, CANDLE_COLUMNS, concatCandles, copyCandles, sliceCandles } from "./candle_columns.ts";

/** How new candles compare with the stored ones. */
export interface MergeCounts {
  /** Were not stored before. */
  readonly imported: number;
  /** Were stored with the same values. */
  readonly unchanged: number;
  /** Replace other values. */
  readonly revised: number;
  /** Opens of the first and the last candle that replace others; null where none do. */
  readonly revisedOpens: readonly [first: number, last: number] | null;
}

/**
 * Merges arriving candles into held ones; where both have a time, the arriving candle wins.
 *
 * @param held Strictly increasing times, like `arriving`.
 * @returns `merged` is `held` itself when nothing changed.
 */
export function mergeCandles(held: Candles, arriving: Candles): MergeCounts & { merged: Candles } {
  const heldCount = held.time.length;
  const count = arriving.time.length;
  if (heldCount === 0 || count === 0 || arriving.time[0]! > held.time[heldCount - 1]!) {
    const merged = count === 0 ? held : concatCandles(heldCount === 0 ? [arriving] : [held, arriving]);
    return { merged, imported: count, unchanged: 0, revised: 0, revisedOpens: null };
  }
  const rows = allocateCandles(heldCount + count);
  let [h, a, at, unchanged, revised] = [0, 0, 0, 0, 0];
  let revisedOpens: MergeCounts["revisedOpens"] = null;
  while (h < heldCount && a < count) {
    const heldTime = held.time[h]!;
    const time = arriving.time[a]!;
    if (heldTime < time) {
      copyRow(held, h++, rows, at++);
      continue;
    }
    if (heldTime === time) {
      if (isSameRow(held, h, arriving, a)) unchanged++;
      else {
        revised++;
        revisedOpens = [revisedOpens?.[0] ?? time, time];
      }
      h++;
    }
    copyRow(arriving, a++, rows, at++);
  }
  const rest = h < heldCount ? sliceCandles(held, h) : sliceCandles(arriving, a);
  copyCandles(rest, rows, at);
  at += rest.time.length;
  const imported = count - unchanged - revised;
  const merged = unchanged === count ? held : sliceCandles(rows, 0, at);
  return { merged, imported, unchanged, revised, revisedOpens };
}

function copyRow(source: Candles, from: number, target: Candles, at: number): void {
  target.time[at] = source.time[from]!;
  target.open[at] = source.open[from]!;
  target.high[at] = source.high[from]!;
  target.low[at] = source.low[from]!;
  target.close[at] = source.close[from]!;
  target.volume[at] = source.volume[from]!;
}

function isSameRow(a: Candles, i: number, b: Candles, k: number): boolean {
  return CANDLE_COLUMNS.every((name) => a[name][i] === b[name][k]);
}
