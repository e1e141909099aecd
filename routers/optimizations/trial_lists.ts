/** The trials of an optimization as a list: by number, or by a metric. */
import { z } from "zod";
import { SORT_ORDERS } from "../../db/backtest_lists.ts";
import type { Db } from "../../db/client.ts";
import type { Optimization } from "../../db/optimizations.ts";
import { readTrialChunks, readTrialMetric, type TrialColumns, type TrialRows } from "../../db/trial_chunks.ts";
import { NUMERIC_METRIC_NAMES } from "../../engine/metrics/definitions.ts";
import { AppError } from "../common/errors.ts";
import type { Column } from "../common/formats.ts";
import { toTrial, type TrialAnswer } from "./optimization_records.ts";
import { optimizationRuns } from "./optimization_runs.ts";
import { decodeCursor, type List } from "../common/paging.ts";

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

/** A place in a list: the value that decides it, null where the trial has none, and the trial's own place. */
interface Place {
  readonly value: number | null;
  readonly place: number;
}

interface TrialRow extends Place {
  readonly trial: TrialAnswer;
}

/**
 * An optimization's trials, in the order and from the place that a request asks for. Trials without the metric come last.
 *
 * @throws AppError VALIDATION_FAILED for a complete list by a metric of too many trials.
 */
export function trialList(db: Db, record: Optimization, { sort, order, limit, cursor }: TrialsRequest) {
  if (limit === undefined && sort !== "number" && record.trials > SORTED_TRIALS_MAX) {
    const message = `is required to sort more than ${SORTED_TRIALS_MAX} trials: there are ${record.trials}`;
    throw new AppError("VALIDATION_FAILED", `Cannot list the trials: /limit ${message}`, {
      issues: [{ path: "/limit", message }],
    });
  }
  const isByNumber = sort === "number";
  const isRising = (order ?? (isByNumber ? "asc" : "desc")) === "asc";
  const prefix = `${sort} ${isRising ? "asc" : "desc"} `;
  const rising = new RisingTrials((from) => readTrialChunks(db, record.id, { from }));
  const list: List<TrialRow, TrialAnswer> = {
    read: async (after, count) => {
      const from = after === undefined ? undefined : parsePlace(after.slice(prefix.length));
      const rows = isByNumber && isRising
        ? (await rising.read((from?.place ?? -1) + 1, count)).map(({ place, rows, row }) => ({
          place,
          value: null,
          trial: toTrial(record.space, rows, row),
        }))
        : await readSorted(db, record, { column: isByNumber ? "place" : sort, isRising, from, count });
      // A deleted optimization has no trials left, so the part that was sent would pass for the whole.
      if (rows.length < count) await optimizationRuns.find(db, record.id, record.ownerId);
      return rows;
    },
    key: ({ value, place }) => `${prefix}${value} ${place}`,
    show: ({ trial }) => trial,
    // By number, a piece takes some milliseconds: others are answered in between.
    pieceRows: isByNumber ? 200 : 5000,
  };
  const shape = z.string().startsWith(prefix).refine((key) => PLACE.test(key.slice(prefix.length)));
  return { list, after: decodeCursor(cursor, shape) };
}

const PLACE = /^(null|-?\d+(\.\d+)?(e[+-]\d+)?) \d{1,7}$/;

function parsePlace(text: string): Place {
  const [value = "", place = ""] = text.split(" ");
  return { value: value === "null" ? null : Number(value), place: Number(place) };
}

/** A trial and its row in a chunk. */
interface ChunkRow {
  readonly place: number;
  readonly rows: TrialRows;
  readonly row: number;
}

/** Trials in the order of their places. A chunk stays from one piece to the next: to read it takes longer than to send a piece of it. */
export class RisingTrials {
  readonly #open: (from: number) => AsyncGenerator<TrialRows>;
  #chunks: AsyncGenerator<TrialRows> | undefined;
  #rows: TrialRows | undefined;
  /** The next row of the chunk, and the place where the last piece ended. */
  #row = 0;
  #next = -1;

  /** @param open Reads chunks from the one with a place on. */
  constructor(open: (from: number) => AsyncGenerator<TrialRows>) {
    this.#open = open;
  }

