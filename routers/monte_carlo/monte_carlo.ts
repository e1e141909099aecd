import { z } from "zod";
import { type MonteCarlo, monteCarloRecords } from "../../db/monte_carlos.ts";
import { formatSchema } from "../common/formats.ts";
import { inputObject } from "../common/input_object.ts";
import { type ListAnswer, listShape, pageShape, readList, readListPage } from "../common/paging.ts";
import { afterId, runProcedures, runStreams } from "../runs/run_procedures.ts";
import { idSchema } from "../runs/runs.ts";
import { studyFilterShape, studyList } from "../runs/study_list.ts";
import { shareError } from "../runs/run_state.ts";
import { linkedProcedure, router, userProcedure } from "../common/trpc.ts";
import { monteCarloSchema, toMonteCarlo } from "./monte_carlo_records.ts";
import { PATH_COLUMNS, POINT_COLUMNS, readPathRows, readPointRows } from "./monte_carlo_paths.ts";
import { monteCarloRuns } from "./monte_carlo_runs.ts";
import { monteCarloRequestSchema, submitMonteCarlo } from "./monte_carlo_submission.ts";

const shown = {
  runs: monteCarloRuns,
  records: monteCarloRecords,
  createSchema: inputObject({ monte_carlo: monteCarloRequestSchema }).transform((input) => ({
    request: input.monte_carlo,
  })),
  answerSchema: z.object({ monte_carlo: monteCarloSchema }),
  submit: submitMonteCarlo,
  show: toMonteCarlo,
  answer: (monte_carlo: z.infer<typeof monteCarloSchema>) => ({ monte_carlo }),
  eventId: ({ attempts, status, progress }: MonteCarlo) => `${attempts}-${status}-${progress}`,
};

export const monteCarloRouter = router({
  ...runProcedures(shown),

  /** A page of the caller's Monte Carlo simulations, newest first; with `backtest_id`, only those of it. */
  list: linkedProcedure("backtest", "backtest_id")
    .input(inputObject({ ...pageShape, ...studyFilterShape }))
    .output(z.object({ monte_carlos: z.array(monteCarloSchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input: { limit, cursor, ...filter } }) => {
      const page = { limit, after: afterId(cursor) };
      const isLinked = ctx.link !== null;
      const list = studyList(ctx, shown, isLinked ? { ...filter, status: "completed" } : filter);
      const { items, next_cursor } = await readListPage(list, page, ctx.answer);
      return { monte_carlos: isLinked ? items.map(shareMonteCarlo) : [...items], next_cursor };
    }),
});

/** A completed simulation as strangers read it. */
function shareMonteCarlo({ result, ...each }: z.infer<typeof monteCarloSchema>): z.infer<typeof monteCarloSchema> {
  return { ...each, result: result && { ...result, failed_paths: result.failed_paths.map(shareError) } };
}

/** Procedures with streams, which only REST can carry. */
export const monteCarloStreamsRouter = router({
  ...runStreams(shown),

  /** The figures of all paths of a simulation. */
  paths: userProcedure
    .input(inputObject({ id: idSchema, format: formatSchema }))
    .query(async ({ ctx, input: { id, format } }): Promise<ListAnswer> => {
      const pages = readPathRows(ctx, await monteCarloRuns.find(ctx.db, id, ctx.user.id));
      return { name: "paths", pages, table: { format, columns: PATH_COLUMNS, isPage: false } };
    }),

  /** The curves of the first paths of a simulation. */
  curves: userProcedure
    .input(inputObject({ id: idSchema, format: formatSchema }))
    .query(async ({ ctx, input: { id, format } }): Promise<ListAnswer> => {
      const pages = readPointRows(ctx, await monteCarloRuns.find(ctx.db, id, ctx.user.id));
      return { name: "curves", pages, table: { format, columns: POINT_COLUMNS, isPage: false } };
    }),

  /** The caller's Monte Carlo simulations, newest first: all of them, or a page; with `backtest_id`, only those of it. */
  list: userProcedure
    .input(inputObject({ ...listShape, ...studyFilterShape }))
    .query(({ ctx, input: { limit, cursor, ...filter } }): ListAnswer => {
      const pages = readList(studyList(ctx, shown, filter), { limit, after: afterId(cursor) }, ctx.answer);
      return { name: "monte_carlos", pages };
    }),
});
