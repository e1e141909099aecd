import type { Db } from "./client.ts";
import { type PartColumns, readChunks } from "./result_chunks.ts";

/**
 * A run's curve, a value per candle: `time` (milliseconds since 1970, the candle's open), `equity` (money, at its close)
 * and `position` (units held at its close, negative when short).
 */
export interface EquityColumns {
  readonly time: Float64Array;
  readonly equity: Float64Array;
  readonly position: Float64Array;
}

/** A run's curve, to be stored. */
export function equityPart({ time, equity, position }: EquityColumns): PartColumns {
  return { part: "equity", count: time.length, columns: { time, equity, position }, time: "time" };
}

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
  const join = (name: keyof EquityColumns) => {
    const pieces = chunks.map(({ columns }) => {
      const piece = columns[name];
      if (piece === undefined) {
        throw new Error(`Cannot read the equity of backtest ${key.backtestId}: it has no ${name}`);
      }
      return piece;
    });
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
