import { z } from "zod";
import { v7 as uuidv7 } from "uuid";
import type { Db } from "../../db/client.ts";
import { lockUser } from "../../db/quotas.ts";
import {
  deleteShare,
  insertShare,
  listShares,
  readSharedRuns,
  type ShareRow,
  type ShareSubject,
} from "../../db/shares.ts";
import { DAY_MS } from "../../market/timeframes.ts";
import { compareBacktests, COMPARED_MAX, COMPARED_MIN, comparisonSchema } from "../backtests/backtest_comparison.ts";
import { backtestSchema } from "../backtests/backtest_records.ts";
import { mustGet, requireCompleted } from "../backtests/owned_backtest.ts";
import { AppError, quote } from "../common/errors.ts";
import { inputObject } from "../common/input_object.ts";
import { decodeCursor, pageShape, readListPage } from "../common/paging.ts";
import { requireRoomForShare } from "../common/quotas.ts";
import {
  type Context,
  publicProcedure,
  recordedUserProcedure,
  router,
  standForOwner,
  type UserContext,
  userProcedure,
} from "../common/trpc.ts";
import { optimizationSchema, toOptimization } from "../optimizations/optimization_records.ts";
import { optimizationRuns } from "../optimizations/optimization_runs.ts";
import { idSchema } from "../runs/runs.ts";
import { type Link, LINK_KINDS, makeLinkToken, openLink, toLink } from "../common/link.ts";
import { tokenShape } from "./shared_files.ts";
import { shareComparison, shareParameters, toShareable } from "../backtests/shareable.ts";

const DAYS_DEFAULT = 30;
const DAYS_MAX = 366;
const COMPARISON_POINTS = 1_000;

/** A link as its owner sees it, without its token. */
const shareSchema = z.object({
  id: z.uuid(),
  kind: z.enum(LINK_KINDS).describe("The record that it shows."),
  backtest_ids: z.array(z.uuid()).describe("The run, or those of a comparison; empty for an optimization."),
  optimization_id: z.uuid().nullable().describe("Null but for an optimization."),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().describe("From then on, it opens nothing."),
}).meta({ id: "Share" });

const subjectShape = {
  backtest_id: idSchema.optional().describe("The run to show."),
  backtest_ids: z.array(idSchema).min(COMPARED_MIN).max(COMPARED_MAX).optional().describe("The runs to show compared."),
  optimization_id: idSchema.optional().describe("The optimization to show."),
};
const shareRequestSchema = inputObject({
  ...subjectShape,
  expires_in_days: z.int().min(1).max(DAYS_MAX).default(DAYS_DEFAULT).describe("Days until it opens nothing."),
}).refine(
  ({ backtest_id, backtest_ids, optimization_id }) =>
    [backtest_id, backtest_ids, optimization_id].filter((given) => given !== undefined).length === 1,
  "must have one of backtest_id, backtest_ids and optimization_id",
);

/** The answer to an opened link. The record of its kind is there, the others are null. */
const sharedSchema = z.object({
  kind: z.enum(LINK_KINDS).describe("The record that it shows."),
  expires_at: z.iso.datetime().describe("From then on, the link opens nothing."),
  backtest: backtestSchema.nullable().describe("Without notes, tags, code and its place."),
  optimization: optimizationSchema.nullable().describe("Without code and its place."),
  comparison: comparisonSchema.nullable(),
});

