import type { Candles } from "../../engine/candles.ts";
import type { Hours, Traded } from "../calendar/exchange_sessions.ts";
import { isDaily, type Timeframe } from "../timeframes.ts";
import { allocateCandles, CANDLE_COLUMNS, sliceCandles } from "./candle_columns.ts";
import { daysOf } from "./made_candles.ts";

/**
 * Finer candles as the simulator replays them: those of the session, and for dated candles with times that lie within the date, from 00:00
 * UTC of it on. A forex day opens on the evening before its date, where the simulator would look for the day before.
 *
 * @returns Columns in shared memory; the given ones where a session is a day of UTC.
 */
export function replayedCandles(
  instrument: Traded,
  candles: Candles,
  wanted: { readonly source: Timeframe; readonly timeframe: Timeframe; readonly hours: Hours },
): Candles {
  const { source, timeframe, hours } = wanted;
  if (instrument.assetClass === "crypto" || isDaily(source)) return candles;
  const days = daysOf(instrument, source, hours);
  const { time } = candles;
  const kept = allocateCandles(time.length, true);
  let count = 0;
  for (let i = 0; i < time.length; i++) {
    const { date, open } = days.dayAtOrAfter(time[i]!);
    if (time[i]! < open) continue;
    for (const name of CANDLE_COLUMNS) kept[name][count] = candles[name][i]!;
    if (isDaily(timeframe)) kept.time[count] = date + time[i]! - open;
    count++;
  }
  return sliceCandles(kept, 0, count);
}
