import { z } from "zod";
import type { Db } from "../db/client.ts";
import {
  cancelMonteCarlo,
  deleteMonteCarlo,
  getMonteCarlo,
  listMonteCarlos,
  type MonteCarlo,
} from "../db/monte_carlos.ts";
import { AppError, quote } from "./errors.ts";
import { inputObject } from "./input_object.ts";
import { monteCarloSchema, toMonteCarlo } from "./monte_carlo_records.ts";
import { monteCarloRequestSchema, submitMonteCarlo } from "./monte_carlo_submission.ts";
import { idSchema } from "./owned_backtest.ts";
import { decodeCursor, integerSchema, type List, pageShape, readListPage } from "./paging.ts";
import { type Context, router, type User, userProcedure } from "./trpc.ts";

const WAIT_SECONDS_MAX = 30;
// For callers that cannot leave.
const NEVER = new AbortController().signal;

const answerSchema = z.object({ monte_carlo: monteCarloSchema });

export const monteCarloRouter = router({
  /** A page of the caller's Monte Carlo simulations, newest first; with `backtest_id`, only those of it. */
  list: userProcedure
    .input(inputObject({ ...pageShape, backtest_id: idSchema.optional() }))
    .output(z.object({ monte_carlos: z.array(monteCarloSchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input: { limit, cursor, backtest_id } }) => {
      const page = { limit, after: decodeCursor(cursor, z.uuid()) };
      const { items, next_cursor } = await readListPage(listOf(ctx, backtest_id), page, ctx.answer);
      return { monte_carlos: [...items], next_cursor };
    }),

  /** Accepts a Monte Carlo simulation of one of the caller's completed backtests: it is checked now and runs later. */
  create: userProcedure
    .input(inputObject({ monte_carlo: monteCarloRequestSchema }))
    .output(answerSchema)
    .mutation(async ({ ctx, input }) => ({
      monte_carlo: toMonteCarlo(await submitMonteCarlo(ctx, input.monte_carlo)),
    })),

  /** One of the caller's Monte Carlo simulations; with `wait`, once it has ended, or after so many seconds. */
  get: userProcedure
    .input(inputObject({ id: idSchema, wait: integerSchema.pipe(z.int().min(0).max(WAIT_SECONDS_MAX)).default(0) }))
    .output(answerSchema)
    .query(async ({ ctx, input, signal = NEVER }) => {
      const row = await mustFind(ctx.db, input.id, ctx.user.id);
      return {
        monte_carlo: toMonteCarlo(input.wait === 0 ? row : await awaitEnd(ctx, row, input.wait * 1000, signal)),
      };
    }),

  /** Stops one of the caller's Monte Carlo simulations: a queued one at once, a running one within a second. */
  cancel: userProcedure
    .input(inputObject({ id: idSchema }))
    .output(answerSchema)
    .mutation(async ({ ctx, input }) => {
      const key = { id: (await mustFind(ctx.db, input.id, ctx.user.id)).id, ownerId: ctx.user.id };
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
    const key = { id: (await mustFind(ctx.db, input.id, ctx.user.id)).id, ownerId: ctx.user.id };
    await ctx.db.transaction(async (tx: Db) => {
      await deleteMonteCarlo(tx, key);
      await ctx.queue.dequeueMonteCarlo(tx, key.id);
    });
  }),
});

function listOf(
  { db, user }: Context & { readonly user: User },
  backtestId: string | undefined,
): List<MonteCarlo, z.infer<typeof monteCarloSchema>> {
  // Any text is looked up: an id that is no UUID has none.
  const isKnown = backtestId === undefined || z.uuid().safeParse(backtestId).success;
  const read = async (after: string | undefined, limit: number) =>
    isKnown ? await listMonteCarlos(db, { ownerId: user.id, backtestId, after, limit }) : [];
  return { read, key: ({ id }) => id, show: toMonteCarlo, pieceRows: 20 };
}

/** @throws AppError MONTE_CARLO_NOT_FOUND */
async function mustFind(db: Db, id: string, ownerId: string): Promise<MonteCarlo> {
  const row = z.uuid().safeParse(id).success ? await getMonteCarlo(db, { id, ownerId }) : null;
  if (row !== null) return row;
  throw new AppError("MONTE_CARLO_NOT_FOUND", `Cannot find the Monte Carlo simulation ${quote(id)}`);
}

/** Waits until a record is final, at most `waitMs`. @throws AppError MONTE_CARLO_NOT_FOUND when it is deleted. */
async function awaitEnd(ctx: Context, row: MonteCarlo, waitMs: number, signal: AbortSignal): Promise<MonteCarlo> {
  let changed = Promise.withResolvers<void>();
  const wake = () => changed.resolve();
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), waitMs);
  const stop = AbortSignal.any([signal, ctx.closing, timeout.signal]);
  stop.addEventListener("abort", wake);
  const unwatch = await ctx.queue.watchMonteCarlo(row.id, wake);
  try {
    for (;;) {
      // Before the look, so that no change between look and wait is missed.
      changed = Promise.withResolvers();
      const now = await mustFind(ctx.db, row.id, row.ownerId);
      if (stop.aborted || (now.status !== "queued" && now.status !== "running")) return now;
      await changed.promise;
    }
  } finally {
    clearTimeout(timer);
    stop.removeEventListener("abort", wake);
    unwatch();
  }
}
