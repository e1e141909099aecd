import { candleClose, DAY_MS } from "../time/durations.ts";
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

type MarksInput = Pick<MetricsInput, "time" | "equity" | "timeframeMs" | "initialBalance">;

/** The drawdowns, and the figures of the marks that the same pass finds. */
export interface MarkMetrics extends DrawdownMetrics {
  readonly peak_equity: number;
  /** Money, summed left to right. */
  readonly meanMark: number;
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
export function drawdownMetrics({ time, equity, timeframeMs, initialBalance }: MarksInput): MarkMetrics {
  const count = equity.length;
  let peak = initialBalance;
  let peakTime = time[0]!;
  let depthMax = 0;
  let depthSum = 0;
  let lengthMax = 0;
  let lengthSum = 0;
  let drawdowns = 0;
  let squares = 0;
  let total = 0;
  let hasPeak = false;
  for (let i = 0; i < count; i++) {
    let mark = equity[i]!;
    let lowest = peak;
    while (mark < peak) {
      total += mark;
      const fraction = (peak - mark) / peak;
      squares += fraction * fraction;
      if (mark < lowest) lowest = mark;
      if (++i === count) break;
      mark = equity[i]!;
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
    total += mark;
    peak = mark;
    peakTime = close;
    hasPeak = true;
  }
  const none = { reason: NO_DRAWDOWN };
  return {
    max_drawdown: depthMax,
    max_drawdown_days: lengthMax / DAY_MS,
    average_drawdown: drawdowns === 0 ? none : depthSum / drawdowns,
    average_drawdown_days: drawdowns === 0 ? none : lengthSum / drawdowns / DAY_MS,
    ulcer_index: Math.sqrt(squares / count),
    // The initial balance is no mark of the peak.
    peak_equity: hasPeak ? peak : equity.reduce((highest, mark) => Math.max(highest, mark)),
    meanMark: total / count,
  };
}
