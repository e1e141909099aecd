/** The trials of an optimization as a list: by number, or by a metric. */
import { z } from "zod";
import { SORT_ORDERS } from "../../db/backtest_lists.ts";
import type { Db } from "../../db/client.ts";
import type { StoredTrials, TrialRows } from "../../db/codec/trial_rows.ts";
import { readRecord } from "../../db/codec/unreadable.ts";
import type { Optimization } from "../../db/optimizations.ts";
import { findTrialChunk, readStoredTrials, readTrialMetric, trialsName } from "../../db/trial_chunks.ts";
import { NUMERIC_METRIC_NAMES } from "../../engine/metrics/definitions.ts";
import { AppError } from "../common/errors.ts";
import type { WrittenRows } from "../../workers/rows/rows_task.ts";
import type { ChunkSource } from "../../workers/rows/rows_worker.ts";
import type { Format } from "../../workers/rows/table_format.ts";
import { turnsOf } from "../common/large_reads.ts";
import { toTrial, type TrialAnswer } from "./optimization_records.ts";
import { optimizationRuns } from "./optimization_runs.ts";
import { decodeCursor, type List } from "../common/paging.ts";
import type { Context, UserContext } from "../common/trpc.ts";
import { FirstPlaces, type Place, type StoredPlace } from "./first_places.ts";
import { shareError } from "../runs/run_state.ts";

/** Most trials of a complete list by a metric: each piece of it looks at all of them. */
const SORTED_TRIALS_MAX = 50_000;

export const trialFilters = {
  sort: z.enum(["number", ...NUMERIC_METRIC_NAMES]).default("number"),
  order: z.enum(SORT_ORDERS).optional(),
};

type TrialsRequest = z.infer<z.ZodObject<typeof trialFilters>> & {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
};

/** Rows of a piece of a list that is written by the thread: a client's pace decides when the next one is. */
export const WRITTEN_ROWS = 200;

/** Reads chunks of trials. */
type Reading = Pick<Context, "db" | "rowsWorker">;

interface TrialRow extends Place {
  readonly trial: TrialAnswer;
}

/**
 * An optimization's trials, in the order and from the place that a request asks for. Trials without the metric come last.
 *
 * @throws AppError VALIDATION_FAILED for a complete list by a metric of too many trials.
 */
export function trialList(
  ctx: Reading & Pick<Context, "link">,
  record: Optimization,
  { sort, order, limit, cursor }: TrialsRequest,
) {
  if (limit === undefined && sort !== "number" && record.trials > SORTED_TRIALS_MAX) {
    const message = `is required to sort more than ${SORTED_TRIALS_MAX} trials: there are ${record.trials}`;
    throw new AppError("VALIDATION_FAILED", `Cannot list the trials: /limit ${message}`, {
      issues: [{ path: "/limit", message }],
    });
  }
  const column = sort === "number" ? "place" : sort;
  const isRising = (order ?? (sort === "number" ? "asc" : "desc")) === "asc";
  const prefix = `${sort} ${isRising ? "asc" : "desc"} `;
  const list: List<TrialRow, TrialAnswer> = {
    read: async (after, count) => {
      const from = after === undefined ? undefined : parsePlace(after.slice(prefix.length));
      const rows = isByNumber({ sort, order })
        ? await readRising(ctx, record, (from?.place ?? -1) + 1, count)
        : await readSorted(ctx, record, { column, isRising, from, count });
      // A deleted optimization has no trials left, so the part that was sent would pass for the whole.
      if (rows.length < count) await optimizationRuns.find(ctx.db, record.id, record.ownerId);
      return rows;
    },
    key: ({ value, place }) => `${prefix}${value} ${place}`,
    // Strangers get no words of failures.
    show: ({ trial }) =>
      ctx.link === null || trial.error === null ? trial : { ...trial, error: shareError(trial.error) },
    // A piece takes some milliseconds, in which nobody else is answered.
    pieceRows: sort === "number" && isRising ? WRITTEN_ROWS : 1000,
  };
  const shape = z.string().startsWith(prefix).refine((key) => PLACE.test(key.slice(prefix.length)));
  return { list, after: decodeCursor(cursor, shape) };
}

const PLACE = /^(null|-?\d+(\.\d+)?(e[+-]\d+)?) \d{1,7}$/;

function parsePlace(text: string): Place {
  const [value = "", place = ""] = text.split(" ");
  return { value: value === "null" ? null : Number(value), place: Number(place) };
}

/** @throws {UnreadableRecord} */
function showTrial({ id, space }: Pick<Optimization, "id" | "space">, rows: TrialRows, row: number): TrialAnswer {
  return readRecord(trialsName(id), () => toTrial(space, rows, row));
}

/** The chunk of an optimization's trials that begins with a place. */
function chunkAt(db: Db, id: string, first: number): ChunkSource<StoredTrials> {
  return { key: `${id} ${first}`, record: trialsName(id), read: () => readStoredTrials(db, id, first) };
}

