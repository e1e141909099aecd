import { expect } from "@std/expect";
import type { Candles } from "../../engine/candles.ts";
import { CandlePaths } from "../../research/monte_carlo/candle_paths.ts";
import { walkReturns } from "../../research/monte_carlo/paths.ts";
import { drawStationaryBlocks, resample, shuffle } from "../../research/monte_carlo/resampling.ts";
import {
  blockPaths,
  resampledPaths,
  type ReturnPaths,
  shuffledPaths,
} from "../../research/monte_carlo/return_paths.ts";
import { Random } from "../../research/numbers/random_numbers.ts";

const RETURNS = [0.1, -0.2, 0.05, -0.01, -0.02, 0.3, 0, -0.1, 0.04, 0.02];
const ACCOUNT = { initialBalance: 1_000, periodsPerYear: 365, riskFreeRate: 0.02 };

function pathsOf(more: Partial<ReturnPaths> = {}): ReturnPaths {
  return {
    ...ACCOUNT,
    returns: Float64Array.from(RETURNS),
    runs: 200,
    seed: 5,
    ruinDrawdown: 0.3,
    onPath: () => {},
    ...more,
  };
}

/** A path's figures as their definitions read. */
function naiveFigures(returns: readonly number[]) {
  const equity = returns.map((_, i) => returns.slice(0, i + 1).reduce((money, each) => money * (1 + each), 1_000));
  const drawdowns = equity.map((money, i) => 1 - money / Math.max(1_000, ...equity.slice(0, i + 1)));
  const mean = returns.reduce((sum, each) => sum + each) / returns.length;
  const deviation = Math.sqrt(returns.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (returns.length - 1));
  return {
    equity,
    final_equity: equity.at(-1)!,
    max_drawdown: Math.max(0, ...drawdowns),
    sharpe: (mean - 0.02 / 365) / deviation * Math.sqrt(365),
    losing_streak: Math.max(
      ...returns.map((each) => each < 0 ? "-" : "+").join("").split("+").map((run) => run.length),
    ),
  };
}

/** Linear interpolation between the sorted values, as NumPy's default. */
function naiveQuantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = share * (sorted.length - 1);
  return sorted[Math.floor(at)]! * (1 - at % 1) + sorted[Math.ceil(at)]! * (at % 1);
}

Deno.test("a path of returns compounds, and its figures are those of the definitions", () => {
  const equity = new Float64Array(RETURNS.length);
  const { equity: expected, ...figures } = naiveFigures(RETURNS);
  const walked = walkReturns(Float64Array.from(RETURNS), ACCOUNT, equity);
  expect([...equity]).toEqual(expected.map((each) => expect.closeTo(each, 9)));
  for (const name of ["final_equity", "max_drawdown", "sharpe", "losing_streak"] as const) {
    expect(walked[name]).toBeCloseTo(figures[name], 9);
  }
  expect(walked.losing_streak).toBe(2);
});

Deno.test("an account that is lost stays lost", () => {
  const equity = new Float64Array(4);
  const walked = walkReturns(Float64Array.of(0.5, -1.2, 3, 3), ACCOUNT, equity);
  expect([...equity]).toEqual([1_500, 0, 0, 0]);
  expect(walked).toMatchObject({ final_equity: 0, max_drawdown: 1, losing_streak: 1 });
  expect(walkReturns(Float64Array.of(0, 0, 0), ACCOUNT, equity).sharpe).toBeNull();
});

Deno.test("a summary is that of all paths, one by one, of a slow second implementation", () => {
  const random = new Random(5);
  const paths = Array.from({ length: 200 }, () => RETURNS.map(() => RETURNS[random.below(RETURNS.length)]!)).map(
    naiveFigures,
  );
  const { sample } = resampledPaths(pathsOf());
  const real = naiveFigures(RETURNS);
  for (const name of ["final_equity", "max_drawdown", "sharpe", "losing_streak"] as const) {
    const values = paths.map((path) => path[name]);
    const { quantiles, percentile, real: own } = sample.figures[name];
    expect(own).toBeCloseTo(real[name], 9);
    for (const [key, share] of [["p05", 0.05], ["p25", 0.25], ["p50", 0.5], ["p75", 0.75], ["p95", 0.95]] as const) {
      expect(quantiles?.[key]).toBeCloseTo(naiveQuantile(values, share), 9);
    }
    const same = values.filter((each) => Math.abs(each - real[name]) < 1e-6).length;
    const below = values.filter((each) => each < real[name] - 1e-6).length;
    expect(percentile).toBeCloseTo((below + same / 2) / 200, 12);
  }
  expect(sample.probability_of_loss).toBe(paths.filter((path) => path.final_equity < 1_000 - 1e-6).length / 200);
  expect(sample.probability_of_ruin).toBe(paths.filter((path) => path.max_drawdown >= 0.3 - 1e-9).length / 200);
  expect(sample.curves.positions).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(sample.curves.p25[0]).toBe(1_000);
  expect(sample.curves.p25[4]).toBeCloseTo(naiveQuantile(paths.map((path) => path.equity[3]!), 0.25), 9);
  expect(sample.curves.real).toEqual([1_000, ...real.equity].map((each) => expect.closeTo(each, 9)));
});

