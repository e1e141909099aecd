import { LRUCache } from "lru-cache";
import { readChunksOfMany } from "../../db/candle_chunks.ts";
import type { Db } from "../../db/client.ts";
import { findInstrument, findInstruments, type Instrument, type InstrumentKey } from "../../db/instruments.ts";
import { cutPieces, findPieces, loadPieces, type Piece, type PieceKey } from "../../market/archive/candle_pieces.ts";
import { CandleSpan } from "../../market/archive/candle_span.ts";
import { DamagedChunkError } from "../../market/archive/chunk.ts";
import {
  type CandlesRead,
  QUERY_CANDLES_MAX,
  type ReadChunks,
  readPlan,
  type Repair,
  retryOnChange,
} from "../../market/archive/read.ts";
import { type Holdings, readHoldingsOfMany, type VersionedChunks } from "../../market/archive/read_holdings.ts";
import { type CandleQuery, planFrom, type ReadPlan } from "../../market/archive/read_plan.ts";
import { sessionOf } from "../../market/calendar/exchange_sessions.ts";
import { Gatherer } from "./gatherer.ts";

// A year of 1m candles is 25 MB.
const BYTES_MAX = 256 * 1024 ** 2;
/** Chunks that are known without their candles: about 40 MB. */
const CHUNKS_MAX = 131_072;

/**
 * Candles of recent runs in shared memory, a span of whole months for each instrument and timeframe: runs that differ in range, lookback or
 * parameters are views of one read.
 *
 * Every use asks the archive whether they have changed, so candles that were replaced are never given, and only their months are read again.
 */
export class CandleCache {
  readonly #db: Db;
  readonly #bytesMax: number;
  readonly #spans: LRUCache<string, CandleSpan>;
  readonly #instruments = new InFlight<Instrument | undefined>();
  readonly #holdings = new InFlight<Holdings>();
  readonly #findInstrument: Gatherer<InstrumentKey, Instrument | undefined>;
  readonly #readHoldings: Gatherer<Instrument, Holdings>;
  readonly #readChunks: Gatherer<Parameters<ReadChunks>[0], Awaited<ReturnType<ReadChunks>>>;
  /** The last load of each series that is being loaded. */
  readonly #loads = new Map<string, Promise<CandleSpan | null>>();

