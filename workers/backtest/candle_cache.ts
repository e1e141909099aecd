import { LRUCache } from "lru-cache";
import type { Db } from "../../db/client.ts";
import { findInstrument, type Instrument, type InstrumentKey } from "../../db/instruments.ts";
import { type CandlesRead, readPlan, type Repair, retryOnChange } from "../../market/archive/read.ts";
import { type CandleQuery, planRead, planTag, type ReadPlan } from "../../market/archive/read_plan.ts";

// A year of 1m candles is 25 MB.
const BYTES_MAX = 256 * 1024 ** 2;

/**
 * Candles of recent runs in shared memory: a hundred parameters on a year of minutes cost one read.
 *
 * Every read compares the archive's checksums, so it never returns replaced candles.
 */
export class CandleCache {
  readonly #db: Db;
  readonly #held: LRUCache<string, CandlesRead>;
  readonly #instruments = new InFlight<Instrument | undefined>();
  readonly #plans = new InFlight<{ readonly plan: ReadPlan; readonly tag: string }>();
  readonly #reads = new InFlight<CandlesRead>();

  constructor(db: Db, bytesMax = BYTES_MAX) {
    this.#db = db;
    this.#held = new LRUCache({ maxSize: bytesMax, sizeCalculation: bytesOf });
  }

  findInstrument(key: InstrumentKey): Promise<Instrument | undefined> {
    return this.#instruments.get(JSON.stringify([key.symbol, key.exchange]), () => findInstrument(this.#db, key));
  }

  /** The candles of a query as readPlan() reads them; the caller must not write to the shared memory. */
  read(query: CandleQuery, repair?: Repair): Promise<CandlesRead> {
    return retryOnChange(async () => {
      const { plan, tag } = await this.#plan(query);
      const held = this.#held.get(tag);
      if (held !== undefined) return held;
      return await this.#reads.get(tag, async () => {
        const read = await readPlan(this.#db, plan, { shared: true, repair });
        this.#held.set(tag, read);
        return read;
      });
    });
  }

  #plan(query: CandleQuery): Promise<{ readonly plan: ReadPlan; readonly tag: string }> {
    const { instrument, timeframe, hours, start, end, lookback = 0 } = query;
    const variant = [instrument.id, JSON.stringify(instrument.session), timeframe, hours, start, end, lookback].join();
    return this.#plans.get(variant, async () => {
      const plan = await planRead(this.#db, query);
      return { plan, tag: planTag(plan, variant) };
    });
  }
}

// All columns are views of one buffer; the cache accepts no size of 0.
function bytesOf({ candles }: CandlesRead): number {
  return Math.max(1, candles.time.buffer.byteLength);
}

/** Lets simultaneous callers with the same key share one answer. */
export class InFlight<Answer> {
  readonly #pending = new Map<string, Promise<Answer>>();

  /** The pending answer of the key, or else a new one. */
  get(key: string, make: () => Promise<Answer>): Promise<Answer> {
    const pending = this.#pending.get(key);
    if (pending !== undefined) return pending;
    const made = make().finally(() => this.#pending.delete(key));
    this.#pending.set(key, made);
    return made;
  }
}
