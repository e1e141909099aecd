import { RETURN_NOISE } from "../../engine/metrics/measured.ts";

/** Objectives that follow from daily returns alone. */
export const MEASURED_OBJECTIVES = [
  "total_return",
  "annual_return",
  "cagr",
  "final_equity",
  "annual_volatility",
  "sharpe",
  "sortino",
  "omega",
  "max_drawdown",
  "calmar",
  "recovery_factor",
] as const;

type MeasuredObjective = typeof MEASURED_OBJECTIVES[number];

/**
 * An objective as a function of two totals over days. Columns hold returns less the risk-free rate, or logarithms of growth: see
 * toColumn(). An undefined value counts as the value without skill.
 */
export interface Measure {
  readonly name: MeasuredObjective;
  readonly basis: "simple" | "log";
  /** `sums`: the totals are sums over the days in any order. `path`: the growth, and its largest fall from a peak, in their order. */
  readonly kind: "sums" | "path";
  /** The value without skill; null: it depends on the trial's own risk. */
  readonly still: number | null;
  /** The parts of a day in both sums. */
  readonly first: (x: number) => number;
  readonly second: (x: number) => number;
  /** The objective on a scale on which trials are compared: that of unit() before it. */
  readonly value: (first: number, second: number, days: number) => number;
  /** A compared value in the objective's own unit. Growth is compared as a logarithm, whose deviations are alike on both sides. */
  readonly unit: (value: number) => number;
}

/** The objective that stands for those which daily returns do not give. */
const SUBSTITUTE = "sharpe";

export function isMeasured(objective: string): objective is MeasuredObjective {
  return MEASURED_OBJECTIVES.some((name) => name === objective);
}

/** The measure of an objective; that of the Sharpe ratio where daily returns do not give it. */
export function measureOf(objective: string, periodsPerYear: number): Measure {
  const name = isMeasured(objective) ? objective : SUBSTITUTE;
  return { name, ...SHAPES[name](periodsPerYear) };
}

/**
 * A trial's days as a measure takes them.
 *
 * @param returns Fractions per day.
 * @param less Taken off each day: the risk-free rate per day, or the benchmark's returns.
 */
export function toColumn(measure: Measure, returns: Float64Array, less: number | Float64Array): Float64Array {
  const column = new Float64Array(returns.length);
  for (let i = 0; i < column.length; i++) {
    // Growth is judged without the risk-free rate, as the metrics are.
    const off = typeof less === "number" ? (measure.basis === "log" ? 0 : less) : less[i]!;
    const value = returns[i]! - off;
    column[i] = measure.basis === "log" ? Math.log1p(Math.max(-GROWTH_LOSS_MAX, value)) : value;
  }
  return column;
}

// An account that is gone has no logarithm.
const GROWTH_LOSS_MAX = 1 - 1e-9;

/** Takes the mean off a column, so that what is left has no gain. */
export function centre(column: Float64Array): Float64Array {
  let sum = 0;
  for (let i = 0; i < column.length; i++) sum += column[i]!;
  const mean = sum / column.length;
  return column.map((value) => value - mean);
}

/** The value of a column as it is. */
export function measureColumn(measure: Measure, column: Float64Array): number {
  const days = column.length;
  if (measure.kind === "path") {
    const walked = new Float64Array(2);
    walk(column, Int32Array.from(column.keys()), walked);
    return measure.value(walked[0]!, walked[1]!, days);
  }
  let [first, second] = [0, 0];
  for (let i = 0; i < days; i++) {
    first += measure.first(column[i]!);
    second += measure.second(column[i]!);
  }
  return measure.value(first, second, days);
}

/** Writes the growth of a path and its largest fall from a peak, both as logarithms. @param order The days. */
export function walk(column: Float64Array, order: Int32Array, to: Float64Array): void {
  let [growth, peak, fall] = [0, 0, 0];
  for (let i = 0; i < column.length; i++) {
    growth += column[order[i]!]!;
    peak = Math.max(peak, growth);
    fall = Math.max(fall, peak - growth);
  }
  to[0] = growth;
  to[1] = fall;
}

type Shape = Omit<Measure, "name">;
const self = (x: number) => x;
const square = (x: number) => x * x;
const shortfallSquare = (x: number) => x < 0 ? x * x : 0;
const gain = (x: number) => x > 0 ? x : 0;
const loss = (x: number) => x < 0 ? -x : 0;
const nothing = () => 0;

const simple = (
  first: Shape["first"],
  second: Shape["second"],
  still: number | null,
  value: Shape["value"],
): Shape => ({
  basis: "simple",
  kind: "sums",
  still,
  first,
  second,
  value,
  unit: self,
});
const growth = (value: (growth: number, days: number) => number): Shape => ({
  basis: "log",
  kind: "sums",
  still: 0,
  first: self,
  second: nothing,
  value: (sum, _, days) => value(sum, days),
  unit: Math.expm1,
});
const path = (still: number | null, value: Shape["value"]): Shape => ({
  basis: "log",
  kind: "path",
  still,
  first: self,
  second: nothing,
  value,
  unit: self,
});

const total = () => growth((sum) => sum);
const annual = (year: number) => growth((sum, days) => sum * year / days);

const SHAPES: Readonly<Record<MeasuredObjective, (periodsPerYear: number) => Shape>> = {
  total_return: total,
  // In units of the initial balance, less one: the same order.
  final_equity: total,
  annual_return: annual,
  cagr: annual,
  annual_volatility: (year) =>
    simple(self, square, null, (sum, squares, days) => Math.sqrt(Math.max(0, variance(sum, squares, days)) * year)),
  sharpe: (year) =>
    simple(self, square, 0, (sum, squares, days) => {
      const spread = variance(sum, squares, days);
      return spread > 0 ? sum / days / Math.sqrt(spread) * Math.sqrt(year) : 0;
    }),
  sortino: (year) =>
    simple(self, shortfallSquare, 0, (sum, squares, days) => {
      const downside = Math.sqrt(squares / days);
      return downside > RETURN_NOISE ? sum / days / downside * Math.sqrt(year) : 0;
    }),
  omega: () => simple(gain, loss, 1, (gains, losses) => losses > RETURN_NOISE ? gains / losses : 1),
  max_drawdown: () => path(null, (_, fall) => -Math.expm1(-fall)),
  calmar: (year) =>
    path(0, (sum, fall, days) => fall > RETURN_NOISE ? Math.expm1(sum * year / days) / -Math.expm1(-fall) : 0),
  recovery_factor: () => path(0, (sum, fall) => fall > RETURN_NOISE ? Math.expm1(sum) / -Math.expm1(-fall) : 0),
};

/** The variance (ddof 1) of values; 0 where they differ by rounding alone. */
function variance(sum: number, squares: number, days: number): number {
  const spread = days * squares - sum * sum;
  const pairs = days * (days - 1);
  // The subtraction leaves rounding of the squares' size where no return differs.
  return spread > pairs * Math.max(RETURN_NOISE * RETURN_NOISE, squares * Number.EPSILON) ? spread / pairs : 0;
}
