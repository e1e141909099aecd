import { and, eq } from "drizzle-orm";
import type { Db } from "./client.ts";
import { decodeColumns, encodeColumns } from "./codec/columns.ts";
import { backtestEquity, backtests } from "./schema.ts";

/**
 * A run's curve, a value per candle: `time` (milliseconds since 1970, the candle's open), `equity` (money, at its close)
 * and `position` (units held at its close, negative when short).
 */
export interface EquityColumns {
  readonly time: Float64Array;
  readonly equity: Float64Array;
  readonly position: Float64Array;
}

/** A curve as it is stored. */
export interface StoredCurve {
  readonly points: number;
  readonly data: Uint8Array;
}

/** A run's curve as one compressed value. */
export function encodeCurve({ time, equity, position }: EquityColumns): StoredCurve {
  return { points: time.length, data: encodeColumns({ time, equity, position }) };
}

/** Writes the curves of one or many runs. */
export async function insertEquity(
  tx: Db,
  runs: readonly { readonly backtestId: string; readonly curve: StoredCurve }[],
): Promise<void> {
  if (runs.length === 0) return;
  await tx.insert(backtestEquity).values(runs.map(({ backtestId, curve }) => ({ backtestId, ...curve })));
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
  const [row] = await db.select({ data: backtestEquity.data })
    .from(backtestEquity)
    .innerJoin(backtests, and(eq(backtests.id, backtestEquity.backtestId), eq(backtests.ownerId, key.ownerId)))
    .where(eq(backtestEquity.backtestId, key.backtestId));
  if (row === undefined) return null;
  const { time, equity, position } = decodeColumns(row.data);
  if (time === undefined || equity === undefined || position === undefined) {
    throw new Error(`Cannot read the equity of backtest ${key.backtestId}: a column is missing`);
  }
  return { time, equity, position };
}
