/** The candles and settings that a result was made of. */
export interface ResultInputs {
  /** Hash of all that was known before the run: equal keys, equal submissions over equal candles. */
  readonly key: string;
  /** Candles before the range that the run asked for, its strategy's own wish included. */
  readonly lookback: number;
  readonly series: readonly ReadSeries[];
}

/** Stored candles that a run read: those that open from `from` to before `until`. Times are ISO 8601. */
export interface ReadSeries {
  readonly instrument: string;
  /** The stored one, of which those of the run may be made. */
  readonly timeframe: string;
  readonly from: string;
  readonly until: string;
  /** A later revision is not in the run. */
  readonly readAt: string;
}
