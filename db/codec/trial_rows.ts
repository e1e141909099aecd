/** The trials of a chunk, read back from its bytes (see trial_table.ts). */
import { decodeColumns, decodeFrames } from "./columns.ts";
import { requireColumn } from "./unreadable.ts";
import { NONE, type TrialNotes, type TrialTimes } from "./trial_table.ts";

const OWN_COLUMNS = ["place", "point", "error", "undefined"];

/** Some columns of a chunk of trials that were read back. */
export interface TrialColumns {
  /** The place of its first point. */
  readonly first: number;
  readonly count: number;
  /** `place`, `point`, `days`, `error`, `undefined` and metrics, a row a trial; metrics without a value are NaN. */
  readonly columns: Readonly<Record<string, Float64Array>>;
}

/** A chunk of trials that was read back, with all metrics. */
export interface TrialRows extends TrialColumns {
  readonly notes: TrialNotes;
}

/** A chunk of trials as it is stored. */
export interface StoredTrials {
  /** The place of its first point. */
  readonly first: number;
  readonly trials: number;
  readonly data: Uint8Array;
  readonly notes: TrialNotes;
}

/** @throws {Error} When the bytes are damaged, or of a newer build. */
export function decodeTrials({ first, trials, data, notes }: StoredTrials): TrialRows {
  const { frames } = notes;
  const columns = frames === undefined ? decodeColumns(data) : decodeFrames(data, frames);
  for (const name of OWN_COLUMNS) requireColumn(columns, name);
  return { first, count: trials, columns, notes };
}

/** The error of a trial; null if it has none. */
export function errorOf({ columns, notes }: TrialRows, row: number): TrialNotes["errors"][number] | null {
  const at = columns.error![row]!;
  return at === NONE ? null : notes.errors[at]!;
}

/** Why metrics of a trial are null. */
export function reasonsOf({ columns, notes }: TrialRows, row: number): Readonly<Record<string, string>> {
  const at = columns.undefined![row]!;
  return at === NONE ? {} : notes.undefined[at]!;
}

/** The metrics of a trial that are times; null where it has none. */
export function timesOf({ columns, notes }: TrialRows, row: number): TrialTimes | null {
  return notes.timesOf?.[columns.times?.[row] ?? NONE] ?? notes.times;
}
