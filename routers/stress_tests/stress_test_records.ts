import { z } from "zod";
import { type StressTest, stressTestRecords } from "../../db/stress_tests.ts";
import { showStressResult, stressResultSchema } from "../backtests/stress_result.ts";
import { recordReader } from "../common/stored_records.ts";
import { showStudyState, STUDY_STATE } from "../runs/run_state.ts";
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
  ...STUDY_STATE,
  result: stressResultSchema.nullable(),
}).meta({ id: "StressTest" });

/** @throws {UnreadableRecord} */
export const toStressTest = recordReader(({ id }) => `stress test ${id}`, stressTestSchema, show);

function show(row: StressTest): z.infer<typeof stressTestSchema> {
  const { result } = row;
  return {
    id: row.id,
    backtest_id: row.backtestId,
    ...showStudyState(row),
    result: result === null ? null : showStressResult(result),
  };
}
