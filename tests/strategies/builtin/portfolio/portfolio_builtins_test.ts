/** The built-in portfolio strategies: their weights by hand, and their catalogue. */
import { expect } from "@std/expect";
import type { Candles } from "../../../../engine/candles.ts";
import { resolveExecution } from "../../../../engine/execution.ts";
import type { PortfolioMarket, PortfolioResult } from "../../../../engine/portfolio/portfolio.ts";
import { runPortfolio } from "../../../../engine/portfolio/run_portfolio.ts";
import {
  findPortfolioBuiltin,
  PORTFOLIO_BUILTINS,
} from "../../../../strategies/builtin/portfolio/portfolio_catalogue.ts";
import { measureSpread } from "../../../../strategies/builtin/portfolio/pairs.ts";
import { leastVariance, shrunkCovariance } from "../../../../strategies/builtin/portfolio/shrinkage.ts";
import { walkMarket } from "../../../engine/portfolio/walk_market.ts";
import { bytesOf } from "../../../engine/properties/bytes.ts";
import { randomFrom } from "../../../engine/properties/random.ts";

const DAY_MS = 86_400_000;

/** Candles of a day that open and close at the same prices. */
function daysOf(close: readonly number[]): Candles {
  const column = Float64Array.from(close);
  return {
    time: column.map((_, i) => i * DAY_MS),
    open: column,
    high: column,
    low: column,
    close: column,
    volume: column.map(() => 1),
  };
}

const marketOf = (id: string, candles: Candles, more: Partial<PortfolioMarket> = {}): PortfolioMarket => ({
  id: `${id}@X`,
  symbol: id,
  exchange: "X",
  candles,
  firstIndex: 0,
  ...more,
});

function runOf(
  slug: string,
  parameters: Record<string, unknown>,
  markets: readonly PortfolioMarket[],
): PortfolioResult {
  const builtin = findPortfolioBuiltin(slug)!;
  const defaults = Object.entries(builtin.parameter_schema.properties).map((
    [name, property],
  ) => [name, property.default]);
  return runPortfolio({
    markets,
    timeframeMs: DAY_MS,
    initialBalance: 1000,
    execution: resolveExecution({ quantityStep: 1e-6 }, "crypto"),
    strategy: builtin.create({ ...Object.fromEntries(defaults), ...parameters }),
    control: null,
  });
}

/** The weights at a mark, by market. */
function weightsAt({ weights }: PortfolioResult, mark: number, markets: number): number[] {
  const found = new Array<number>(markets).fill(0);
  weights.mark.forEach((at, k) => {
    if (at === mark) found[weights.market[k]!] = weights.weight[k]!;
  });
  return found;
}

const flat = (price: number, days = 12) => daysOf(new Array<number>(days).fill(price));
const near = (found: readonly number[], expected: readonly number[]) =>
  found.forEach((value, k) => expect(value).toBeCloseTo(expected[k]!, 5));

Deno.test("equal-weight holds each member alike, and no other", () => {
  const member = { memberships: [{ from: 6 * DAY_MS, until: Infinity }] };
  const markets = [marketOf("A", flat(10)), marketOf("B", flat(20)), marketOf("C", flat(5), member)];
  const result = runOf("equal-weight", { every: "day" }, markets);
  near(weightsAt(result, 3, 3), [1 / 2, 1 / 2, 0]);
  near(weightsAt(result, 9, 3), [1 / 3, 1 / 3, 1 / 3]);
});

Deno.test("fixed-weights waits for its band", () => {
  // A rises from 10 to 12 on day 4 and to 20 on day 8: 50% become 54.5%, and then 66.7%.
  const a = daysOf([10, 10, 10, 10, 12, 12, 12, 12, 20, 20, 20, 20]);
  const markets = [marketOf("A", a), marketOf("B", flat(10))];
  const result = runOf("fixed-weights", { weights: "A 0.5, B@X 0.5", band: 0.1, every: "day" }, markets);
  near(weightsAt(result, 6, 2), [600 / 1100, 500 / 1100]);
  near(weightsAt(result, 8, 2), [1000 / 1500, 500 / 1500]);
  near(weightsAt(result, 10, 2), [0.5, 0.5]);
  expect(() => runOf("fixed-weights", { weights: "Z 1" }, markets)).toThrow(
    "must name instruments of the run: 0 are called Z",
  );
  expect(() => runOf("fixed-weights", { weights: "A" }, markets)).toThrow('"A" is not one');
  expect(() => runOf("fixed-weights", { weights: "A 1, A 2" }, markets)).toThrow("A twice");
});

Deno.test("inverse-volatility gives half the weight to twice the volatility", () => {
  // Returns of +-1% and +-2% in turn, from the last two on.
  const swing = (part: number) => {
    const closes = [100];
    for (let k = 1; k < 12; k++) closes.push(closes[k - 1]! * (k % 2 === 1 ? 1 + part : 1 - part));
    return daysOf(closes);
  };
  const result = runOf("inverse-volatility", { lookback: 4, every: "day" }, [
    marketOf("A", swing(0.01)),
    marketOf("B", swing(0.02)),
  ]);
  // At the open of day 6, which equals its close, the weights are those of the close of day 5: 1 / 0.01 and 1 / 0.02.
  near(weightsAt(result, 6, 2), [2 / 3, 1 / 3]);
});

