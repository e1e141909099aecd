import type { Instrument } from "../../db/instruments.ts";
import type { ReadSeries } from "../../db/result_inputs.ts";
import type { CandlesRead } from "../../market/archive/read.ts";
import { candleEnd, DAY_MS, type Timeframe } from "../../market/timeframes.ts";

/** Candles, and the moment before they were read, in milliseconds since 1970: later revisions are not in them. */
export interface LoadedCandles extends CandlesRead {
  readonly readAt: number;
}

/** The stored candles of which a run's are made. */
export function describeSeries(
  { id }: Instrument,
  { candles: { time }, source, readAt }: LoadedCandles,
  timeframe: Timeframe,
): ReadSeries {
  // A trading day may begin on the evening before its date, and end after it.
  const aroundMs = source === timeframe ? 0 : DAY_MS;
  return {
    instrument: id,
    timeframe: source,
    from: new Date((time[0] ?? readAt) - aroundMs).toISOString(),
    until: new Date(candleEnd(time.at(-1) ?? readAt, timeframe) + aroundMs).toISOString(),
    readAt: new Date(readAt).toISOString(),
  };
}
