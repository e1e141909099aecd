/** Removes the objects that no row names: of deleted and replaced rows, and of processes that died before they wrote their rows. */
import { setTimeout as pause } from "node:timers/promises";
import type { Db } from "./database.ts";
import { objectStoreOf, queryText } from "./postgres_session.ts";
import type { ListedObject, ObjectStore } from "./objects/object_store.ts";
import { mapSome } from "./stored_bytes.ts";

// Longer than any transaction that has written an object and not yet the row that names it.
const GRACE_MS = 86_400_000;
// Longer than a reader takes from a row that names an object to the object.
const SETTLE_MS = 60_000;
// Of a thousand objects each: one sweep is bounded, and the next one begins elsewhere.
const PAGES_MAX = 200;

export interface SweepTimes {
  /** Younger objects stay. */
  readonly graceMs: number;
  /** From the sight of an object without a name to its removal. */
  readonly settleMs: number;
}

const TIMES: SweepTimes = { graceMs: GRACE_MS, settleMs: SETTLE_MS };

/**
 * Removes objects that no row names. A key is given once, so that an old one without a name never gets one.
 *
 * @param signal Ends it after the current step.
 * @returns How many were removed; 0 without a store.
 */
export async function sweepObjects(
  db: Db,
  signal: AbortSignal,
  { graceMs, settleMs }: SweepTimes = TIMES,
): Promise<number> {
  const store = objectStoreOf(db);
  if (store === undefined) return 0;
  const before = new Date(Date.now() - graceMs);
  const orphans: string[] = [];
  for await (const page of listPages(store, signal)) {
    const old = page.filter(({ writtenAt }) => writtenAt < before).map(({ key }) => key);
    orphans.push(...await findUnnamed(db, old));
  }
  if (orphans.length === 0) return 0;
  await pause(settleMs, undefined, { signal }).catch(() => {});
  if (signal.aborted) return 0;
  await mapSome(orphans, (key) => store.remove(key));
  return orphans.length;
}

/** Pages of objects from a random digest on, then those before it. */
async function* listPages(store: ObjectStore, signal: AbortSignal): AsyncGenerator<readonly ListedObject[]> {
  const start = crypto.randomUUID().slice(0, 8);
  let [after, isSecondRound] = [start, false];
  for (let pages = 0; pages < PAGES_MAX && !signal.aborted; pages++) {
    const page = await store.list(after);
    const digests = page.map(({ key }) => key.slice(key.indexOf("/") + 1));
    yield isSecondRound ? page.filter((_, i) => digests[i]! <= start) : page;
    const last = digests.at(-1);
    if (last !== undefined && !(isSecondRound && last > start)) after = last;
    else if (isSecondRound) return;
    else [after, isSecondRound] = ["", true];
  }
}

async function findUnnamed(db: Db, keys: readonly string[]): Promise<string[]> {
  if (keys.length === 0) return [];
  const rows = await queryText(db, UNNAMED, [keys]);
  return rows.map((row) => String(Object(row).key));
}

const UNNAMED = `select key from unnest($1::text[]) as given(key)
  where not exists (select from candle_chunks where object = key)
    and not exists (select from result_chunks where object = key)
    and not exists (select from result_candles where object = key)`;