Deno.test("minimum-variance: two instruments without correlation weigh by 1 / variance", () => {
  near([...leastVariance({ size: 2, values: Float64Array.of(1, 0, 0, 4), intensity: 0 })], [0.8, 0.2]);
  // The third would be held short: it is left out.
  near([...leastVariance({ size: 3, values: Float64Array.of(1, 0, 1.5, 0, 1, 0, 1.5, 0, 4), intensity: 0 })], [
    0.5,
    0.5,
    0,
  ]);
});

Deno.test("shrinkage keeps the sum of variances, and little of a short sample's correlation", () => {
  const random = randomFrom(5);
  const noise = (count: number) => Float64Array.from({ length: count }, () => random.between(-1, 1));
  const short = shrunkCovariance([noise(5), noise(5), noise(5), noise(5)]);
  const long = shrunkCovariance([noise(5000), noise(5000).map((value) => 3 * value)]);
  expect(short.intensity).toBeGreaterThan(0.5);
  expect(long.intensity).toBeLessThan(0.01);
  expect(long.values[0]).toBeGreaterThan(0.3);
  expect(long.values[3]! / long.values[0]!).toBeGreaterThan(8);
  const same = Float64Array.of(1, -1, 1, -1);
  expect(shrunkCovariance([same, same]).values[0]).toBeCloseTo(1, 12);
});

Deno.test("momentum-rotation holds the best, skips the last candles, and leaves losers to cash", () => {
  const rising = (part: number) => daysOf(Array.from({ length: 12 }, (_, k) => 100 * (1 + part) ** k));
  const markets = [
    marketOf("A", rising(0.01)),
    marketOf("B", rising(0.03)),
    marketOf("C", rising(-0.01)),
    marketOf("D", rising(0.02)),
  ];
  const two = runOf("momentum-rotation", { top: 2, lookback: 3, every: "day" }, markets);
  near(weightsAt(two, 4, 4), [0, 0.5, 0, 0.5]);
  const all = runOf("momentum-rotation", { top: 4, lookback: 3, every: "day" }, markets);
  near(weightsAt(all, 4, 4), [0.25, 0.25, 0, 0.25]);
  expect(() => runOf("momentum-rotation", { lookback: 3, skip: 3 }, markets)).toThrow(
    "skip must be less than lookback",
  );
});

Deno.test("momentum-rotation holds those of equal returns that are listed first", () => {
  const rising = (part: number) => daysOf(Array.from({ length: 12 }, (_, k) => 100 * (1 + part) ** k));
  const markets = ["A", "B", "C", "D"].map((id) => marketOf(id, rising(id === "C" ? 0.02 : 0.01)));
  const two = runOf("momentum-rotation", { top: 2, lookback: 3, every: "day" }, markets);
  near(weightsAt(two, 4, 4), [0.5, 0, 0.5, 0]);
  const three = runOf("momentum-rotation", { top: 3, lookback: 3, every: "day" }, markets);
  near(weightsAt(three, 4, 4), [1 / 3, 1 / 3, 1 / 3, 0]);
});

Deno.test("pairs sells the spread when it is wide, and leaves when it is back", () => {
  // The same walk for both, and a bump of 20% in the first for two days.
  const random = randomFrom(11);
  const common = Array.from({ length: 60 }, () => random.between(-0.01, 0.01)).map((() => {
    let log = Math.log(100);
    return (step: number) => Math.exp(log += step);
  })());
  const noisy = common.map((price, k) => price * (k === 40 || k === 41 ? 1.2 : 1 + 0.004 * (k % 2)));
  const markets = [marketOf("A", daysOf(noisy)), marketOf("B", daysOf(common))];
  const result = runOf("pairs", { lookback: 30, entry: 3, exit: 1, stop: 50 }, markets);
  const { trades } = result;
  expect([...trades.market.slice(0, 2)].sort()).toEqual([0, 1]);
  const first = [...trades.market].indexOf(0);
  expect([trades.side[first], trades.entryTime[first]]).toEqual([-1, 41 * DAY_MS]);
  expect(trades.exitTime[first]).toBe(43 * DAY_MS);
  expect(trades.pnl[first]).toBeGreaterThan(0);
  expect(() => runOf("pairs", { exit: 3 }, markets)).toThrow("exit, entry and stop must rise");
});

Deno.test("a spread's hedge is the slope of the logarithms, and its half-life that of its deviations", () => {
  const b = Float64Array.from({ length: 200 }, (_, k) => Math.sin(k * 7.3));
  // A deviation of 1 that halves with each candle, on top of 2 x b.
  const a = b.map((value, k) => 2 * value + 0.5 ** (k % 20));
  const { hedge, halfLife } = measureSpread(a, b);
  expect(hedge).toBeCloseTo(2, 1);
  expect(halfLife).toBeGreaterThan(0.5);
  expect(halfLife).toBeLessThan(3);
});

Deno.test("every built-in: a unique slug, defaults that run, and the same bytes again", () => {
  expect(new Set(PORTFOLIO_BUILTINS.map(({ slug }) => slug)).size).toBe(6);
  const random = randomFrom(2);
  const walks = [1, 2].map(() => walkMarket(random, 400, DAY_MS));
  for (const { slug, description, instruments } of PORTFOLIO_BUILTINS) {
    const once = () => runOf(slug, {}, walks.map((candles, n) => marketOf(`W${n}`, candles)));
    const result = once();
    expect(bytesOf(once())).toBe(bytesOf(result));
    expect([slug, description.length > 80, instruments.min <= 2]).toEqual([slug, true, true]);
    if (slug !== "pairs") expect(result.trades.count).toBeGreaterThan(1);
  }
});
