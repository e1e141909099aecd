import { sql } from "drizzle-orm";
import { insertLogs, measureLog } from "./backtest_logs.ts";
import { measureSeries, type Size } from "./backtest_sizes.ts";
import { type AttemptKey, held } from "./backtests.ts";
import { NOTIFY_OF_RECORD } from "./change_channel.ts";
import type { Db } from "./client.ts";
import { type EncodedSeries, storedPlots } from "./codec/plots_part.ts";
import { storableText } from "./codec/storable.ts";
import { deleteChunks, deleteChunksOfOthers, insertChunks } from "./result_chunks.ts";
import type { RunFailure } from "./runs.ts";
import { backtests } from "./schema.ts";

/** The failure of a run, with its strategy's log and plots. */
interface FailedRun extends AttemptKey {
  readonly error: RunFailure;
  readonly log?: readonly string[] | undefined;
  readonly series?: EncodedSeries | undefined;
}

/**
 * Ends a run without a result.
 *
 * @returns The bytes by which its owner's storage has grown, for addSizes(); null when the run no longer holds the record.
 */
export async function failBacktest(
  tx: Db,
  { log = [], series = { plots: [], chunks: [] }, ...run }: FailedRun,
): Promise<Size | null> {
  const error = { ...run.error, message: storableText(run.error.message) };
  const sizeBytes = measureLog(log) + measureSeries(series);
  const [row] = await tx.update(backtests)
    .set({
      status: "failed",
      error,
      plots: storedPlots(series.plots),
      finishedAt: sql`now()`,
      sizeBytes: sql`${backtests.sizeBytes} + ${sizeBytes}::bigint`,
    })
    .where(held(run))
    .returning({ ownerId: backtests.ownerId, notified: sql.raw(NOTIFY_OF_RECORD) });
  if (row === undefined) return null;
  if (series.areChunksWritten === true) await deleteChunksOfOthers(tx, [run]);
  else {
    await deleteChunks(tx, run.id);
    await insertChunks(tx, [{ backtestId: run.id, attempt: run.attempt, chunks: series.chunks }]);
  }
  await insertLogs(tx, [{ ...run, lines: log }]);
  return { ownerId: row.ownerId, sizeBytes };
}
