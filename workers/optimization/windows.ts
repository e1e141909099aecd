/**
 * The places of a walk-forward optimization: first the points over the whole range, then the points over each training
 * window, and at last one for each test window.
 */
import { decodeFrames } from "../../db/codec/columns.ts";
import type { EncodedTrials } from "../../db/codec/trial_table.ts";
import type { Optimization, OptimizationWindow, WindowRun } from "../../db/optimizations.ts";
import { listWindows, testStartOf } from "../../research/walk_forward.ts";

/** Consecutive places over the same dates. */
export interface Part {
  readonly kind: "range" | "train" | "test";
  /** From 0; null for the whole range. */
  readonly window: number | null;
  /** The part's first place, and the one behind its last. */
  readonly first: number;
  readonly until: number;
  readonly startDate: string;
  readonly endDate: string;
}

type Walking = Pick<Optimization, "points" | "windows" | "startDate" | "endDate">;

/** Places before the first test: tests wait for them. */
export function placesBeforeTests({ points, windows }: Pick<Walking, "points" | "windows">): number {
  return points * (windows.length + 1);
}

/** All places. */
export function countPlaces(record: Pick<Walking, "points" | "windows">): number {
  return placesBeforeTests(record) + record.windows.length;
}

/** The part that a place belongs to. */
export function partAt(record: Walking, place: number): Part {
  const { points, windows, startDate, endDate } = record;
  const tests = placesBeforeTests(record);
  if (place < points) return { kind: "range", window: null, first: 0, until: points, startDate, endDate };
  const isTest = place >= tests;
  const window = isTest ? place - tests : Math.floor(place / points) - 1;
  const dates = windows[window]!;
  const { trainStart, trainEnd, testEnd } = dates;
  const test = { startDate: testStartOf(dates), endDate: testEnd };
  return isTest ? { kind: "test", window, first: place, until: place + 1, ...test } : {
    kind: "train",
    window,
    first: (window + 1) * points,
    until: (window + 2) * points,
    startDate: trainStart,
    endDate: trainEnd,
  };
}

/** The windows of an optimization that begins; none without walk_forward. */
export function beginWindows({ walkForward, startDate, endDate }: Optimization): OptimizationWindow[] {
  if (walkForward === null) return [];
  return listWindows({ startDate, endDate }, walkForward).map((dates) => ({
    ...dates,
    best: null,
    train: null,
    test: null,
    error: null,
    dataSha256: null,
  }));
}

/** The end of a slice of a window. */
export interface WindowSlice {
  readonly part: Part;
  readonly trials: EncodedTrials;
  readonly dataSha256: string | null;
  /** Of the whole slice. */
  readonly error: OptimizationWindow["error"];
}

/** The windows with what a slice of one of them has found. */
export function addToWindow({ windows, direction }: Optimization, slice: WindowSlice): OptimizationWindow[] {
  const { part } = slice;
  return windows.map((window, i) => {
    if (i !== part.window) return window;
    return part.kind === "test" ? addTest(window, slice) : addTraining(window, slice, direction);
  });
}

function addTraining(
  window: OptimizationWindow,
  { part, trials, dataSha256, error }: WindowSlice,
  direction: Optimization["direction"],
): OptimizationWindow {
  const sign = direction === "max" ? 1 : -1;
  let [row, { best }] = [-1, window];
  for (let i = 0; i < trials.places.length; i++) {
    const [number, objective] = [trials.places[i]! + 1, trials.objectives[i]!];
    const ahead = best === null ? sign * objective : sign * (objective - best.objective);
    const isBetter = best === null ? !Number.isNaN(ahead) : ahead > 0 || (ahead === 0 && number < best.number);
    if (isBetter) [row, best] = [i, { number, point: trials.points[i]!, objective }];
  }
  const known = { ...window, dataSha256: window.dataSha256 ?? dataSha256, error: window.error ?? error };
  return row < 0 || part.kind !== "train" ? known : { ...known, best, train: readRun(trials, row) };
}

function addTest(window: OptimizationWindow, { trials, error }: WindowSlice): OptimizationWindow {
  const ended = error ?? trials.notes.errors[0] ?? null;
  if (ended !== null) return { ...window, error: window.error ?? ended };
  if (trials.trials > 0) return { ...window, test: readRun(trials, 0) };
  const message = "Cannot trade the test window: no trial of its training has the objective";
  return { ...window, error: window.error ?? { code: "NO_TRIALS", message } };
}

function readRun({ data, notes, objectives }: EncodedTrials, row: number): WindowRun {
  const columns = decodeFrames(data, notes.frames ?? {});
  return {
    objective: orNull(objectives[row]!),
    totalReturn: orNull(columns.total_return![row]!),
    annualReturn: orNull(columns.annual_return![row]!),
    exposure: orNull(columns.exposure![row]!),
  };
}

const orNull = (value: number) => Number.isNaN(value) ? null : value;
