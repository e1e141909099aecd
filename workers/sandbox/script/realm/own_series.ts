/** A value of an indicator for each value of a series: a number, or one for each name of its columns. */
type Newest = number | Readonly<Record<string, number>>;
type Step = (value: number) => Newest;

/** The values of a script's own series that an indicator has taken. */
interface Taken {
  count: number;
  newest: Newest;
  readonly step: Step;
}

/**
 * Indicators of arrays that a script fills itself in `decide`, at their end. Each call takes the values that are new, so an array of
 * a year of minutes costs no more for each candle than a short one.
 *
 * @returns A function that gives the newest value; null: the indicator takes no arrays.
 */
export function makeOwnSeries(): (
  name: string,
  array: readonly unknown[],
  numbers: readonly number[],
) => Newest | null {
  const known = new WeakMap<object, Map<string, Taken>>();
  return (name, array, numbers) => {
    let ofArray = known.get(array);
    if (ofArray === undefined) known.set(array, ofArray = new Map());
    const key = `${name} ${numbers.join(" ")}`;
    let taken = ofArray.get(key);
    if (taken === undefined || taken.count > array.length) {
      const step = makeStep(name, numbers);
      if (step === null) return null;
      ofArray.set(key, taken = { count: 0, newest: NaN, step });
      // Of an empty array, it has the names of its columns, too.
      if (array.length === 0) return makeStep(name, numbers)!(NaN);
    }
    for (; taken.count < array.length; taken.count++) {
      const value = array[taken.count];
      if (typeof value !== "number") {
        throw new TypeError(`${name}: a series of your own has numbers, and value ${taken.count} is ${typeof value}`);
      }
      taken.newest = taken.step(value);
    }
    return taken.newest;
  };
}

/** An indicator of values that come one by one; null: there is none of that name. */
export function makeStep(name: string, [period = 1, second = 1, third = 1]: readonly number[]): Step | null {
  switch (name) {
    case "sma":
      return overWindow(period, meanOf);
    case "stddev":
      return overWindow(period, deviationOf);
    case "highest":
      return overWindow(period, (values) => values.reduce((a, b) => b > a ? b : a, -Infinity));
    case "lowest":
      return overWindow(period, (values) => values.reduce((a, b) => b < a ? b : a, Infinity));
    case "shift":
      return overWindow(period + 1, (values) => values[0]!);
    case "zscore":
      return overWindow(period, (values) => {
        const deviation = deviationOf(values);
        return deviation === 0 ? 0 : (values[values.length - 1]! - meanOf(values)) / deviation;
      });
    case "ema":
      return smoothing(period, 2 / (period + 1));
    case "wilder":
      return smoothing(period, 1 / period);
    case "rsi":
      return makeStrength(period);
    case "macd":
      return makeMacd(period, second, third);
    case "bollinger":
      return makeBands(period, second);
    default:
      return null;
  }
}

/** Computes from the last `period` values; NaN before there are so many. */
export function overWindow(period: number, compute: (values: readonly number[]) => number): (value: number) => number {
  const values: number[] = [];
  return (value) => {
    values.push(value);
    if (values.length > period) values.shift();
    return values.length === period ? compute(values) : NaN;
  };
}

/** The mean, whose sum is rounded once, as that of the host's averages. */
export function meanOf(values: readonly number[]): number {
  let [high, low] = [0, 0];
  for (let k = values.length - 1; k >= 0; k--) {
    const value = values[k]!;
    const sum = high + value;
    const part = sum - high;
    low += (high - (sum - part)) + (value - part);
    high = sum;
  }
  const count = values.length;
  const quotient = high / count;
  const scaled = quotient * 134217729;
  const upper = scaled - (scaled - quotient);
  const lower = quotient - upper;
  return quotient + ((high - upper * count) - lower * count + low) / count;
}

export function deviationOf(values: readonly number[]): number {
  const mean = meanOf(values);
  let squares = 0;
  for (const value of values) squares += (value - mean) * (value - mean);
  return Math.sqrt(squares / values.length);
}

/** An exponential average that begins with the mean of the first `period` values, behind those that are NaN. */
export function smoothing(period: number, weight: number): (value: number) => number {
  const first: number[] = [];
  let average = NaN;
  return (value) => {
    if (first.length === period) return average += weight * (value - average);
    if (first.length > 0 || !Number.isNaN(value)) first.push(value);
    return first.length === period ? average = meanOf(first) : NaN;
  };
}

export function makeStrength(period: number): (value: number) => number {
  const [rise, fall] = [smoothing(period, 1 / period), smoothing(period, 1 / period)];
  let before = NaN;
  return (value) => {
    const change = value - before;
    const isFirst = Number.isNaN(before);
    before = value;
    if (isFirst) return NaN;
    const [up, down] = [rise(change > 0 ? change : 0), fall(change < 0 ? -change : 0)];
    const both = up + down;
    return both === 0 ? 50 : 100 * up / both;
  };
}

export function makeMacd(fast: number, slow: number, signal: number) {
  const [quick, calm, average] = [
    smoothing(fast, 2 / (fast + 1)),
    smoothing(slow, 2 / (slow + 1)),
    smoothing(signal, 2 / (signal + 1)),
  ];
  return (value: number) => {
    const line = quick(value) - calm(value);
    const mean = average(line);
    return { macd: line, signal: mean, histogram: line - mean };
  };
}

export function makeBands(period: number, width: number) {
  const [mean, deviation] = [overWindow(period, meanOf), overWindow(period, deviationOf)];
  return (value: number) => {
    const middle = mean(value);
    const reach = width * deviation(value);
    return { upper: middle + reach, middle, lower: middle - reach };
  };
}
