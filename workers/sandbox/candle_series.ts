import type { SandboxTask } from "./task.ts";

/** A run's candles as a strategy knows them before it sees one. */
export interface Series {
  /** Length of a candle; for calendar months that of an average one. */
  readonly timeframeMs: number;
  /** Index of the first candle of the run's range; those before it are the lookback. */
  readonly firstIndex: number;
  /** Markets of the run, which share its orders and tags; absent: one. Its strategies are not told. */
  readonly markets?: number;
}

// Months differ: a twelfth of the 365.2425 days of a year.
const AVERAGE_MONTH_MS = 2_629_746_000;

/** The length of a candle in milliseconds. @param timeframeMs null for calendar months. */
export function candleMs(timeframeMs: number | null): number {
  return timeframeMs ?? AVERAGE_MONTH_MS;
}

/** The series of a run. */
export function seriesOf({ timeframeMs, firstIndex }: Pick<SandboxTask, "timeframeMs" | "firstIndex">): Series {
  return { timeframeMs: candleMs(timeframeMs), firstIndex };
}
