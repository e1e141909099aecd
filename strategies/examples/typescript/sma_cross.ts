/**
 * The built-in sma-cross as a remote strategy.
 *
 * Buys when the fast simple moving average of closes crosses above the slow one; sells, or goes short, when it crosses
 * below. Parameters, all optional: fast (10), slow (30), direction ("both" or "long"), takeProfitLevel and stopLossLevel
 * (fractions of the entry price; 0 is none). lookbackCandles must be at least `slow`.
 */
import { type Action, type DecisionRequest, serve } from "./hindcast.ts";

interface Parameters {
  readonly fast?: number;
  readonly slow?: number;
  readonly direction?: "both" | "long";
  readonly takeProfitLevel?: number;
  readonly stopLossLevel?: number;
}

/** The actions of each asked candle. */
function decide({ asked, parameters, candles: { close } }: DecisionRequest<Parameters>): Action[][] {
  const fast = movingAverage(close, parameters.fast ?? 10);
  const slow = movingAverage(close, parameters.slow ?? 30);
  const guards = {
    ...(parameters.takeProfitLevel ? { take_profit_fraction: parameters.takeProfitLevel } : {}),
    ...(parameters.stopLossLevel ? { stop_loss_fraction: parameters.stopLossLevel } : {}),
  };
  const onRise: Action[] = [{ side: "buy", when: "not_long", ...guards }];
  const onFall: Action[] = parameters.direction === "long"
    ? [{ action: "close", when: "long" }]
    : [{ side: "sell", when: "not_short", ...guards }];
  return Array.from({ length: asked }, (_, n) => {
    const i = close.length - asked + n;
    if (crossesAbove(fast, slow, i)) return onRise;
    return crossesAbove(slow, fast, i) ? onFall : [];
  });
}

/** True if `a` was below `b` one candle before place `i` and is above it there. NaN crosses nothing. */
function crossesAbove(a: Float64Array, b: Float64Array, i: number): boolean {
  return i > 0 && a[i - 1]! < b[i - 1]! && a[i]! > b[i]!;
}

/**
 * Mean of the last `period` values at each place; NaN while there are fewer.
 *
 * A rounding error would produce a false cross where prices stand still. So each sum is a pair of doubles, the rounded sum and
 * its rounding error (D. E. Knuth's two-sum), and the remainder of the division corrects the quotient.
 */
function movingAverage(values: readonly number[], period: number): Float64Array {
  const means = new Float64Array(values.length).fill(NaN);
  for (let i = period - 1; i < values.length; i++) {
    let sum = 0;
    let lost = 0;
    for (let k = i - period + 1; k <= i; k++) {
      const value = values[k]!;
      const next = sum + value;
      const part = next - sum;
      lost += (sum - (next - part)) + (value - part);
      sum = next;
    }
    const mean = sum / period;
    // The upper half of the mean's digits times a short whole number is exact, and so is the remainder.
    const scaled = mean * 134217729;
    const upper = scaled - (scaled - mean);
    means[i] = mean + ((sum - upper * period) - (mean - upper) * period + lost) / period;
  }
  return means;
}

if (import.meta.main) serve(decide);
