import { DAY_MS } from "../../parts/scale.ts";

/** The walk-forward fields of an optimization: as they are typed, the windows that they make, and their faults. */

// A first plan has this part of the range's days in a test, and this many tests' lengths in a training: six windows.
const TEST_PART = 0.1;
const TRAIN_TESTS = 4;

/** An empty text is the suggestion for the range. */
export interface WalkForm {
  isOn: boolean;
  trainDays: string;
  testDays: string;
  stepDays: string;
  anchored: boolean;
}

export const NO_WALK: WalkForm = { isOn: false, trainDays: "", testDays: "", stepDays: "", anchored: false };

/** The fields of days, with their keys in a request. */
export const DAYS = { trainDays: "train_days", testDays: "test_days", stepDays: "step_days" } as const;

export type DaysField = keyof typeof DAYS;

/** Dates as YYYY-MM-DD, the end exclusive; empty while none is typed. */
interface DateRange {
  readonly start: string;
  readonly end: string;
}

/** The windows of a range. */
export interface WalkPlan {
  /** The number of each field, or its suggestion. */
  readonly days: Readonly<Record<DaysField, number>>;
  /** 0 where there is a fault. */
  readonly windows: number;
  readonly faults: Readonly<Partial<Record<DaysField, string>>>;
  /** YYYY-MM-DD; null without windows. */
  readonly firstTest: string | null;
  readonly lastTestEnd: string | null;
}

/** The windows that the fields make of a range, or the reasons why they make none. */
export function planWalk(walk: WalkForm, { start, end }: DateRange): WalkPlan {
  const rangeDays = Math.round((Date.parse(end) - Date.parse(start)) / DAY_MS) || 0;
  const testDays = readDays(walk.testDays) ?? Math.max(1, Math.floor(rangeDays * TEST_PART));
  const days = {
    trainDays: readDays(walk.trainDays) ?? Math.max(1, Math.min(TRAIN_TESTS * testDays, rangeDays - testDays)),
    testDays,
    stepDays: readDays(walk.stepDays) ?? testDays,
  };
  const faults = findFaults(days, rangeDays);
  if (Object.keys(faults).length > 0) return { days, windows: 0, faults, firstTest: null, lastTestEnd: null };
  const windows = Math.floor((rangeDays - days.trainDays - testDays) / days.stepDays) + 1;
  const dateAt = (day: number) => new Date(Date.parse(start) + day * DAY_MS).toISOString().slice(0, 10);
  return {
    days,
    windows,
    faults,
    firstTest: dateAt(days.trainDays),
    lastTestEnd: dateAt(days.trainDays + (windows - 1) * days.stepDays + testDays),
  };
}

/** The `walk_forward` of a request. */
export function toWalkForward({ anchored }: WalkForm, { days }: WalkPlan) {
  return { train_days: days.trainDays, test_days: days.testDays, step_days: days.stepDays, anchored };
}

function findFaults(days: WalkPlan["days"], rangeDays: number): WalkPlan["faults"] {
  const wrong = Object.entries(days).filter(([, value]) => !Number.isInteger(value) || value < 1);
  if (wrong.length > 0) return Object.fromEntries(wrong.map(([name]) => [name, "Enter a whole number, 1 or more"]));
  const { trainDays, testDays, stepDays } = days;
  const needed = trainDays + testDays;
  return {
    ...(needed > rangeDays
      ? { trainDays: `Training and test need ${needed} days, and the range has ${rangeDays}` }
      : {}),
    ...(stepDays < testDays ? { stepDays: `Enter ${testDays} or more: tests would overlap` } : {}),
  };
}

/** @returns Undefined for an empty text, NaN for one that is no number. */
function readDays(typed: string): number | undefined {
  return typed.trim() === "" ? undefined : Number(typed);
}
