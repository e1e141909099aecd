import type { Db } from "../../db/client.ts";
import { findInstrument, type Instrument, type InstrumentKey } from "../../db/instruments.ts";
import { type CandlesRead, readCandles, type Repair } from "../../market/archive/read.ts";
import { type CandleQuery, planRead, planTag } from "../../market/archive/read_plan.ts";
import { InFlight } from "./batching.ts";

// A year of 1m candles is 25 MB.
const BYTES_MAX = 256 * 1024 ** 2;

/**
 * Candles of recent runs in shared memory: who tries a hundred parameters on a year of minutes waits for one read.
 *
 * Every use asks the archive for the checksums of what it holds, so nobody is given candles that have been replaced.
 */
export class CandleCache {
  readonly #db: Db;
  readonly #bytesMax: number;
  // In order of use, the latest last.
  readonly #held = new Map<string, CandlesRead>();
  #bytes = 0;
  readonly #instruments = new InFlight<Instrument | undefined>();
  readonly #tags = new InFlight<string>();
  readonly #reads = new InFlight<CandlesRead>();

  constructor(db: Db, bytesMax = BYTES_MAX) {
    this.#db = db;
    this.#bytesMax = bytesMax;
  }

  findInstrument(key: InstrumentKey): Promise<Instrument | undefined> {
    return this.#instruments.get(JSON.stringify([key.symbol, key.exchange]), () => findInstrument(this.#db, key));
  }

  /** As readCandles() of the archive, with its `repair`, in shared memory that the caller must not write to. */
  async read(query: CandleQuery, repair?: Repair): Promise<CandlesRead> {
    const tag = await this.#tag(query);
    const held = this.#held.get(tag);
    if (held !== undefined) {
      this.#held.delete(tag);
      this.#held.set(tag, held);
      return held;
    }
    return await this.#reads.get(tag, async () => {
      const read = await readCandles(this.#db, { ...query, shared: true, repair });
      // Otherwise they were replaced while they were read.
      if (await this.#tag(query) === tag) this.#keep(tag, read);
      return read;
    });
  }

  #tag(query: CandleQuery): Promise<string> {
    const { instrument, timeframe, start, end, lookback = 0 } = query;
    const variant = [instrument.id, timeframe, start, end, lookback].join();
    return this.#tags.get(variant, async () => planTag(await planRead(this.#db, query), variant));
  }

  #keep(tag: string, read: CandlesRead): void {
    const bytes = bytesOf(read);
    if (bytes > this.#bytesMax || this.#held.has(tag)) return;
    this.#held.set(tag, read);
    this.#bytes += bytes;
    for (const [oldest, old] of this.#held) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#held.delete(oldest);
      this.#bytes -= bytesOf(old);
    }
  }
}

// All columns are views of one buffer.
function bytesOf({ candles }: CandlesRead): number {
  return candles.time.buffer.byteLength;
}