Deno.test("a shuffle keeps the final equity and changes the way there", () => {
  const { sample } = shuffledPaths(pathsOf());
  const { final_equity: final, max_drawdown: drawdown } = sample.figures;
  const expected = naiveFigures(RETURNS).final_equity;
  expect(final.quantiles?.p05).toBeCloseTo(expected, 9);
  expect(final.quantiles?.p95).toBeCloseTo(expected, 9);
  expect(final.percentile).toBe(0.5);
  expect(drawdown.quantiles?.p95).toBeGreaterThan(drawdown.quantiles?.p05 ?? 1);
});

Deno.test("a seed gives the same paths, and another one others", () => {
  for (const make of [shuffledPaths, resampledPaths, (input: ReturnPaths) => blockPaths(input, 3)]) {
    expect(make(pathsOf())).toEqual(make(pathsOf()));
    expect(make(pathsOf({ seed: 6 }))).not.toEqual(make(pathsOf()));
  }
});

Deno.test("each order is equally likely, and each value is drawn equally often", () => {
  const random = new Random(1);
  const orders = new Map<string, number>();
  for (let i = 0; i < 12_000; i++) {
    const values = Float64Array.of(1, 2, 3);
    shuffle(values, random);
    orders.set(values.join(), (orders.get(values.join()) ?? 0) + 1);
  }
  expect(orders.size).toBe(6);
  // 2,000 +- 41 each.
  for (const count of orders.values()) expect(Math.abs(count - 2_000)).toBeLessThan(250);
  const drawn = new Float64Array(12_000);
  resample(Float64Array.of(1, 2, 3), random, drawn);
  for (const value of [1, 2, 3]) {
    expect(Math.abs(drawn.filter((each) => each === value).length - 4_000)).toBeLessThan(300);
  }
});

Deno.test("blocks are consecutive, wrap around, and have the length asked for on average", () => {
  const indexes = new Int32Array(100_000);
  drawStationaryBlocks(50, 8, new Random(2), indexes);
  // A new block begins at the next index, too, in one of 50 cases.
  const breaks = indexes.filter((index, i) => i > 0 && index !== (indexes[i - 1]! + 1) % 50).length;
  expect(Math.abs(100_000 / (breaks * 50 / 49) - 8)).toBeLessThan(0.2);
  for (let index = 0; index < 50; index++) {
    expect(Math.abs(indexes.filter((each) => each === index).length - 2_000)).toBeLessThan(700);
  }
  drawStationaryBlocks(50, 1, new Random(2), indexes);
  const followed = indexes.filter((index, i) => i > 0 && index === (indexes[i - 1]! + 1) % 50).length;
  expect(Math.abs(followed - 2_000)).toBeLessThan(400);
  const one = new Int32Array(4);
  drawStationaryBlocks(1, 3, new Random(2), one);
  expect([...one]).toEqual([0, 0, 0, 0]);
});

Deno.test("a path of candles is made of real candles against the close before them, by a slow second implementation", () => {
  const count = 40;
  const random = new Random(9);
  const column = () => new Float64Array(count);
  const candles = { time: column(), open: column(), high: column(), low: column(), close: column(), volume: column() };
  let price = 50;
  for (let i = 0; i < count; i++) {
    const [open, close] = [price * (1 + 0.01 * random.normal()), price * (1 + 0.02 * random.normal())];
    candles.time[i] = i * 3_600_000;
    candles.open[i] = open;
    candles.close[i] = close;
    candles.high[i] = Math.max(open, close) * 1.01;
    candles.low[i] = Math.min(open, close) * 0.99;
    candles.volume[i] = i;
    price = close;
  }
  const paths = new CandlePaths(candles, 10, 5);
  const drawing = new Random(3);
  const path: Candles = paths.next(new Random(3));
  const indexes = new Int32Array(30);
  drawStationaryBlocks(30, 5, drawing, indexes);
  let before = candles.close[9]!;
  for (let i = 10; i < count; i++) {
    const source = 10 + indexes[i - 10]!;
    for (const name of ["open", "high", "low", "close"] as const) {
      expect(path[name][i]! / before).toBeCloseTo(candles[name][source]! / candles.close[source - 1]!, 12);
    }
    expect(path.volume[i]).toBe(source);
    expect(path.high[i]).toBeGreaterThanOrEqual(Math.max(path.open[i]!, path.close[i]!));
    expect(path.low[i]).toBeLessThanOrEqual(Math.min(path.open[i]!, path.close[i]!));
    before = path.close[i]!;
  }
  expect([...path.close.subarray(0, 10)]).toEqual([...candles.close.subarray(0, 10)]);
  expect(path.time).toBe(candles.time);
  const fill = (value: (i: number) => number) => Float64Array.from({ length: 200 }, (_, i) => value(i));
  const alike = (price: Float64Array) => ({
    time: price,
    open: price,
    high: price,
    low: price,
    close: price,
    volume: price,
  });
  const [doubling, jumping] = [fill((i) => 2 ** i), fill((i) => i % 2 === 0 ? 1e-150 : 1e150)];
  expect(() => new CandlePaths(alike(doubling), 100, 5).next(new Random(1))).not.toThrow();
  expect(() => new CandlePaths(alike(jumping), 100, 5).next(new Random(1))).toThrow("leave the range of numbers");
  // Without lookback the first candle is taken against its own open.
  expect(new CandlePaths(candles, 0, 1e9).next(new Random(3)).close.length).toBe(count);
});
