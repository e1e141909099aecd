import { setTimeout as pause } from "node:timers/promises";

/** A record that processes change. */
interface Followed<Row> {
  /** Calls back after each change; `onEnd`, which need not be called, after the last. @returns A function that ends the watch. */
  watch(onChange: () => void, onEnd: () => void): Promise<() => void>;
  /** The record now; null once it is deleted. */
  read(): Promise<Row | null>;
  hasEnded(row: Row): boolean;
  /** The least time between two answers, in milliseconds; the end does not wait for it. */
  readonly paceMs?: number;
}

/** A record now, and again after each change. Ends when the record is final or deleted, or the signal is aborted. */
export async function* followRecord<Row>(
  { watch, read, hasEnded, paceMs = 0 }: Followed<Row>,
  stop: AbortSignal,
): AsyncGenerator<Row> {
  let changed = Promise.withResolvers<void>();
  let hurry = new AbortController();
  const wake = () => changed.resolve();
  const finish = () => {
    hurry.abort();
    wake();
  };
  const unwatch = await watch(wake, finish);
  stop.addEventListener("abort", finish);
  try {
    while (!stop.aborted) {
      // Before the look, so that no change between look and wait is missed.
      changed = Promise.withResolvers();
      hurry = new AbortController();
      const row = await read();
      if (row === null) return;
      const isEnd = hasEnded(row);
      yield row;
      if (isEnd) return;
      // Changes meanwhile are seen by the next look. The end, and an abort, cut the pause short.
      if (paceMs > 0 && !stop.aborted) await pause(paceMs, undefined, { signal: hurry.signal }).catch(() => {});
      if (!stop.aborted) await changed.promise;
    }
  } finally {
    stop.removeEventListener("abort", finish);
    unwatch();
  }
}

/** Waits until a record is final, at most `waitMs`, or until the signal is aborted. @returns The record now; null if it was deleted. */
export async function awaitFinal<Row>(
  { follow, read, hasEnded, waitMs, signal }: Pick<Followed<Row>, "read" | "hasEnded"> & {
    readonly follow: (stop: AbortSignal) => AsyncGenerator<Row>;
    readonly waitMs: number;
    readonly signal: AbortSignal;
  },
): Promise<Row | null> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), waitMs);
  const stop = AbortSignal.any([signal, timeout.signal]);
  let last: Row | null = null;
  try {
    for await (const each of follow(stop)) last = each;
    if (last === null) return stop.aborted ? await read() : null;
    return hasEnded(last) || stop.aborted ? last : null;
  } finally {
    clearTimeout(timer);
  }
}
