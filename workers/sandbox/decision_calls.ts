/** The calls of a user's code in this thread, in memory that its process can read while the thread is busy. */

/** A user's code as its process sees it while it decides. */
export interface Deciding {
  /** Calls and returns so far: odd while a decision is under way. */
  readonly calls: number;
  /** The same of its own lines, and of what it does before its first decision. */
  readonly preparing: number;
  /** The candle of the range that it decides on, from 0, where it knows of one market alone. */
  readonly candle: number;
  /** The mark of the place where a marked script is (script/mark_places.ts); 0: none. */
  readonly place: number;
}

/** Asks the code of a job to stop, in a frame of its own: Python raises an error where it is. */
export interface Interrupt {
  readonly kind: "interrupt";
}

/** A job of a script. */
export interface Marked {
  /** True: it marks its place as it runs, to be found where it never ends. */
  readonly isMarked?: boolean;
}

/** Places of the words that the thread shares with its process. */
export const CALL_WORDS = {
  /** Counts calls and returns: it is odd while a decision is under way. */
  calls: 0,
  /** From the process: 1 asks an interpreter to leave what it does with an error, whose place is the author's line. */
  interrupt: 1,
  /** Like `calls`, of what comes before decisions. */
  preparing: 2,
} as const;
export const CALLS = new SharedArrayBuffer(4 * 3);
const words = new Int32Array(CALLS);

/** Counts a call of a user's code for a decision, or its return. */
export function countCall(): void {
  words[CALL_WORDS.calls]!++;
}

/** Runs a user's code before its first decision, and counts the call and its return. */
export function whilePreparing<Answer>(act: () => Answer): Answer {
  words[CALL_WORDS.preparing]!++;
  try {
    return act();
  } finally {
    words[CALL_WORDS.preparing]!++;
  }
}

/** True once after the process has asked for an interrupt. */
export function takeInterrupt(): boolean {
  if (words[CALL_WORDS.interrupt] === 0) return false;
  words[CALL_WORDS.interrupt] = 0;
  return true;
}
