/** Published closes: StockCharts, ChartSchool, "Moving Averages: Simple and Exponential" (rounded to cents there). */
export const MOVING_AVERAGE_CLOSES = Float64Array.of(
  ...[22.27, 22.19, 22.08, 22.17, 22.18, 22.13, 22.23, 22.43, 22.24, 22.29, 22.15, 22.39, 22.38, 22.61, 23.36],
  ...[24.05, 23.75, 23.83, 23.95, 23.63, 23.82, 23.87, 23.65, 23.19, 23.10, 23.33, 22.68, 23.10, 22.40, 22.17],
);

/** A seeded walk in cents, the same on every machine. */
export function walk(count: number, seed = 12345): Float64Array {
  let state = seed;
  let cents = 10_000;
  return Float64Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    cents = Math.max(1, cents + (state >>> 16) % 201 - 100);
    return cents / 100;
  });
}
