/** The months that the archive holds of instruments, without their candles. */
import { type ChunkSummary, listChunks, listChunksOfMany, readChunkVersions } from "../../db/candle_chunks.ts";
import type { Db } from "../../db/client.ts";
import { listCoverageOfMany, listInstrumentCoverage, type Stretch } from "../../db/coverage.ts";
import type { Instrument } from "../../db/instruments.ts";
import { isFed } from "./made_candles.ts";

/** The archive's state of an instrument, which plans of it are made from. */
export interface Holdings {
  readonly chunks: readonly ChunkSummary[];
  /** The stretches that a feed was asked for; empty for an instrument without a feed. */
  readonly known: readonly (Stretch & { readonly timeframe: string })[];
}

/** Reads the state of an instrument. */
export async function readHoldings(db: Db, instrument: Instrument): Promise<Holdings> {
  const [chunks, known] = await Promise.all([
    listChunks(db, instrument.id),
    isFed(instrument) ? listInstrumentCoverage(db, instrument.id) : [],
  ]);
  return { chunks, known };
}

/** Keeps the chunks of instruments from read to read. */
export interface HeldChunks {
  get(id: string): VersionedChunks | undefined;
  set(id: string, held: VersionedChunks): unknown;
}

/** The chunks of an instrument, and the version at which they were listed. */
export interface VersionedChunks {
  readonly version: number;
  readonly chunks: readonly ChunkSummary[];
}

/**
 * Like readHoldings, of many instruments in a few statements. Hundreds of them have tens of thousands of chunks, so only those are listed
 * that have changed.
 *
 * @param held Those of earlier reads. @returns In the order of the instruments.
 */
export async function readHoldingsOfMany(
  db: Db,
  instruments: readonly Instrument[],
  held: HeldChunks,
): Promise<Holdings[]> {
  const [only] = instruments;
  if (only !== undefined && instruments.length === 1) return [await readHoldings(db, only)];
  const fed = instruments.filter(isFed);
  const [chunks, known] = await Promise.all([
    listChangedChunks(db, instruments.map(({ id }) => id), held),
    fed.length === 0 ? [] : listCoverageOfMany(db, fed.map(({ id }) => id)),
  ]);
  return instruments.map((instrument, n) => ({ chunks: chunks[n]!, known: known[fed.indexOf(instrument)] ?? [] }));
}

async function listChangedChunks(
  db: Db,
  ids: readonly string[],
  held: HeldChunks,
): Promise<(readonly ChunkSummary[])[]> {
  // Before the lists: a change between the two is found at the next read.
  const versions = await readChunkVersions(db, ids);
  const lists = ids.map((id, n) => {
    const own = held.get(id);
    return own !== undefined && own.version === versions[n] ? own.chunks : null;
  });
  const changed = ids.filter((_, n) => lists[n] === null);
  const read = changed.length === 0 ? [] : await listChunksOfMany(db, changed);
  const listed = new Map(changed.map((id, n) => [id, read[n]!]));
  return ids.map((id, n) => {
    const chunks = lists[n] ?? listed.get(id) ?? [];
    held.set(id, { version: versions[n]!, chunks });
    return chunks;
  });
}
