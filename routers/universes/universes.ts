import { z } from "zod";
import type { Db } from "../../db/client.ts";
import { lockUser } from "../../db/quotas.ts";
import {
  deleteUniverse,
  insertUniverse,
  insertUniverseVersion,
  listUniverses,
  listUniverseVersions,
  type Member,
  type UniverseRow,
  updateUniverse,
} from "../../db/universes.ts";
import { AppError, mustBe } from "../common/errors.ts";
import { columnsOf, formatSchema } from "../common/formats.ts";
import { inputObject } from "../common/input_object.ts";
import { NO_TEXT, plainText } from "../common/plain_text.ts";
import {
  decodeCursor,
  integerSchema,
  type List,
  type ListAnswer,
  listShape,
  pageShape,
  readList,
  readListPage,
} from "../common/paging.ts";
import { leavingOutUnreadable } from "../common/stored_records.ts";
import { requireRoomForUniverse } from "../common/quotas.ts";
import { type Context, router, type User, userProcedure } from "../common/trpc.ts";
import { mustFindUniverse, readUniverse } from "./find_universe.ts";
import { membersShape, toMembers } from "./members.ts";
import {
  memberAnswerSchema,
  toUniverse,
  toUniverseVersion,
  universeSchema,
  universeVersionSchema,
} from "./universe_records.ts";

type UserContext = Context & { readonly user: User };

const slugInput = inputObject({ slug: z.string().max(64) });
const versionInput = { slug: z.string().max(64), version: integerSchema.pipe(z.int().min(1)).optional() };
const filters = { search: z.string().max(100).optional() };
const textShape = { description: plainText(NO_TEXT, 4000), is_public: z.boolean() };

const universeRequestSchema = inputObject({
  slug: z.string().min(3).max(64).regex(
    /^[a-z0-9]+(-[a-z0-9]+)*$/,
    mustBe("lower-case letters and digits, in parts joined by single hyphens"),
  ),
  description: textShape.description.default(""),
  is_public: textShape.is_public.default(false),
  ...membersShape,
});

