import { type Candles, viewCandles } from "./candles.ts";
import { cutDays, type TradingDayColumns } from "./metrics/input.ts";

/** Inputs of a run, at most. */
export const INPUTS_MAX = 16;

/** Candles in a request to an endpoint about one market, inputs included: some 5 MB. */
export const ASKED_CANDLES_MAX = 50_000;

/** Other candles that a strategy reads and does not trade. */
export interface InputCandles {
  /** The name by which the strategy reads them. */
  readonly name: string;
  readonly candles: Candles;
  /**
   * For each candle, when the run's own candle opens at whose close it is known, milliseconds since 1970; Infinity: none is. It does not
   * decrease, and holds however the run's candles are cut.
   */
  readonly knownFrom: Float64Array;
  /** Candles before the range. */
  readonly firstIndex: number;
  /** How many of them a candle of the run's own lookback asks for. */
  readonly perCandle: number;
  /** The input's own trading days; null: days of UTC. */
  readonly tradingDays: TradingDayColumns | null;
}

/**
 * When the candles of an input are known: at the close of the first own candle that closes when they have closed, or later.
 *
 * @param time Opens of the run's candles; `closes`, when each ends to trade. In ascending order, as `inputCloses`.
 * @returns As InputCandles.knownFrom.
 */
export function findKnownFrom(time: Float64Array, closes: Float64Array, inputCloses: Float64Array): Float64Array {
  const known = new Float64Array(inputCloses.length).fill(Infinity);
  let own = 0;
  for (let k = 0; k < inputCloses.length; k++) {
    while (own < time.length && closes[own]! < inputCloses[k]!) own++;
    if (own === time.length) break;
    known[k] = time[own]!;
  }
  return known;
}

/** The input's newest candle that had closed by the close of each own candle; -1 before the first. @param time Opens of the run's candles. */
export function alignInput({ knownFrom }: Pick<InputCandles, "knownFrom">, time: Float64Array): Int32Array {
  const rows = new Int32Array(time.length);
  let newest = -1;
  for (let i = 0; i < time.length; i++) {
    while (newest + 1 < knownFrom.length && knownFrom[newest + 1]! <= time[i]!) newest++;
    rows[i] = newest;
  }
  return rows;
}

/** A column of an input as a strategy sees it: a value for each own candle, NaN before the first. */
export function alignColumn(column: Float64Array, rows: Int32Array): Float64Array {
  return Float64Array.from(rows, (row) => row < 0 ? NaN : column[row]!);
}

/** How many candles before the range an input has: the newest that had closed when it began, and as many as the run's own lookback asks for. */
export function inputLookback(lookback: number, perCandle: number): number {
  return Math.max(1, lookback) * perCandle + 1;
}

/** An input as a run with a shorter lookback has it. */
export function cutInput(input: InputCandles, lookback: number): InputCandles {
  const from = input.firstIndex - inputLookback(lookback, input.perCandle);
  if (from <= 0) return input;
  const { candles, tradingDays } = input;
  return {
    ...input,
    candles: viewCandles(candles, from, candles.time.length),
    knownFrom: input.knownFrom.subarray(from),
    firstIndex: input.firstIndex - from,
    tradingDays: tradingDays === null ? null : cutDays(tradingDays, from),
  };
}
