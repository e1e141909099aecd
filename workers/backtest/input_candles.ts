/** The candles of a run's inputs: what its strategy reads and does not trade. */
import type { Instrument } from "../../db/instruments.ts";
import { findKnownFrom, type InputCandles, inputLookback } from "../../engine/inputs.ts";
import { daysOf } from "../../market/archive/made_candles.ts";
import { groupByDayOnce } from "../../market/calendar/group_by_day.ts";
import type { Hours } from "../../market/calendar/exchange_sessions.ts";
import { countPerCandle, isCoarser, type Timeframe } from "../../market/timeframes.ts";
import { RunError } from "../common/outcome.ts";
import type { LoadedCandles } from "./read_series.ts";
import type { InputSettings } from "./run_settings.ts";
import { instantsOf } from "./trading_instants.ts";

/** An input of a run, with its candles. */
export interface LoadedInput extends InputSettings {
  readonly instrument: Instrument;
  readonly read: LoadedCandles;
  readonly aligned: InputCandles;
}

/** The candles by which inputs are aligned. */
interface OwnCandles {
  readonly instrument: Instrument;
  readonly time: Float64Array;
  readonly timeframe: Timeframe;
  readonly hours: Hours;
  /** Candles that the strategy needs before the range; null: it is shown none. */
  readonly lookback: number | null;
}

/** Reads the candles of an input. @throws {RunError} */
export type ReadInput = (
  input: InputSettings,
  lookback: number,
) => Promise<{ readonly instrument: Instrument; readonly read: LoadedCandles }>;

/** Loads the inputs of a run. @throws {RunError} That of `readInput`, with the input's name. */
export async function loadInputs(
  inputs: readonly InputSettings[],
  own: OwnCandles,
  readInput: ReadInput,
): Promise<readonly LoadedInput[]> {
  if (inputs.length === 0) return [];
  const { closes } = instantsOf(own.instrument, own.time, own);
  return await Promise.all(inputs.map((input) => loadInput(input, { ...own, closes }, readInput)));
}

async function loadInput(
  input: InputSettings,
  { time, closes, timeframe: ownTimeframe, hours, lookback }: OwnCandles & { readonly closes: Float64Array },
  readInput: ReadInput,
): Promise<LoadedInput> {
  const { name, timeframe } = input;
  const perCandle = countPerCandle(ownTimeframe, timeframe);
  try {
    const { instrument, read } = await readInput(input, lookback === null ? 0 : inputLookback(lookback, perCandle));
    const { candles, lookback: firstIndex } = read;
    const inputCloses = instantsOf(instrument, candles.time, { timeframe, hours }).closes;
    const days = isCoarser(timeframe, "1d") ? null : groupByDayOnce(daysOf(instrument, timeframe, hours), candles.time);
    const knownFrom = findKnownFrom(time, closes, inputCloses);
    return {
      ...input,
      instrument,
      read,
      aligned: { name, candles, knownFrom, firstIndex, perCandle, tradingDays: days },
    };
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    throw new RunError(error.code, `Cannot load the input ${name}: ${error.message}`);
  }
}