export const universesRouter = router({
  /** A page of the caller's own universes and public ones, newest first. */
  list: userProcedure
    .input(inputObject({ ...pageShape, ...filters }))
    .output(z.object({ universes: z.array(universeSchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input: { limit, cursor, search } }) => {
      const list = universeList(ctx, search);
      const { items, next_cursor } = await readListPage(list, { limit, after: afterId(cursor) }, ctx.answer);
      return { universes: [...items], next_cursor };
    }),

  /** One universe. */
  get: userProcedure
    .input(slugInput)
    .output(z.object({ universe: universeSchema }))
    .query(async ({ ctx, input: { slug } }) => ({
      universe: toUniverse(await mustFindUniverse(ctx, slug), ctx.user.id),
    })),

  /** A page of the members of a version, the newest by default, in the order in which they were written. */
  members: userProcedure
    .input(inputObject({ ...versionInput, ...pageShape }))
    .output(z.object({ members: z.array(memberAnswerSchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input: { slug, version, limit, cursor } }) => {
      const list = memberList((await readUniverse(ctx, slug, version)).members);
      const { items, next_cursor } = await readListPage(list, { limit, after: afterNumber(cursor) }, ctx.answer);
      return { members: [...items], next_cursor };
    }),

  /** Makes a universe with its first version. */
  create: userProcedure
    .input(inputObject({ universe: universeRequestSchema }))
    .output(z.object({ universe: universeSchema }))
    .mutation(async ({ ctx, input: { universe } }) => {
      const members = toMembers(universe, "/universe");
      const { slug, description, is_public: isPublic } = universe;
      const row = await ctx.db.transaction(async (tx: Db) => {
        await lockUser(tx, ctx.user.id);
        const made = await insertUniverse(tx, { ownerId: ctx.user.id, slug, description, isPublic }, members);
        await requireRoomForUniverse(tx, ctx.user.id);
        return made;
      });
      if (row === null) throw new AppError("SLUG_TAKEN", `Cannot make ${slug}: the slug is taken`);
      return { universe: toUniverse(row, ctx.user.id) };
    }),

  /** Changes the words of one's own universe; its members change with a new version. */
  update: userProcedure
    .input(
      inputObject({ slug: z.string().max(64), universe: inputObject(z.strictObject(textShape).partial().shape) }),
    )
    .output(z.object({ universe: universeSchema }))
    .mutation(async ({ ctx, input: { slug, universe } }) => {
      await mustOwn(ctx, slug);
      const changes = { description: universe.description, isPublic: universe.is_public };
      const present = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
      await updateUniverse(ctx.db, { slug, ownerId: ctx.user.id }, present);
      return { universe: toUniverse(await mustFindUniverse(ctx, slug), ctx.user.id) };
    }),

  /** Removes one's own universe. Runs keep the members that they used. */
  delete: userProcedure.input(slugInput).mutation(async ({ ctx, input: { slug } }) => {
    await mustOwn(ctx, slug);
    await deleteUniverse(ctx.db, { slug, ownerId: ctx.user.id });
  }),

  /** The versions of a universe, highest first. */
  versions: userProcedure
    .input(inputObject({ slug: z.string().max(64), ...pageShape }))
    .output(z.object({ versions: z.array(universeVersionSchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input: { slug, limit, cursor } }) => {
      const { universe } = await mustFindUniverse(ctx, slug);
      const list = {
        read: (after: string | undefined, count: number) =>
          listUniverseVersions(ctx.db, {
            universeId: universe.id,
            below: after === undefined ? undefined : Number(after),
            limit: count,
          }),
        key: (row: { readonly version: number }) => String(row.version),
        show: toUniverseVersion,
        pieceRows: 200,
      };
      const { items, next_cursor } = await readListPage(list, { limit, after: afterNumber(cursor) }, ctx.answer);
      return { versions: [...items], next_cursor };
    }),

  /** Adds a version to one's own universe; older ones stay as they are. */
  addVersion: userProcedure
    .input(inputObject({ slug: z.string().max(64), version: inputObject(membersShape) }))
    .output(z.object({ version: universeVersionSchema }))
    .mutation(async ({ ctx, input: { slug, version } }) => {
      const members = toMembers(version, "/version");
      const added = await ctx.db.transaction(async (tx: Db) => {
        await lockUser(tx, ctx.user.id);
        const { universe, latest } = await mustOwn({ ...ctx, db: tx }, slug);
        const row = await insertUniverseVersion(tx, universe.id, latest.version + 1, members);
        await requireRoomForUniverse(tx, ctx.user.id);
        return row;
      });
      return { version: toUniverseVersion(added) };
    }),
});

/** Procedures with streams, which only REST can carry. */
export const universesStreamsRouter = router({
  /** The universes: all of them, or a page where there is a limit. */
  list: userProcedure
    .input(inputObject({ ...listShape, ...filters }))
    .query(({ ctx, input: { limit, cursor, search } }): ListAnswer => ({
      name: "universes",
      pages: readList(universeList(ctx, search), { limit, after: afterId(cursor) }, ctx.answer),
    })),

  /** The members of a version: all of them, or a page where there is a limit. */
  members: userProcedure
    .input(inputObject({ ...versionInput, ...listShape, format: formatSchema }))
    .query(async ({ ctx, input: { slug, version, limit, cursor, format } }): Promise<ListAnswer> => {
      const list = memberList((await readUniverse(ctx, slug, version)).members);
      return {
        name: "members",
        pages: readList(list, { limit, after: afterNumber(cursor) }, ctx.answer),
        table: { format, columns: columnsOf(memberAnswerSchema), isPage: limit !== undefined },
      };
    }),
});

const afterId = (cursor: string | undefined) => decodeCursor(cursor, z.uuid());
const afterNumber = (cursor: string | undefined) => decodeCursor(cursor, z.string().regex(/^\d{1,9}$/));

function universeList(ctx: UserContext, search: string | undefined) {
  return {
    read: (before: string | undefined, limit: number) =>
      listUniverses(ctx.db, { userId: ctx.user.id, search, before, limit }),
    key: (row: UniverseRow) => row.universe.id,
    show: leavingOutUnreadable((row: UniverseRow) => toUniverse(row, ctx.user.id)),
    pieceRows: 100,
  };
}

function memberList(members: readonly Member[]): List<Member & { readonly number: number }, Member> {
  return {
    read: (after, limit) => {
      const first = after === undefined ? 0 : Number(after) + 1;
      return Promise.resolve(
        members.slice(first, first + limit).map((member, index) => ({ ...member, number: first + index })),
      );
    },
    key: ({ number }) => String(number),
    show: ({ symbol, exchange, from, to }) => ({ symbol, exchange, from, to }),
    pieceRows: 1_000,
  };
}

/** A universe of the caller's own: what others made public they may see and use, and not change. */
async function mustOwn(ctx: UserContext, slug: string): Promise<UniverseRow> {
  const row = await mustFindUniverse(ctx, slug);
  if (row.universe.ownerId === ctx.user.id) return row;
  throw new AppError("FORBIDDEN", `Cannot change ${slug}: it belongs to another user`);
}