export const sharesRouter = router({
  /** The caller's links that have not expired, newest first; with an id, those to that run or optimization. */
  list: userProcedure
    .input(inputObject({
      ...pageShape,
      backtest_id: subjectShape.backtest_id,
      optimization_id: subjectShape.optimization_id,
    }))
    .output(z.object({ shares: z.array(shareSchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input: { limit, cursor, backtest_id: backtestId, optimization_id: optimizationId } }) => {
      const ownerId = ctx.user.id;
      const isId = (id: string) => z.uuid().safeParse(id).success;
      const [wanted] = [backtestId, optimizationId].filter((id) => id !== undefined);
      const subject = backtestId !== undefined
        ? { backtestId }
        : optimizationId !== undefined
        ? { optimizationId }
        : undefined;
      const { items, next_cursor } = await readListPage(
        {
          // Any text is looked up: an id that is no UUID has none.
          read: async (after, count) =>
            wanted === undefined || isId(wanted)
              ? await listShares(ctx.db, { ownerId, subject, after, limit: count })
              : [],
          key: ({ id }) => id,
          show,
          pieceRows: 100,
        },
        { limit, after: decodeCursor(cursor, z.uuid()) },
        ctx.answer,
      );
      return { shares: [...items], next_cursor };
    }),

  /** Makes a link to one of the caller's records. The answer alone has its token: only a hash is kept. */
  create: recordedUserProcedure
    .input(inputObject({ share: shareRequestSchema }))
    .output(z.object({ share: shareSchema, token: z.string(), path: z.string() }))
    .mutation(async ({ ctx, input: { share: { expires_in_days: days, ...wanted } } }) => {
      const { subject, comparedIds } = await findSubject(ctx, wanted);
      const { token, tokenSha256 } = makeLinkToken();
      const row = await ctx.db.transaction(async (tx: Db) => {
        await lockUser(tx, ctx.user.id);
        await requireRoomForShare(tx, ctx.user.id, subject);
        return await insertShare(tx, {
          id: uuidv7(),
          ownerId: ctx.user.id,
          tokenSha256,
          ...{ backtestId: null, optimizationId: null, ...subject },
          comparedIds,
          expiresAt: new Date(Date.now() + days * DAY_MS),
        });
      });
      return { share: show(row), token, path: `/shared/${token}` };
    }),

  /** Revokes one of the caller's links: it opens nothing any more. */
  revoke: recordedUserProcedure.input(inputObject({ id: idSchema })).mutation(async ({ ctx, input: { id } }) => {
    const isKnown = z.uuid().safeParse(id).success;
    if (isKnown && await deleteShare(ctx.db, { id, ownerId: ctx.user.id })) return;
    throw new AppError("SHARE_NOT_FOUND", `Cannot find the link ${quote(id)}`);
  }),

  /** Opens a link for everybody who has it. */
  open: publicProcedure
    .input(inputObject(tokenShape))
    .output(sharedSchema)
    .query(async ({ ctx, input: { token } }) => {
      const link = await openLink(ctx.db, token);
      const shown = { kind: link.kind, expires_at: link.expiresAt.toISOString() };
      return { ...shown, backtest: null, optimization: null, comparison: null, ...await readShown(ctx, link) };
    }),
});

/** The record of a link. */
async function readShown(ctx: Context, link: Link) {
  const [id = ""] = link.ids;
  if (link.kind === "backtest") return { backtest: toShareable(await mustGet(ctx.db, id, link.ownerId)) };
  if (link.kind === "optimization") {
    const optimization = toOptimization(await optimizationRuns.find(ctx.db, id, link.ownerId));
    return { optimization: { ...optimization, parameters: shareParameters(optimization.parameters) } };
  }
  const reader = { ...ctx, ...standForOwner(link), link };
  // The others stay comparable where a run was deleted.
  const ids = (await readSharedRuns(ctx.db, link.ownerId, link.ids)).map((run) => run.id);
  if (ids.length < COMPARED_MIN) {
    throw new AppError("SHARE_NOT_FOUND", "Cannot open the link: runs that it compared were deleted");
  }
  return { comparison: shareComparison(await compareBacktests(reader, { ids, points: COMPARISON_POINTS })) };
}

/** The record that a new link shows, which must be the caller's and have a result. */
async function findSubject(
  ctx: UserContext,
  { backtest_id, backtest_ids, optimization_id }: {
    readonly backtest_id?: string | undefined;
    readonly backtest_ids?: readonly string[] | undefined;
    readonly optimization_id?: string | undefined;
  },
): Promise<{ readonly subject: ShareSubject; readonly comparedIds: string[] | null }> {
  if (optimization_id !== undefined) {
    const { id, status } = await optimizationRuns.find(ctx.db, optimization_id, ctx.user.id);
    if (status === "completed") return { subject: { optimizationId: id }, comparedIds: null };
    throw new AppError(
      "NOT_COMPLETED",
      `Cannot share the optimization ${id}: it is ${status}, and only a completed one is shared`,
    );
  }
  const ids: string[] = [];
  for (const each of backtest_ids ?? [backtest_id ?? ""]) {
    const { id } = requireCompleted(await mustGet(ctx.db, each, ctx.user.id), "share");
    if (ids.includes(id)) throw namedTwice(id);
    ids.push(id);
  }
  const [backtestId = ""] = ids;
  return { subject: { backtestId }, comparedIds: backtest_ids === undefined ? null : ids };
}

function namedTwice(id: string): AppError {
  const message = `must name each backtest once, not ${id} twice`;
  return new AppError("VALIDATION_FAILED", `Cannot share the comparison: /share/backtest_ids ${message}`, {
    issues: [{ path: "/share/backtest_ids", message }],
  });
}

function show(row: ShareRow): z.infer<typeof shareSchema> {
  const { id, kind, ids, expiresAt } = toLink(row);
  return {
    id,
    kind,
    backtest_ids: kind === "optimization" ? [] : [...ids],
    optimization_id: row.optimizationId,
    created_at: row.createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
  };
}
