/** The calls of a user's code in this thread, in memory that its process can read while the thread is busy. */

/** A user's code as its process sees it while it decides. */
export interface Deciding {
  /** Calls and returns so far: odd while a decision is under way. */
  readonly calls: number;
  /** The candle of the range that it decides on, from 0, where it knows of one market alone. */
  readonly candle: number;
}

/** A word that counts calls and returns: it is odd while a decision is under way. */
export const CALLS = new SharedArrayBuffer(4);
const words = new Int32Array(CALLS);

/** Counts a call of a user's code for a decision, or its return. */
export function countCall(): void {
  words[0]!++;
}
