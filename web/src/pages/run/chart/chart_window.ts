/** A stretch of a run that is looked at, in milliseconds since 1970. */
export interface ChartView {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A stretch of a run that is drawn: candles `from` to before `until` by their index, a bar for each `step` of them. */
export interface ChartWindow {
  readonly from: number;
  readonly until: number;
  readonly step: number;
}

/** The part of a window that is seen, in bars from the window's start; may reach beyond it. */
interface SeenBars {
  readonly from: number;
  readonly to: number;
}

// Windows begin and end at multiples of this many bars, so that the same ones are asked for again.
const BLOCK_BARS = 256;
const MARGIN = 1;
const EDGE = 0.3;

/** The candles that are seen, by index. */
function seenCandles({ from, step }: ChartWindow, seen: SeenBars): { from: number; until: number } {
  return { from: from + seen.from * step, until: from + (seen.to + 1) * step };
}

/** Where candles are in a window, in bars. */
export function barsOf({ from, step }: ChartWindow, candles: { from: number; until: number }): SeenBars {
  return { from: (candles.from - from) / step, to: (candles.until - from) / step - 1 };
}

/**
 * The window to load for what is seen; null where the loaded one will do.
 *
 * @param total Candles of the run.
 * @param barsMax Bars that the chart has room for.
 */
export function chooseWindow(loaded: ChartWindow, seen: SeenBars, total: number, barsMax: number): ChartWindow | null {
  const candles = seenCandles(loaded, seen);
  const from = Math.max(0, Math.floor(candles.from));
  const until = Math.min(total, Math.ceil(candles.until));
  const span = Math.max(1, until - from);
  const step = stepFor(span, barsMax);
  const isNearStart = from - loaded.from < EDGE * span && loaded.from > 0;
  const isNearEnd = loaded.until - until < EDGE * span && loaded.until < total;
  // Twice the bars still look well, so that a small zoom loads nothing.
  const fits = step === loaded.step || step === loaded.step * 2;
  if (fits && !isNearStart && !isNearEnd) return null;
  return windowAround({ from, until }, step, total);
}

/** A window of a step around candles, with a margin on both sides to move into. */
export function windowAround(
  { from, until }: { readonly from: number; readonly until: number },
  step: number,
  total: number,
): ChartWindow {
  const block = BLOCK_BARS * step;
  const margin = (until - from) * MARGIN;
  return {
    from: Math.max(0, Math.floor((from - margin) / block) * block),
    until: Math.min(total, Math.ceil((until + margin) / block) * block),
    step,
  };
}

/** Candles to a bar: a power of two. */
export function stepFor(candles: number, barsMax: number): number {
  return 2 ** Math.max(0, Math.ceil(Math.log2(candles / barsMax)));
}

/**
 * The times of the first and the last bar that are seen, and when the last one ends: Infinity at the run's end.
 *
 * @param seen Bars of the window; null: all.
 */
export function seenStretch(
  { time, until, candles }: { readonly time: readonly number[]; readonly until: number; readonly candles: number },
  seen: SeenBars | null,
): { readonly first: number; readonly last: number; readonly untilMs: number } {
  const end = Math.min(time.length - 1, Math.ceil(seen?.to ?? time.length));
  const first = time[Math.max(0, Math.floor(seen?.from ?? 0))] ?? Infinity;
  const last = time[end] ?? -Infinity;
  // The last bar of a window ends where the next one begins.
  const untilMs = end + 1 < time.length ? time[end + 1]! - 1 : until < candles ? last : Infinity;
  return { first, last, untilMs };
}

/** The index of the last value that is at most `limit`; -1 where all are above. @param values Rising. */
export function lastAtMost(values: readonly number[], limit: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
