import { z } from "zod";
import { type StressTest, stressTestRecords } from "../../db/stress_tests.ts";
import { inputObject } from "../common/input_object.ts";
import { type ListAnswer, listShape, pageShape, readList, readListPage } from "../common/paging.ts";
import { linkedProcedure, router, userProcedure } from "../common/trpc.ts";
import { afterId, runProcedures, runStreams } from "../runs/run_procedures.ts";
import { idSchema } from "../runs/runs.ts";
import { studyFilterShape, studyList } from "../runs/study_list.ts";
import { shareError } from "../runs/run_state.ts";
import { stressTestRuns, stressTestSchema, toStressTest } from "./stress_test_records.ts";
import { submitStressTest } from "./stress_test_submission.ts";

const shown = {
  runs: stressTestRuns,
  records: stressTestRecords,
  createSchema: inputObject({ id: idSchema.describe("The backtest.") }).transform(({ id }) => ({
    request: { backtest_id: id },
  })),
  answerSchema: z.object({ stress_test: stressTestSchema }),
  submit: submitStressTest,
  show: toStressTest,
  answer: (stress_test: z.infer<typeof stressTestSchema>) => ({ stress_test }),
  eventId: ({ attempts, status, progress }: StressTest) => `${attempts}-${status}-${progress}`,
};

export const stressTestsRouter = router({
  ...runProcedures(shown),

  /** A page of the caller's stress tests, newest first; with `backtest_id`, only those of it. */
  list: linkedProcedure("backtest", "backtest_id")
    .input(inputObject({ ...pageShape, ...studyFilterShape }))
    .output(z.object({ stress_tests: z.array(stressTestSchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input: { limit, cursor, ...filter } }) => {
      const page = { limit, after: afterId(cursor) };
      const isLinked = ctx.link !== null;
      const list = studyList(ctx, shown, isLinked ? { ...filter, status: "completed" } : filter);
      const { items, next_cursor } = await readListPage(list, page, ctx.answer);
      return { stress_tests: isLinked ? items.map(shareStressTest) : [...items], next_cursor };
    }),
});

/** A completed stress test as strangers read it. */
function shareStressTest({ result, ...test }: z.infer<typeof stressTestSchema>): z.infer<typeof stressTestSchema> {
  if (result === null) return { ...test, result };
  const rows = result.rows.map(({ error, ...row }) => ({ ...row, error: error === null ? null : shareError(error) }));
  return { ...test, result: { ...result, rows } };
}

/** Procedures with streams, which only REST can carry. */
export const stressTestsStreamsRouter = router({
  ...runStreams(shown),

  /** The caller's stress tests, newest first: all of them, or a page; with `backtest_id`, only those of it. */
  list: userProcedure
    .input(inputObject({ ...listShape, ...studyFilterShape }))
    .query(({ ctx, input: { limit, cursor, ...filter } }): ListAnswer => {
      const pages = readList(studyList(ctx, shown, filter), { limit, after: afterId(cursor) }, ctx.answer);
      return { name: "stress_tests", pages };
    }),
});
