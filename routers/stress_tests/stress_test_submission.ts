import { beginStudy, STUDY_BYTES } from "../../db/backtest_studies.ts";
import { submissionColumns } from "../../db/runs.ts";
import { insertStressTest, type StressTest, stressTestRecords } from "../../db/stress_tests.ts";
import { backtestRuns } from "../backtests/backtest_runs.ts";
import { requireCompleted } from "../backtests/owned_backtest.ts";
import { requireFewStudies } from "../runs/few_studies.ts";
import { RunSubmitter } from "../runs/submission.ts";
import { stressTestRuns } from "./stress_test_records.ts";

/** Queued and running ones of one user; each computes for minutes at most. */
const UNENDED_MAX = 20;

/** The backtest that is to be tested. */
interface StressRequest {
  readonly backtest_id: string;
}

const submitter = new RunSubmitter<StressTest, StressRequest, StressRequest>({
  runs: stressTestRuns,
  unendedMax: () => UNENDED_MAX,
  batchMax: 1,
  async plan(ctx, request) {
    const { id } = requireCompleted(await backtestRuns.get(ctx, request.backtest_id), "stress");
    return { backtest_id: id };
  },
  measure: () => STUDY_BYTES,
  async admit(tx, _services, ownerId, { backtest_id: backtestId }) {
    // It may have been deleted since the check.
    if (!await beginStudy(tx, { id: backtestId, ownerId })) throw backtestRuns.notFound(backtestId);
    await requireFewStudies(tx, stressTestRecords, backtestId);
  },
  insert: (tx, { id, ownerId, submission }, { backtest_id: backtestId }) =>
    insertStressTest(tx, { id, ownerId, backtestId, ...submissionColumns(submission) }),
});

/** Submits a stress test; see RunSubmitter.submit(). */
export const submitStressTest = submitter.submit.bind(submitter);
