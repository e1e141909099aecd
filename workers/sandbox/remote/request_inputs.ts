import { type InputCandles, inputLookback } from "../../../engine/inputs.ts";
import type { RemoteTask } from "../../common/remote_task.ts";
import type { Stretch } from "./stretch.ts";

/** Rows of an input's candles: those that a request has, from the first on. */
interface InputRows {
  readonly from: number;
  readonly until: number;
}

/**
 * The inputs of a request: of each, the candles that had closed by its last candle's close, and for each of its own candles which of them
 * was the newest by then.
 */
export function writeInputs(
  { inputs = [], candles: { time }, lookbackCandles }: Pick<RemoteTask, "inputs" | "candles" | "lookbackCandles">,
  stretch: Stretch,
): { readonly inputs?: object } {
  if (inputs.length === 0) return {};
  const rows = inputs.map((input) => {
    const { from, until } = rowsOf(input, time, stretch, lookbackCandles);
    const own = time.subarray(stretch.from, stretch.until);
    const column = (values: Float64Array) => Array.from(values.subarray(from, until));
    const { candles } = input;
    const shown = {
      newest: Array.from(own, (opens) => Math.max(-1, newestRow(input, opens) - from)),
      candles: {
        ...{ time: column(candles.time), open: column(candles.open), high: column(candles.high) },
        ...{ low: column(candles.low), close: column(candles.close), volume: column(candles.volume) },
      },
    };
    return [input.name, shown];
  });
  return { inputs: Object.fromEntries(rows) };
}

/** Candles that a request about a stretch has, inputs included. */
export function countStretch(
  { inputs = [], candles: { time }, lookbackCandles }: Pick<RemoteTask, "inputs" | "candles" | "lookbackCandles">,
  stretch: Stretch,
): number {
  return inputs.reduce((sum, input) => {
    const { from, until } = rowsOf(input, time, stretch, lookbackCandles);
    return sum + until - from;
  }, stretch.until - stretch.from);
}

/** The history of an input on which decisions may depend: it begins before the newest candle that the first asked decision knows. */
function rowsOf(
  input: InputCandles,
  time: Float64Array,
  { from, first, until }: Stretch,
  lookbackCandles: number,
): InputRows {
  if (until <= first) return { from: 0, until: 0 };
  const history = inputLookback(Math.max(lookbackCandles, first - from), input.perCandle);
  const newest = newestRow(input, time[first]!);
  return { from: Math.max(0, newest + 1 - history), until: newestRow(input, time[until - 1]!) + 1 };
}

/** The input's newest candle that is known at the close of the own candle that opens at `opens`; -1: none is. */
function newestRow({ knownFrom }: InputCandles, opens: number): number {
  let [low, high] = [0, knownFrom.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (knownFrom[middle]! <= opens) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
