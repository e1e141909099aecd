/** Round values that cover a range, lowest first; about `count` of them. */
export function chooseTicks(low: number, high: number, count: number): number[] {
  const span = high - low;
  if (!(span > 0)) return [low];
  const rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((each) => each * power >= rough) ?? 10);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => (first + i) * step);
}

export const DAY_MS = 86_400_000;

/**
 * Dates that cover a range, lowest first; about `count` of them. They are firsts of months where these are close enough.
 *
 * @param low Milliseconds since 1970, 00:00 UTC of a date.
 */
export function chooseDates(low: number, high: number, count: number): number[] {
  const rough = (high - low) / DAY_MS / count;
  if (!(rough > 0)) return [low];
  const days = [1, 2, 5, 10].find((each) => each >= rough);
  if (days !== undefined) {
    return Array.from({ length: Math.floor((high - low) / DAY_MS / days) + 1 }, (_, i) => low + i * days * DAY_MS);
  }
  const step = [1, 2, 3, 6, 12, 24, 60, 120].find((each) => each * 31 >= rough) ?? 240;
  const dates: number[] = [];
  for (let month = 0; (dates.at(-1) ?? low) <= high; month += step) dates.push(Date.UTC(startYear(low, step), month));
  return dates.filter((date) => date >= low && date <= high);
}

/** The year from which steps of months are counted, so that years lie on them. */
function startYear(low: number, months: number): number {
  const years = Math.max(1, months / 12);
  return Math.floor(new Date(low).getUTCFullYear() / years) * years;
}

/** A linear scale from values to pixels. */
export function linear(from: readonly [number, number], to: readonly [number, number]): (value: number) => number {
  const factor = (to[1] - to[0]) / (from[1] - from[0] || 1);
  return (value) => to[0] + (value - from[0]) * factor;
}
