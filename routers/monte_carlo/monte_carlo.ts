import { z } from "zod";
import { subtractSizes } from "../../db/backtest_sizes.ts";
import type { Db } from "../../db/client.ts";
import {
  cancelMonteCarlo,
  deleteMonteCarlo,
  getMonteCarlo,
  listMonteCarlos,
  type MonteCarlo,
} from "../../db/monte_carlos.ts";
import { BACKTEST_STATUSES } from "../../db/schema.ts";
import { AppError, quote } from "../errors.ts";
import { inputObject } from "../input_object.ts";
import { monteCarloSchema, toMonteCarlo } from "./monte_carlo_records.ts";
import { monteCarloRequestSchema, submitMonteCarlo } from "./monte_carlo_submission.ts";
import { idSchema } from "../backtests/owned_backtest.ts";
import { decodeCursor, type List, type ListAnswer, listShape, pageShape, readList, readListPage } from "../paging.ts";
import { RecordFollower, toRecordEvents, waitShape } from "../runs/record_follower.ts";
import { type Context, router, type User, userProcedure } from "../trpc.ts";

const answerSchema = z.object({ monte_carlo: monteCarloSchema });
const filterShape = { backtest_id: idSchema.optional(), status: z.enum(BACKTEST_STATUSES).optional() };
type UserContext = Context & { readonly user: User };

const follower = new RecordFollower<MonteCarlo>({
  name: "the Monte Carlo simulation",
  watch: ({ queue }, id, onChange) => queue.watchMonteCarlo(id, onChange),
  read: ({ db }, key) => getMonteCarlo(db, key),
  notFound,
});

export const monteCarloRouter = router({
  /** A page of the caller's Monte Carlo simulations, newest first; with `backtest_id`, only those of it. */
  list: userProcedure
    .input(inputObject({ ...pageShape, ...filterShape }))
    .output(z.object({ monte_carlos: z.array(monteCarloSchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input: { limit, cursor, ...filter } }) => {
      const page = { limit, after: afterId(cursor) };
      const { items, next_cursor } = await readListPage(monteCarloList(ctx, filter), page, ctx.answer);
      return { monte_carlos: [...items], next_cursor };
    }),

  /**
   * Accepts a Monte Carlo simulation of one of the caller's completed backtests: it is checked now and runs later. A repeated
   * Idempotency-Key gets the first record again.
   */
  create: userProcedure
    .input(inputObject({ monte_carlo: monteCarloRequestSchema }))
    .output(answerSchema)
    .mutation(async ({ ctx, input }) => ({
      monte_carlo: toMonteCarlo(await submitMonteCarlo(ctx, input.monte_carlo)),
    })),

  /** One of the caller's Monte Carlo simulations; with `wait`, once it has ended, or after so many seconds. */
  get: userProcedure
    .input(inputObject({ id: idSchema, ...waitShape }))
    .output(answerSchema)
    .query(async ({ ctx, input, signal }) => ({
      monte_carlo: toMonteCarlo(await follower.get(ctx, input.id, input.wait, signal)),
    })),

  /** One of the caller's Monte Carlo simulations, now and after changes, until it has ended. */
  onEvent: userProcedure
    .input(inputObject({ id: idSchema }))
    .subscription(async function* ({ ctx, input, signal }) {
      for await (const each of follower.followToEnd(ctx, input.id, signal)) yield toMonteCarlo(each);
    }),

  /** Stops one of the caller's Monte Carlo simulations: a queued one at once, a running one within a second. */
  cancel: userProcedure
    .input(inputObject({ id: idSchema }))
    .output(answerSchema)
    .mutation(async ({ ctx, input }) => {
      const key = { id: (await follower.get(ctx, input.id)).id, ownerId: ctx.user.id };
      return await ctx.db.transaction(async (tx: Db) => {
        const row = await cancelMonteCarlo(tx, key);
        await ctx.queue.dequeueMonteCarlo(tx, key.id);
        if (row !== null) return { monte_carlo: toMonteCarlo(row) };
        const message = `Cannot cancel the Monte Carlo simulation ${key.id}: it has ended`;
        throw new AppError("NOT_CANCELLABLE", message);
      });
    }),

  /** Removes one of the caller's Monte Carlo simulations, running or not. */
  delete: userProcedure.input(inputObject({ id: idSchema })).mutation(async ({ ctx, input }) => {
    const row = await follower.get(ctx, input.id);
    await ctx.db.transaction(async (tx: Db) => {
      const removed = await deleteMonteCarlo(tx, row);
      await ctx.queue.dequeueMonteCarlo(tx, row.id);
      await subtractSizes(tx, removed);
    });
  }),
});

/** Procedures with streams, which only REST can carry. */
export const monteCarloStreamsRouter = router({
  /** The caller's Monte Carlo simulations, newest first: all of them, or a page; with `backtest_id`, only those of it. */
  list: userProcedure
    .input(inputObject({ ...listShape, ...filterShape }))
    .query(({ ctx, input: { limit, cursor, ...filter } }): ListAnswer => {
      const pages = readList(monteCarloList(ctx, filter), { limit, after: afterId(cursor) }, ctx.answer);
      return { name: "monte_carlos", pages };
    }),

  /** Server-sent events: the record after changes, the last one named `end`. */
  events: userProcedure
    .input(inputObject({ id: idSchema }))
    .query(async ({ ctx, input, signal }) => {
      const row = await follower.get(ctx, input.id);
      return toRecordEvents(follower.follow(ctx, row, signal), (each) => ({
        id: `${each.attempts}-${each.status}-${each.progress}`,
        data: { monte_carlo: toMonteCarlo(each) },
      }));
    }),
});

const afterId = (cursor: string | undefined) => decodeCursor(cursor, z.uuid());

function monteCarloList(
  { db, user }: UserContext,
  { backtest_id: backtestId, status }: {
    readonly backtest_id?: string | undefined;
    readonly status?: MonteCarlo["status"] | undefined;
  },
): List<MonteCarlo, z.infer<typeof monteCarloSchema>> {
  // Any text is looked up: an id that is no UUID has none.
  const isKnown = backtestId === undefined || z.uuid().safeParse(backtestId).success;
  const read = async (after: string | undefined, limit: number) =>
    isKnown ? await listMonteCarlos(db, { ownerId: user.id, backtestId, status, after, limit }) : [];
  return { read, key: ({ id }) => id, show: toMonteCarlo, pieceRows: 20 };
}

function notFound(id: string): AppError {
  return new AppError("MONTE_CARLO_NOT_FOUND", `Cannot find the Monte Carlo simulation ${quote(id)}`);
}
