import { type Timeframe, TIMEFRAMES } from "../../parts/candle_timeframes.ts";

/** The state of an instrument's page that its address keeps. */
interface InstrumentSearch {
  readonly timeframe?: Timeframe;
  /** The last day that is shown, as `2024-01-31`. */
  readonly until?: string;
}

export function readInstrumentSearch({ timeframe, until }: Record<string, unknown>): InstrumentSearch {
  const known = TIMEFRAMES.find((each) => each === timeframe);
  return {
    ...(known === undefined ? {} : { timeframe: known }),
    ...(typeof until === "string" && /^\d{4}-\d\d-\d\d$/.test(until) ? { until } : {}),
  };
}
