/** Whether a user's code decides in this thread, in memory that its process can read while the thread is busy. */

/** A word that counts calls and returns: it is odd while a decision is under way. */
export const CALLS = new SharedArrayBuffer(4);
const words = new Int32Array(CALLS);

/** Counts a call of a user's code for a decision, or its return. */
export function countCall(): void {
  words[0]!++;
}