  constructor(db: Db, bytesMax = BYTES_MAX) {
    this.#db = db;
    this.#bytesMax = bytesMax;
    this.#spans = new LRUCache({ maxSize: bytesMax, sizeCalculation: ({ bytes }) => Math.max(1, bytes) });
    this.#findInstrument = new Gatherer(async (keys) => {
      const [only] = keys;
      return only !== undefined && keys.length === 1
        ? [await findInstrument(db, only)]
        : await findInstruments(db, keys);
    });
    const chunks = new LRUCache<string, VersionedChunks>({
      maxSize: CHUNKS_MAX,
      sizeCalculation: ({ chunks }) => chunks.length + 1,
    });
    this.#readHoldings = new Gatherer((instruments) => readHoldingsOfMany(db, instruments, chunks));
    this.#readChunks = new Gatherer((keys) => readChunksOfMany(db, keys), {
      sizeOf: ({ candles }) => candles,
      sizeMax: QUERY_CANDLES_MAX,
    });
  }

  /** Memory of the held candles. */
  get bytes(): number {
    return this.#spans.calculatedSize;
  }

  findInstrument(key: InstrumentKey): Promise<Instrument | undefined> {
    return this.#instruments.get(JSON.stringify([key.symbol, key.exchange]), () => this.#findInstrument.ask(key));
  }

  /** The candles of a query as readPlan() reads them; the caller must not write to the shared memory. */
  read(query: CandleQuery, repair?: Repair): Promise<CandlesRead> {
    return retryOnChange(async () => {
      const { instrument } = query;
      const holdings = await this.#holdings.get(instrument.id, () => this.#readHoldings.ask(instrument));
      const plan = planFrom(holdings, query);
      return await this.#view(plan, repair) ?? await readPlan(this.#db, plan, { shared: true, repair });
    });
  }

  /** @returns Null where the months cannot be cut as the plan needs them. */
  async #view(plan: ReadPlan, repair: Repair | undefined): Promise<CandlesRead | null> {
    const all = cutPieces(plan);
    const [first, end] = findPieces(all, plan);
    const wanted = all.slice(first, end);
    const key = keyOf(plan);
    const held = this.#spans.get(key);
    if (held?.holds(wanted)) return held.view(plan);
    const pending = this.#loads.get(key);
    if (pending !== undefined) {
      // A load that fails is reported to its own caller.
      const loaded = await pending.catch(() => null);
      return loaded?.holds(wanted) ? loaded.view(plan) : await this.#view(plan, repair);
    }
    const load = this.#load(plan, { all, first, end }, held, repair).finally(() => this.#loads.delete(key));
    this.#loads.set(key, load);
    const span = await load;
    if (span !== null) this.#spans.set(key, span);
    return span?.view(plan) ?? null;
  }

  /** Joins the wanted pieces and their neighbours in the held span, and reads those that are not held. */
  async #load(
    plan: ReadPlan,
    { all, first, end }: { readonly all: readonly PieceKey[]; readonly first: number; readonly end: number },
    held: CandleSpan | undefined,
    repair: Repair | undefined,
  ): Promise<CandleSpan | null> {
    const known = new Map(held?.pieces.map((piece) => [piece.tag, piece]));
    if ((held?.bytes ?? 0) <= this.#bytesMax / 2) {
      while (known.has(all[first - 1]?.tag ?? "")) first--;
      while (known.has(all[end]?.tag ?? "")) end++;
    }
    const pieces: Piece[] = [];
    try {
      for (let from = first; from < end;) {
        const piece = known.get(all[from]!.tag);
        if (piece !== undefined) pieces.push(piece);
        let until = from + 1;
        while (piece === undefined && until < end && !known.has(all[until]!.tag)) until++;
        if (piece === undefined) {
          const read: ReadChunks = (key) => this.#readChunks.ask(key);
          pieces.push(...await loadPieces(read, plan, all.slice(from, until), repairOf(plan, repair)));
        }
        from = until;
      }
    } catch (error) {
      if (error instanceof DamagedChunkError && !isPlanned(plan, error)) return null;
      throw error;
    }
    return CandleSpan.join(plan, pieces);
  }
}

/** Everything besides the chunks that decides the candles of a span. */
function keyOf({ instrument, timeframe, hours, source }: ReadPlan): string {
  return [instrument.id, JSON.stringify(sessionOf(instrument)), instrument.assetClass, timeframe, hours, source].join();
}

/** A run does not repair, nor fail by, a month that only completes a piece. */
function repairOf(plan: ReadPlan, repair: Repair | undefined): Repair | undefined {
  if (repair === undefined) return undefined;
  return (error) => isPlanned(plan, error) ? repair(error) : Promise.reject(error);
}

function isPlanned(plan: ReadPlan, { chunk: { month } }: DamagedChunkError): boolean {
  return plan.chunks.some((chunk) => chunk.month === month);
}

/** Shares an answer between all who ask for it before its query is sent: an answer is never older than the question. */
export class InFlight<Answer> {
  readonly #waiting = new Map<string, Promise<Answer>>();
  readonly #sent = new Map<string, Promise<Answer>>();

  /** The answer of the query that is sent next; it waits for one of the same key that is under way. */
  get(key: string, make: () => Promise<Answer>): Promise<Answer> {
    const waiting = this.#waiting.get(key) ?? this.#send(key, make);
    this.#waiting.set(key, waiting);
    return waiting;
  }

  async #send(key: string, make: () => Promise<Answer>): Promise<Answer> {
    // The caller of the query before gets its error.
    await this.#sent.get(key)?.catch(() => {});
    // Calls of the same turn of the event loop share it, too.
    await Promise.resolve();
    this.#waiting.delete(key);
    const answer = make();
    this.#sent.set(key, answer);
    try {
      return await answer;
    } finally {
      if (this.#sent.get(key) === answer) this.#sent.delete(key);
    }
  }
}
