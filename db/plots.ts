import { and, eq, sum } from "drizzle-orm";
import type { Db } from "./client.ts";
import { plotColumn } from "./codec/plots_part.ts";
import { CHUNK_ROWS } from "./codec/result_parts.ts";
import { readRecord, requireColumn } from "./codec/unreadable.ts";
import { findChunk, readChunks } from "./result_chunks.ts";
import { backtests, resultChunks } from "./schema.ts";

/** A user's key to the plots of a run, and how many series they are. */
export interface PlotsKey {
  readonly backtestId: string;
  readonly ownerId: string;
  readonly plots: number;
}

/** Plots of some candles: times in milliseconds since 1970, and a column for each plot, NaN where it has no value. */
export interface PlotPiece {
  readonly time: Float64Array;
  readonly columns: readonly Float64Array[];
}

/**
 * The plots of one user's backtest in pieces, oldest first, of which one is in memory at a time; none where nothing was plotted.
 *
 * @param from The first piece is the one with the candle of this index, or the first candle at this time or later.
 * @throws {Error} When the stored bytes are damaged.
 */
export async function* readPlots(
  db: Db,
  { backtestId, ownerId, plots }: PlotsKey,
  from: { readonly index: number } | { readonly timeMs: number },
): AsyncGenerator<PlotPiece> {
  const part = { backtestId, ownerId, part: "plots" } as const;
  const first = "index" in from
    ? Math.floor(from.index / CHUNK_ROWS)
    : await findChunk(db, part, new Date(from.timeMs));
  for (let number = first ?? Infinity; number < Infinity; number++) {
    const [chunk] = await readChunks(db, part, { first: number, last: number });
    if (chunk === undefined) return;
    const column = (name: string) => requireColumn(chunk.columns, name);
    yield readRecord(`plots of the backtest ${backtestId}`, () => ({
      time: column("time"),
      columns: Array.from({ length: plots }, (_, place) => column(plotColumn(place))),
    }));
  }
}

/** Counts the candles of the plots of one user's backtest. */
export async function countPlotCandles(db: Db, { backtestId, ownerId }: PlotsKey): Promise<number> {
  const [row] = await db.select({ rows: sum(resultChunks.rows).mapWith(Number) }).from(resultChunks)
    .innerJoin(backtests, and(eq(backtests.id, resultChunks.backtestId), eq(backtests.attempts, resultChunks.attempt)))
    .where(and(
      eq(resultChunks.backtestId, backtestId),
      eq(resultChunks.part, "plots"),
      eq(backtests.ownerId, ownerId),
    ));
  return row?.rows ?? 0;
}
