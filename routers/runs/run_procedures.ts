import { z } from "zod";
import type { RunFilter, RunRow } from "../../db/runs.ts";
import { inputObject } from "../common/input_object.ts";
import { decodeCursor, type List } from "../common/paging.ts";
import { leavingOutUnreadable } from "../common/stored_records.ts";
import { type UserContext, userProcedure } from "../common/trpc.ts";
import { idSchema, type Runs, toRecordEvents, waitShape } from "./runs.ts";

/** A kind of runs, as clients see them. @typeParam Item A record as clients read it. @typeParam Answer The answer that has one. */
interface ShownRuns<Row extends RunRow, Item extends object, Answer, Request, Wrapped> {
  readonly runs: Runs<Row>;
  /** The request for a new one, as clients wrap it. */
  readonly createSchema: z.ZodType<{ readonly request: Request }, Wrapped>;
  readonly answerSchema: z.ZodType<Answer>;
  submit(ctx: UserContext, request: Request): Promise<Row>;
  show(row: Row): Item;
  /** Like `show`, with more that is read for a single record; default: nothing more. */
  showOne?(ctx: UserContext, row: Row): Promise<Item>;
  answer(item: Item): Answer;
  /** Identifies a state of a record, for `Last-Event-ID`. */
  eventId(row: Row): string;
}

/** The procedures of a kind of runs: submit, read, follow, cancel and delete one. */
export function runProcedures<Row extends RunRow, Item extends object, Answer, Request, Wrapped>(
  { runs, createSchema, answerSchema, submit, show, showOne, answer }: ShownRuns<
    Row,
    Item,
    Answer,
    Request,
    Wrapped
  >,
) {
  return {
    /** Accepts a run: it is checked now and runs later. A repeated Idempotency-Key gets the first record again. */
    create: userProcedure
      .input(createSchema)
      .output(answerSchema)
      .mutation(async ({ ctx, input }) => answer(show(await submit(ctx, input.request)))),

    /** One of the caller's runs; with `wait`, once it has ended, or after that time. */
    get: userProcedure
      .input(inputObject({ id: idSchema, ...waitShape }))
      .output(answerSchema)
      .query(async ({ ctx, input: { id, wait }, signal }) => {
        const row = await runs.get(ctx, id, wait, signal);
        return answer(wait === 0 && showOne !== undefined ? await showOne(ctx, row) : show(row));
      }),

    /** One of the caller's runs, now and after each change, until it has ended. A client that loses the connection calls again. */
    onEvent: userProcedure
      .input(inputObject({ id: idSchema }))
      .subscription(async function* ({ ctx, input, signal }) {
        for await (const each of runs.followToEnd(ctx, input.id, signal)) yield show(each);
      }),

    /** Stops one of the caller's runs: a queued one at once, a running one within two seconds. What it has stored stays. */
    cancel: userProcedure
      .input(inputObject({ id: idSchema }))
      .output(answerSchema)
      .mutation(async ({ ctx, input }) => answer(show(await runs.cancel(ctx, input.id)))),

    /** Removes one of the caller's runs, running or not, with all that belongs to it. */
    delete: userProcedure.input(inputObject({ id: idSchema })).mutation(async ({ ctx, input }) => {
      await runs.delete(ctx, input.id);
    }),
  };
}

/** The procedures with streams of a kind of runs, which only REST can carry. */
export function runStreams<Row extends RunRow, Item extends object, Answer, Request, Wrapped>(
  { runs, show, answer, eventId }: ShownRuns<Row, Item, Answer, Request, Wrapped>,
) {
  return {
    /** Server-sent events: the record after each change, the last one named `end`. */
    events: userProcedure
      .input(inputObject({ id: idSchema }))
      .query(async ({ ctx, input, signal }) =>
        toRecordEvents(
          runs.follow(ctx, await runs.find(ctx.db, input.id, ctx.user.id), signal),
          (row) => ({ id: eventId(row), data: answer(show(row)) }),
        )
      ),
  };
}

/** One user's runs, the newest first, as far as they fulfil conditions. */
export function newestFirst<Row extends RunRow, Item>(
  { db, user }: UserContext,
  runs: Runs<Row>,
  filter: RunFilter,
  { show, pieceRows }: { readonly show: (row: Row) => Item; readonly pieceRows: number },
): List<Row, Item> {
  const read = (after: string | undefined, limit: number) =>
    runs.records.list(db, { ...filter, ownerId: user.id, after, limit });
  return { read, key: ({ id }) => id, show: leavingOutUnreadable(show), pieceRows };
}

/** The place of a cursor in newestFirst(). */
export const afterId = (cursor: string | undefined) => decodeCursor(cursor, z.uuid());
