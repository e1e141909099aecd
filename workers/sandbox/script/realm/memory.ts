/** The shared memory, and the newest candle. */
export interface Memory {
  words: Int32Array;
  doubles: Float64Array;
  /** -1 before the first decision. */
  i: number;
}
