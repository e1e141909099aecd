import { z } from "zod";
import { type MonteCarlo, ofBacktest } from "../../db/monte_carlos.ts";
import { BACKTEST_STATUSES } from "../../db/schema.ts";
import { inputObject } from "../common/input_object.ts";
import { type List, type ListAnswer, listShape, pageShape, readList, readListPage } from "../common/paging.ts";
import { afterId, newestFirst, runProcedures, runStreams } from "../runs/run_procedures.ts";
import { idSchema } from "../runs/runs.ts";
import { router, type UserContext, userProcedure } from "../common/trpc.ts";
import { monteCarloSchema, toMonteCarlo } from "./monte_carlo_records.ts";
import { monteCarloRuns } from "./monte_carlo_runs.ts";
import { monteCarloRequestSchema, submitMonteCarlo } from "./monte_carlo_submission.ts";

const filterShape = { backtest_id: idSchema.optional(), status: z.enum(BACKTEST_STATUSES).optional() };
type Filter = z.infer<z.ZodObject<typeof filterShape>>;

const shown = {
  runs: monteCarloRuns,
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
  list: userProcedure
    .input(inputObject({ ...pageShape, ...filterShape }))
    .output(z.object({ monte_carlos: z.array(monteCarloSchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input: { limit, cursor, ...filter } }) => {
      const page = { limit, after: afterId(cursor) };
      const { items, next_cursor } = await readListPage(monteCarloList(ctx, filter), page, ctx.answer);
      return { monte_carlos: [...items], next_cursor };
    }),
});

/** Procedures with streams, which only REST can carry. */
export const monteCarloStreamsRouter = router({
  ...runStreams(shown),

  /** The caller's Monte Carlo simulations, newest first: all of them, or a page; with `backtest_id`, only those of it. */
  list: userProcedure
    .input(inputObject({ ...listShape, ...filterShape }))
    .query(({ ctx, input: { limit, cursor, ...filter } }): ListAnswer => {
      const pages = readList(monteCarloList(ctx, filter), { limit, after: afterId(cursor) }, ctx.answer);
      return { name: "monte_carlos", pages };
    }),
});

function monteCarloList(
  ctx: UserContext,
  { backtest_id: backtestId, status }: Filter,
): List<MonteCarlo, z.infer<typeof monteCarloSchema>> {
  const where = backtestId === undefined ? undefined : ofBacktest(backtestId);
  const list = newestFirst(ctx, monteCarloRuns, { status, where }, { show: toMonteCarlo, pieceRows: 20 });
  // Any text is looked up: an id that is no UUID has none.
  const isKnown = backtestId === undefined || z.uuid().safeParse(backtestId).success;
  return isKnown ? list : { ...list, read: () => Promise.resolve([]) };
}
