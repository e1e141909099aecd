import { z } from "zod";
import { BACKTEST_STATUSES } from "../../db/schema.ts";
import { type StressTest, stressTestRecords } from "../../db/stress_tests.ts";
import { errorSchema, showStressResult, stressResultSchema } from "../backtests/stress_result.ts";
import { recordReader } from "../common/stored_records.ts";
import { Runs } from "../runs/runs.ts";

/** Stress tests, as their owners find and follow them. */
export const stressTestRuns = new Runs<StressTest>(stressTestRecords, {
  notFound: "STRESS_TEST_NOT_FOUND",
  check: (row) => toStressTest(row),
});

/** A stress test, as every answer has it. */
export const stressTestSchema = z.object({
  id: z.uuid(),
  backtest_id: z.uuid(),
  status: z.enum(BACKTEST_STATUSES),
  progress: z.number(),
  attempts: z.int(),
  created_at: z.iso.datetime(),
  started_at: z.iso.datetime().nullable(),
  finished_at: z.iso.datetime().nullable(),
  error: errorSchema.nullable(),
  result: stressResultSchema.nullable(),
}).meta({ id: "StressTest" });

/** @throws {UnreadableRecord} */
export const toStressTest = recordReader(({ id }) => `stress test ${id}`, stressTestSchema, show);

function show(row: StressTest): z.infer<typeof stressTestSchema> {
  const { result } = row;
  return {
    id: row.id,
    backtest_id: row.backtestId,
    status: row.status,
    progress: row.progress,
    attempts: row.attempts,
    created_at: row.createdAt.toISOString(),
    started_at: row.startedAt?.toISOString() ?? null,
    finished_at: row.finishedAt?.toISOString() ?? null,
    error: row.error,
    result: result === null ? null : showStressResult(result),
  };
}