  /** Up to `count` trials from a place on. */
  async read(first: number, count: number): Promise<ChunkRow[]> {
    if (first !== this.#next) {
      [this.#chunks, this.#rows] = [this.#open(first), undefined];
    }
    const found: ChunkRow[] = [];
    while (found.length < count) {
      if (this.#rows === undefined || this.#row === this.#rows.count) {
        this.#rows = (await this.#chunks!.next()).value;
        this.#row = 0;
        if (this.#rows === undefined) break;
      }
      const rows: TrialRows = this.#rows!;
      const row = this.#row++;
      const place = rows.columns.place![row]!;
      if (place >= first) found.push({ place, rows, row });
    }
    this.#next = (found.at(-1)?.place ?? first - 1) + 1;
    return found;
  }
}

interface Sorting {
  readonly column: string;
  readonly isRising: boolean;
  /** The place behind which the list goes on. */
  readonly from: Place | undefined;
  readonly count: number;
}

/** A place in a list, and where its trial is stored. */
interface StoredPlace extends Place {
  /** The first place of its chunk. */
  readonly first: number;
}

/** Looks at the metric of all trials once, keeps the first ones behind a place, and reads those: memory stays flat. */
async function readSorted(db: Db, record: Optimization, sorting: Sorting): Promise<TrialRow[]> {
  const compare = comparator(sorting.isRising);
  const { column, from, count } = sorting;
  let kept: StoredPlace[] = [];
  for await (const rows of readTrialMetric(db, record.id, column === "place" ? null : column)) {
    const last = kept.length === count ? kept.at(-1) : undefined;
    const found = placesIn(
      rows,
      column,
      (each) => (from === undefined || compare(each, from) > 0) && (last === undefined || compare(each, last) < 0),
    );
    if (found.length > 0) kept = [...kept, ...found.sort(compare).slice(0, count)].sort(compare).slice(0, count);
  }
  return await readStored(db, record, kept);
}

function placesIn(
  { first, count, columns: { place, ...metrics } }: TrialColumns,
  column: string,
  isWanted: (place: Place) => boolean,
): StoredPlace[] {
  const values = column === "place" ? place! : metrics[column];
  const found: StoredPlace[] = [];
  for (let row = 0; row < count; row++) {
    const value = values?.[row] ?? NaN;
    const each = { place: place![row]!, value: Number.isNaN(value) ? null : value, first };
    if (isWanted(each)) found.push(each);
  }
  return found;
}

/** The trials at some places, in their order; those that were deleted meanwhile are left out. */
async function readStored(
  db: Db,
  { id, space }: Optimization,
  places: readonly StoredPlace[],
): Promise<TrialRow[]> {
  const trials = new Map<number, TrialAnswer>();
  for (const [first, wanted] of Map.groupBy(places, (each) => each.first)) {
    for await (const rows of readTrialChunks(db, id, { from: first })) {
      const own = new Set(wanted.map(({ place }) => place));
      rows.columns.place!.forEach((place, row) => own.has(place) && trials.set(place, toTrial(space, rows, row)));
      break;
    }
  }
  return places.flatMap(({ place, value }) => {
    const trial = trials.get(place);
    return trial === undefined ? [] : [{ place, value, trial }];
  });
}

/** Trials without a value are last in both orders; equal ones are in the order of their numbers. */
function comparator(isRising: boolean): (a: Place, b: Place) => number {
  return (a, b) => {
    if (a.value === null || b.value === null) {
      return Number(a.value === null) - Number(b.value === null) || a.place - b.place;
    }
    return (isRising ? a.value - b.value : b.value - a.value) || a.place - b.place;
  };
}

// The list's own items: their parts are read as they are.
const rowSchema = z.object({
  number: z.number(),
  parameters: z.custom<TrialAnswer["parameters"]>(),
  metrics: z.custom<TrialAnswer["metrics"]>(),
  error: z.custom<TrialAnswer["error"]>(),
});

/** A trial as a row of CSV or Arrow. */
export function toTrialRow(item: object): object {
  const { number, parameters, metrics, error } = rowSchema.parse(item);
  const own = Object.entries(parameters).map(([name, value]) => [`parameters.${name}`, value]);
  const measured = NUMERIC_METRIC_NAMES.map((name) => [name, metrics?.[name] ?? null]);
  const ended = { error_code: error?.code ?? null, error_message: error?.message ?? null };
  return { number, ...Object.fromEntries([...own, ...measured]), ...ended };
}

/** The columns of toTrialRow(). */
export function trialColumns({ space }: Optimization): Column[] {
  const text = (name: string): Column => ({ name, kind: "text", isNullable: true });
  return [
    { name: "number", kind: "integer", isNullable: false },
    ...space.axes.map((axis): Column => {
      const kinds = new Set("step" in axis ? ["number"] : axis.values.map((value) => typeof value));
      const [only] = kinds.size === 1 ? kinds : ["string"];
      const kind = only === "number" ? "number" : only === "boolean" ? "boolean" : "text";
      return { name: `parameters.${axis.name}`, kind, isNullable: false };
    }),
    ...NUMERIC_METRIC_NAMES.map((name): Column => ({ name, kind: "number", isNullable: true })),
    text("error_code"),
    text("error_message"),
  ];
}
