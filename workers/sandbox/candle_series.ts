import { cutInput, type InputCandles } from "../../engine/inputs.ts";
import type { RunTask } from "../common/protocol.ts";

/** A run's candles as a strategy knows them before it sees one. */
export interface Series {
  /** Length of a candle; for calendar months that of an average one. */
  readonly timeframeMs: number;
  /** Index of the first candle of the run's range; those before it are the lookback. */
  readonly firstIndex: number;
  /** Markets of the run, which share its orders and tags; absent: one. Its strategies are not told. */
  readonly markets?: number;
  /** Other candles that the strategy reads; absent: none. */
  readonly inputs?: readonly InputCandles[];
  /** True for made-up candles: any name finds an input. */
  readonly isTrial?: boolean;
  /** True: reads of candles that have not closed are noticed. */
  readonly isWatched?: boolean;
}

// Months differ: a twelfth of the 365.2425 days of a year.
const AVERAGE_MONTH_MS = 2_629_746_000;

/** The length of a candle in milliseconds. @param timeframeMs null for calendar months. */
export function candleMs(timeframeMs: number | null): number {
  return timeframeMs ?? AVERAGE_MONTH_MS;
}

/** The series of a run. @param lookback Candles before the range that were wanted; absent: as many as its task has. */
export function seriesOf(
  { timeframeMs, firstIndex, inputs = [] }: Pick<RunTask, "timeframeMs" | "firstIndex" | "inputs">,
  lookback?: number,
): Series {
  const cut = lookback === undefined ? inputs : inputs.map((input) => cutInput(input, lookback));
  return { timeframeMs: candleMs(timeframeMs), firstIndex, inputs: cut };
}

/** Candles that inputs take room for: their own, and the rows by which they are aligned with the run's. */
export function countInputCandles({ candles, inputs = [] }: Pick<RunTask, "candles" | "inputs">): number {
  return inputs.reduce((sum, input) => sum + input.candles.time.length + candles.time.length, 0);
}
