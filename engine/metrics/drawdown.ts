import { candleClose, DAY_MS } from "../durations.ts";
import type { MetricsInput } from "./input.ts";
import type { Measured } from "./measured.ts";
import { NO_DRAWDOWN } from "./reasons.ts";

export interface DrawdownMetrics {
  readonly max_drawdown: number;
  readonly max_drawdown_days: number;
  readonly average_drawdown: Measured;
  readonly average_drawdown_days: Measured;
  readonly ulcer_index: number;
}

/**
 * Measures the falls of equity below its highest mark so far; the initial balance is the first mark.
 *
 * A drawdown lasts from the last mark at a peak to the first mark that is back at it, or to the end of the run. Depths are
 * positive fractions of the peak, durations days. The initial balance is marked at the first candle's open, all other
 * marks at a candle's close. Sums run left to right over the candles, in one pass.
 *
 * @see P. Martin, B. McCann (1989), "The Investor's Guide to Fidelity Funds", for the ulcer index (here a fraction).
 */
export function drawdownMetrics(input: MetricsInput): DrawdownMetrics {
  const { time, equity, timeframeMs } = input;
  const count = equity.length;
  let peak = input.initialBalance;
  let peakTime = time[0]!;
  let depthMax = 0;
  let depthSum = 0;
  let lengthMax = 0;
  let lengthSum = 0;
  let drawdowns = 0;
  let squares = 0;
  for (let i = 0; i < count; i++) {
    let lowest = peak;
    for (let mark = equity[i]!; mark < peak; mark = equity[i]!) {
      const fraction = (peak - mark) / peak;
      squares += fraction * fraction;
      if (mark < lowest) lowest = mark;
      if (++i === count) break;
    }
    // A drawdown is over when equity is back at its peak, or at the last candle.
    const depth = (peak - lowest) / peak;
    const close = candleClose(time[Math.min(i, count - 1)]!, timeframeMs);
    if (depth > 0) {
      const length = close - peakTime;
      drawdowns++;
      depthSum += depth;
      lengthSum += length;
      if (depth > depthMax) depthMax = depth;
      if (length > lengthMax) lengthMax = length;
    }
    if (i === count) break;
    peak = equity[i]!;
    peakTime = close;
  }
  const none = { reason: NO_DRAWDOWN };
  return {
    max_drawdown: depthMax,
    max_drawdown_days: lengthMax / DAY_MS,
    average_drawdown: drawdowns === 0 ? none : depthSum / drawdowns,
    average_drawdown_days: drawdowns === 0 ? none : lengthSum / drawdowns / DAY_MS,
    ulcer_index: Math.sqrt(squares / count),
  };
}
