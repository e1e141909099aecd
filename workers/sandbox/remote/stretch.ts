/** A stretch of candles by index: [from, until) is sent, decisions are asked for on [first, until). */
export interface Stretch {
  readonly from: number;
  readonly first: number;
  readonly until: number;
}

/** A stretch that asks about `count` candles from `first` on, and begins with the candles that the strategy looks back on. */
export function stretchFrom(first: number, count: number, lookbackCandles: number): Stretch {
  return { from: Math.max(0, first - lookbackCandles), first, until: first + count };
}

/** The part of a stretch that remains once its first `decided` candles are decided on, with as much history. */
export function restOf({ from, first, until }: Stretch, decided: number, lookbackCandles: number): Stretch {
  const rest = first + decided;
  return { from: Math.max(0, rest - Math.max(lookbackCandles, first - from)), first: rest, until };
}
