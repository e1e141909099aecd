import type { Db } from "./client.ts";
import { unpackEquity } from "./codec/marked_equity.ts";
import type { EquityColumns } from "./codec/result_parts.ts";
import { readRecord, requireColumn } from "./codec/unreadable.ts";
import { type ChunkRows, findChunk, readChunks } from "./result_chunks.ts";

/**
 * The curve of one user's backtest, or null where this user has no completed one of that id.
 *
 * @throws {Error} When the stored bytes are damaged.
 */
export async function readEquity(
  db: Db,
  key: { readonly backtestId: string; readonly ownerId: string },
): Promise<EquityColumns | null> {
  const chunks = await readChunks(db, { ...key, part: "equity" });
  if (chunks.length === 0) return null;
  const curves = chunks.map((chunk) => readCurve(chunk, key.backtestId));
  const join = (name: keyof EquityColumns) => {
    const pieces = curves.map((curve) => curve[name]);
    const joined = new Float64Array(pieces.reduce((rows, piece) => rows + piece.length, 0));
    let offset = 0;
    for (const piece of pieces) {
      joined.set(piece, offset);
      offset += piece.length;
    }
    return joined;
  };
  return { time: join("time"), equity: join("equity"), position: join("position") };
}

/**
 * The same curve in pieces, oldest first, of which one is in memory at a time; none where this user has no completed one of that id.
 *
 * @param sinceMs The first piece is the one with the first candle at this time or later.
 * @throws {Error} When the stored bytes are damaged, or the backtest is deleted meanwhile.
 */
export async function* readEquityPieces(
  db: Db,
  key: { readonly backtestId: string; readonly ownerId: string },
  sinceMs?: number,
): AsyncGenerator<EquityColumns> {
  const first = sinceMs === undefined ? 0 : await findChunk(db, { ...key, part: "equity" }, new Date(sinceMs));
  if (first === null) return;
  const read = (number: number) => readChunks(db, { ...key, part: "equity" }, { first: number, last: number });
  for (let number = first;; number++) {
    const [chunk] = await read(number);
    if (chunk === undefined) {
      if (number === 0 || (await read(0)).length > 0) return;
      throw new Error(`Cannot read on: the backtest ${key.backtestId} was deleted`);
    }
    yield readCurve(chunk, key.backtestId);
  }
}

function readCurve({ columns }: ChunkRows, backtestId: string): EquityColumns {
  return readRecord(`equity of the backtest ${backtestId}`, () => {
    const unpacked = unpackEquity(columns);
    const column = (name: keyof EquityColumns) => requireColumn(unpacked, name);
    return { time: column("time"), equity: column("equity"), position: column("position") };
  });
}
