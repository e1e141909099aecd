/** The files of a link's record, as its owner gets them and within the same limits. */
import { z } from "zod";
import { backtestsRouter, backtestsStreamsRouter, EXPORT_SHAPES } from "../backtests/backtests.ts";
import { answerCurve } from "../backtests/curve_answer.ts";
import { mustGet } from "../backtests/owned_backtest.ts";
import { AppError } from "../common/errors.ts";
import { inputObject } from "../common/input_object.ts";
import { type Link, openLink } from "../common/link.ts";
import {
  type Context,
  createCallerFactory,
  publicProcedure,
  router,
  standForOwner,
  type UserContext,
} from "../common/trpc.ts";
import { optimizationsStreamsRouter, TRIALS_SHAPE } from "../optimizations/optimizations.ts";

const TOKEN_LENGTH_MAX = 100;

/** The token in the address of a link. */
export const tokenShape = { token: z.string().max(TOKEN_LENGTH_MAX) };

const runCaller = createCallerFactory(backtestsRouter);
const runFileCaller = createCallerFactory(backtestsStreamsRouter);
const trialCaller = createCallerFactory(optimizationsStreamsRouter);

/** Procedures with streams, which only REST can carry. */
export const sharesStreamsRouter = router({
  /** The run of a link as a report. */
  report: publicProcedure.input(inputObject(tokenShape)).query(async ({ ctx, input: { token } }) => {
    const { reader, id } = await openFor(ctx, token, "backtest");
    return await runCaller(reader).report({ id });
  }),

  /** The trades of a link's run: all of them, or a page. */
  trades: publicProcedure
    .input(inputObject({ ...tokenShape, ...EXPORT_SHAPES.trades }))
    .query(async ({ ctx, input: { token, ...request } }) => {
      const { reader, id } = await openFor(ctx, token, "backtest");
      return await runFileCaller(reader).trades({ id, ...request });
    }),

  /** The orders of a link's run: all of them, or a page. */
  orders: publicProcedure
    .input(inputObject({ ...tokenShape, ...EXPORT_SHAPES.orders }))
    .query(async ({ ctx, input: { token, ...request } }) => {
      const { reader, id } = await openFor(ctx, token, "backtest");
      return await runFileCaller(reader).orders({ id, ...request });
    }),

  /** The equity curve of a link's run. */
  equity: publicProcedure
    .input(inputObject({ ...tokenShape, ...EXPORT_SHAPES.equity }))
    .query(async ({ ctx, input: { token, ...request } }) => {
      const { reader, id } = await openFor(ctx, token, "backtest");
      return await answerCurve(reader, await mustGet(ctx.db, id, reader.user.id), request);
    }),

  /** The returns of a link's run. */
  returns: publicProcedure
    .input(inputObject({ ...tokenShape, ...EXPORT_SHAPES.returns }))
    .query(async ({ ctx, input: { token, ...request } }) => {
      const { reader, id } = await openFor(ctx, token, "backtest");
      return await runFileCaller(reader).returns({ id, ...request });
    }),

  /** The weights and profits of a link's run over many markets. */
  holdings: publicProcedure
    .input(inputObject({ ...tokenShape, ...EXPORT_SHAPES.holdings }))
    .query(async ({ ctx, input: { token, ...request } }) => {
      const { reader, id } = await openFor(ctx, token, "backtest");
      return await runFileCaller(reader).holdings({ id, ...request });
    }),

  /** The trials of a link's optimization: all of them, or a page. */
  trials: publicProcedure
    .input(inputObject({ ...tokenShape, ...TRIALS_SHAPE }))
    .query(async ({ ctx, input: { token, ...request } }) => {
      const { reader, id } = await openFor(ctx, token, "optimization");
      return await trialCaller(reader).trials({ id, ...request });
    }),
});

/** The one record of a link, and a reader who stands for its owner. @throws AppError SHARE_NOT_FOUND for a link to something else. */
async function openFor(
  ctx: Context,
  token: string,
  kind: Link["kind"],
): Promise<{ readonly reader: UserContext; readonly id: string }> {
  const link = await openLink(ctx.db, token);
  const [id] = link.ids;
  if (link.kind === kind && id !== undefined) return { reader: { ...ctx, ...standForOwner(link), link }, id };
  throw new AppError("SHARE_NOT_FOUND", `Cannot read this by the link: it shows no ${kind} of its own`);
}
