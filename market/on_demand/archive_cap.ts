import { getLogger } from "@logtape/logtape";
import { evictLeastUsed, measureUnconfigured, touchInstrument } from "../../db/archive_size.ts";
import type { Db } from "../../db/client.ts";

// An instrument stays for this long after its last use: a reader may not have all its candles yet.
const USED_MS = 120_000;
// A use is noted where the last noted one is longer ago than this.
const TOUCH_MS = 30_000;
// Measuring passes every chunk: one user may fetch twice a second, and the archive can have millions.
const ENFORCE_MS = 60_000;
const REMEMBERED_MAX = 10_000;

const log = getLogger(["hindcast", "archive"]);

/** Bounds the candles that requests archived: the least used instruments go, unless an admin configured or imported into them. */
export class ArchiveCap {
  readonly #db: Db;
  readonly #bytesMax: number;
  readonly #now: () => number;
  readonly #touched = new Map<string, number>();
  #enforced = -Infinity;

  constructor(db: Db, bytesMax: number, now: () => number) {
    this.#db = db;
    this.#bytesMax = bytesMax;
    this.#now = now;
  }

  /** Notes the use of an instrument, which is not evicted for a while then. @returns True if it still exists. */
  async touch(id: string): Promise<boolean> {
    const now = this.#now();
    const last = this.#touched.get(id);
    if (last !== undefined && last <= now && last > now - TOUCH_MS) return true;
    if (!await touchInstrument(this.#db, id, new Date(now))) return false;
    if (this.#touched.size >= REMEMBERED_MAX) this.#touched.clear();
    this.#touched.set(id, now);
    return true;
  }

  /** Removes the least used instruments until the rest fits, or is in use. Does nothing within a minute of the last time. */
  async enforce(): Promise<void> {
    const now = this.#now();
    const last = this.#enforced;
    if (this.#bytesMax === Infinity || (last <= now && last > now - ENFORCE_MS)) return;
    this.#enforced = now;
    const unusedSince = new Date(now - USED_MS);
    const bytesMax = this.#bytesMax;
    for (let bytes = await measureUnconfigured(this.#db); bytes > bytesMax;) {
      const removed = await evictLeastUsed(this.#db, unusedSince);
      if (removed === undefined) {
        log.warn("Cannot keep the archive within {bytesMax} bytes: its {bytes} bytes are in use", { bytesMax, bytes });
        return;
      }
      const { symbol, exchange, usedAt } = removed.instrument;
      const facts = { symbol, exchange, used_at: usedAt.toISOString(), bytes: removed.bytes };
      log.info("Evicted {symbol} on {exchange}, last used at {used_at}: {bytes} bytes", facts);
      bytes -= removed.bytes;
    }
  }
}