/** True if the order is that of the trials' numbers, in which they are stored. */
export function isByNumber({ sort, order }: Pick<TrialsRequest, "sort" | "order">): boolean {
  return sort === "number" && order !== "desc";
}

/** A trial by its place; undefined where there is none. */
export async function findTrial({ db, rowsWorker }: Reading, { id, space }: Optimization, place: number) {
  const first = await findTrialChunk(db, id, { from: place, after: -1 });
  if (first === undefined) return undefined;
  const rows = await rowsWorker.pick(chunkAt(db, id, first), { places: [place] });
  return rows === undefined || rows.count === 0 ? undefined : showTrial({ id, space }, rows, 0);
}

/** Trials from a place on, in the order of their places. */
async function readRising(
  { db, rowsWorker }: Reading,
  { id, space }: Optimization,
  from: number,
  count: number,
): Promise<TrialRow[]> {
  const found: TrialRow[] = [];
  let first: number | undefined = -1;
  while (found.length < count) {
    first = await findTrialChunk(db, id, { from, after: first });
    if (first === undefined) break;
    const rows = await rowsWorker.pick(chunkAt(db, id, first), { fromPlace: from, rowsMax: count - found.length });
    if (rows === undefined) break;
    rows.columns.place!.forEach((place, row) =>
      found.push({ place, value: null, trial: showTrial({ id, space }, rows, row) })
    );
  }
  return found;
}

/**
 * All trials by number, written by the thread, a piece in a turn of the user's.
 *
 * @returns The rows alone: JSON without brackets, CSV without its head, batches of Arrow.
 */
export async function* writeTrialList(
  ctx: UserContext,
  { id, ownerId, space }: Optimization,
  format: Format,
  from = 0,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const { db, rowsWorker } = ctx;
  const run = turnsOf(ctx);
  let first: number | undefined = -1;
  for (;;) {
    first = await findTrialChunk(db, id, { from, after: first });
    if (first === undefined) break;
    const source = chunkAt(db, id, first);
    let place: number | null = from;
    while (place !== null) {
      const fromPlace: number = place;
      const task = { format, space, fromPlace, rowsMax: WRITTEN_ROWS };
      const written: WrittenRows | undefined = await run(() => rowsWorker.write(source, task));
      if (written !== undefined && written.rows > 0) yield written.bytes;
      place = written?.nextPlace ?? null;
    }
  }
  // A deleted optimization has no trials left, so the part that was sent would pass for the whole.
  await optimizationRuns.find(db, id, ownerId);
}

interface Sorting {
  readonly column: string;
  readonly isRising: boolean;
  /** The place behind which the list goes on. */
  readonly from: Place | undefined;
  readonly count: number;
}

/** Looks at the metric of all trials once, keeps the first ones behind a place, and reads those: memory stays flat. */
async function readSorted(ctx: Reading, record: Optimization, sorting: Sorting): Promise<TrialRow[]> {
  const { column, ...order } = sorting;
  const places = new FirstPlaces(order);
  for await (const rows of readTrialMetric(ctx.db, record.id, column === "place" ? null : column)) {
    places.add(rows, column);
  }
  return await readStored(ctx, record, places.take());
}

/** The trials at some places, in their order; those that were deleted meanwhile are left out. */
async function readStored(
  { db, rowsWorker }: Reading,
  { id, space }: Optimization,
  places: readonly StoredPlace[],
): Promise<TrialRow[]> {
  const trials = new Map<number, TrialAnswer>();
  for (const [first, wanted] of Map.groupBy(places, (each) => each.first)) {
    const rows = await rowsWorker.pick(chunkAt(db, id, first), { places: wanted.map(({ place }) => place) });
    if (rows === undefined) continue;
    rows.columns.place!.forEach((place, row) => trials.set(place, showTrial({ id, space }, rows, row)));
  }
  return places.flatMap(({ place, value }) => {
    const trial = trials.get(place);
    return trial === undefined ? [] : [{ place, value, trial }];
  });
}

// The list's own items: their parts are read as they are.
const rowSchema = z.object({
  number: z.number(),
  market: z.string().optional(),
  parameters: z.custom<TrialAnswer["parameters"]>(),
  metrics: z.custom<TrialAnswer["metrics"]>(),
  error: z.custom<TrialAnswer["error"]>(),
});

/** A trial as a row of CSV or Arrow. */
export function toTrialRow(item: object): object {
  const { number, market, parameters, metrics, error } = rowSchema.parse(item);
  const own = Object.entries(parameters).map(([name, value]) => [`parameters.${name}`, value]);
  const measured = NUMERIC_METRIC_NAMES.map((name) => [name, metrics?.[name] ?? null]);
  const ended = { error_code: error?.code ?? null, error_message: error?.message ?? null };
  return { number, market, ...Object.fromEntries([...own, ...measured]), ...ended };
}
