/** The lines that portfolio strategies are drawn with are those by which they decide. */
import { expect } from "@std/expect";
import type { Candles } from "../../../../engine/candles.ts";
import { resolveExecution } from "../../../../engine/execution.ts";
import type { PortfolioMarket, PortfolioResult } from "../../../../engine/portfolio/portfolio.ts";
import { runPortfolio } from "../../../../engine/portfolio/run_portfolio.ts";
import { DecisionRecord } from "../../../../strategies/builtin/portfolio/decision_lines.ts";
import {
  findPortfolioBuiltin,
  PORTFOLIO_BUILTINS,
} from "../../../../strategies/builtin/portfolio/portfolio_catalogue.ts";
import { walkMarket } from "../../../engine/portfolio/walk_market.ts";
import { bytesOf } from "../../../engine/properties/bytes.ts";
import { randomFrom } from "../../../engine/properties/random.ts";
import { DAY_MS, parametersOf } from "../../random_runs.ts";

/** Candles of a day that open and close at the same prices. */
function daysOf(close: readonly number[]): Candles {
  const column = Float64Array.from(close);
  const time = column.map((_, i) => i * DAY_MS);
  return { time, open: column, high: column, low: column, close: column, volume: column.map(() => 1) };
}

const marketsOf = (candles: readonly Candles[]): PortfolioMarket[] =>
  candles.map((each, n) => ({
    ...{ id: `${"ABCDEFGHIJ"[n]}@X`, symbol: "ABCDEFGHIJ"[n]!, exchange: "X", candles: each, firstIndex: 0 },
  }));

interface Drawn {
  readonly result: PortfolioResult;
  /** Values a mark, by the name of their line. */
  readonly lines: Readonly<Record<string, readonly number[]>>;
  readonly panes: readonly string[];
}

function draw(slug: string, parameters: object, markets: readonly PortfolioMarket[], most = 16): Drawn {
  const builtin = findPortfolioBuiltin(slug)!;
  const record = new DecisionRecord(16);
  const strategy = builtin.create({ ...parametersOf(builtin.parameter_schema.properties, 1), ...parameters }, record);
  const result = runPortfolio({
    ...{ markets, timeframeMs: DAY_MS, initialBalance: 1000, control: null, strategy },
    execution: resolveExecution({ quantityStep: 1e-6 }, "crypto"),
  });
  const plots = record.draw(result.instant, most);
  return {
    result,
    lines: Object.fromEntries(plots.map(({ name, values }) => [name, [...values]])),
    panes: plots.map(({ name, pane }) => `${pane}: ${name}`),
  };
}

const flat = (price: number, days = 12) => daysOf(new Array<number>(days).fill(price));
const rising = (part: number) => daysOf(Array.from({ length: 12 }, (_, k) => 100 * (1 + part) ** k));
const near = (found: readonly number[] | undefined, expected: readonly number[]) => {
  expect(found).toHaveLength(expected.length);
  found?.forEach((value, k) => expect([k, value]).toEqual([k, expect.closeTo(expected[k]!, 5)]));
};

Deno.test("equal-weight draws the part of each, and how far what is held is from it", () => {
  // A is held from day 1 on with 0.5. Within day 4 it doubles: 500 of 1000 become 1000 of 1500.
  const close = [10, 10, 10, 10, 20, 20, 20, 20, 20, 20, 20, 20];
  const a = { ...daysOf(close), open: Float64Array.from([10, ...close.slice(0, -1)]) };
  const { lines, panes } = draw("equal-weight", { every: "day" }, marketsOf([a, flat(10)]));
  expect(panes).toEqual(["weight: target", "weight: most held", "weight: least held"]);
  near(lines["target"], new Array(12).fill(0.5));
  near(lines["most held"]!.slice(0, 6), [0, 0.5, 0.5, 0.5, 2 / 3, 0.5]);
  near(lines["least held"]!.slice(0, 6), [0, 0.5, 0.5, 0.5, 1 / 3, 0.5]);
});

Deno.test("fixed-weights draws deviations and the band: it trades where one reaches the band", () => {
  // As in its own test: A is 54.5% on day 4, and 66.7% on day 8.
  const a = daysOf([10, 10, 10, 10, 12, 12, 12, 12, 20, 20, 20, 20]);
  const markets = marketsOf([a, flat(10)]);
  const { lines, panes, result } = draw("fixed-weights", { weights: "A 0.5, B 0.5", band: 0.1, every: "day" }, markets);
  expect(panes).toEqual(["band", "-band", "largest", "A@X deviation", "B@X deviation"].map((n) => `deviation: ${n}`));
  near(lines["A@X deviation"]!.slice(1, 10), [0, 0, 0, ...new Array(4).fill(6 / 11 - 0.5), 2 / 3 - 0.5, 0]);
  expect(lines["A@X deviation"]![0]).toBeNaN();
  expect([lines["band"]![0], lines["-band"]![11]]).toEqual([0.1, -0.1]);
  const isReached = lines["largest"]!.map((value, day) => value >= lines["band"]![day]!);
  expect(isReached.indexOf(true)).toBe(8);
  // The first trade of A beside its entry is filled on the day after.
  expect([...result.trades.exitTime.slice(0, result.trades.count)]).toContain(9 * DAY_MS);
  expect(draw("fixed-weights", { weights: "", band: 0 }, markets).panes[0]).toBe("deviation: largest");
});

Deno.test("inverse-volatility draws volatilities, and the weights that follow from them", () => {
  const swing = (part: number) => daysOf(Array.from({ length: 12 }, (_, k) => 100 * (k % 2 === 1 ? 1 + part : 1)));
  const { lines, panes } = draw(
    "inverse-volatility",
    { lookback: 4, every: "day" },
    marketsOf([swing(0.01), swing(0.02)]),
  );
  expect(panes).toEqual([
    ...["volatility: A@X volatility", "volatility: B@X volatility", "weight: A@X weight", "weight: B@X weight"],
  ]);
  expect(lines["A@X volatility"]![3]).toBeNaN();
  for (let day = 4; day < 12; day++) {
    const [a, b] = [1 / lines["A@X volatility"]![day]!, 1 / lines["B@X volatility"]![day]!];
    expect(lines["A@X weight"]![day]).toBeCloseTo(a / (a + b), 3);
    expect(a / b).toBeCloseTo(2, 1);
  }
});

Deno.test("minimum-variance draws the volatility of its mix, which is below that of equal parts", () => {
  const random = randomFrom(3);
  const markets = marketsOf([1, 2, 3].map(() => walkMarket(random, 300, DAY_MS)));
  const { lines, panes } = draw("minimum-variance", { lookback: 30 }, markets);
  expect(panes.slice(0, 3)).toEqual([
    ...["volatility: volatility of the mix", "volatility: volatility of equal parts", "weight: A@X weight"],
  ]);
  let compared = 0;
  lines["volatility of the mix"]!.forEach((mix, day) => {
    const sum = ["A", "B", "C"].reduce((total, each) => total + lines[`${each}@X weight`]![day]!, 0);
    if (Number.isNaN(mix)) return;
    expect(mix).toBeLessThanOrEqual(lines["volatility of equal parts"]![day]! + 1e-6);
    expect(sum).toBeCloseTo(1, 5);
    compared++;
  });
  expect(compared).toBeGreaterThan(200);
});

Deno.test("momentum-rotation draws momentum, the filter, and the least that is held", () => {
  const markets = marketsOf([rising(0.01), rising(0.03), rising(-0.01), rising(0.02)]);
  const { lines, panes } = draw("momentum-rotation", { top: 2, lookback: 5, every: "day", filter: 0.001 }, markets);
  expect(panes).toEqual([
    ...["filter", "least held", "A@X momentum", "B@X momentum", "C@X momentum", "D@X momentum"],
  ].map((name) => `momentum: ${name}`));
  // B and D are held: the worse of them is D.
  expect(lines["least held"]![4]).toBeNaN();
  near(lines["least held"]!.slice(5), new Array(7).fill(1.02 ** 5 - 1));
  near(lines["C@X momentum"]!.slice(5), new Array(7).fill(0.99 ** 5 - 1));
  near(lines["filter"]!.slice(5), new Array(7).fill(0.001));
});

Deno.test("pairs draws its score with its levels: each entry is beyond the entry, each exit within the exit or beyond the stop", () => {
  const random = randomFrom(8);
  const common = walkMarket(random, 600, DAY_MS).close;
  let gap = 0;
  const other = [...common].map((price) => price * Math.exp(gap = 0.7 * gap + random.between(-0.02, 0.02)));
  const markets = marketsOf([daysOf(other), daysOf([...common])]);
  const { lines, panes, result: { trades } } = draw("pairs", { lookback: 40, entry: 1.5, exit: 0.5 }, markets);
  expect([...new Set(panes.map((pane) => pane.split(":")[0]))]).toEqual(["z-score", "spread", "half-life"]);
  const at = (name: string, day: number) => lines[name]![day]!;
  expect(trades.count).toBeGreaterThan(6);
  for (let n = 0; n < trades.count; n++) {
    const [entered, left] = [trades.entryTime[n]! / DAY_MS - 1, trades.exitTime[n]! / DAY_MS - 1];
    const [score, later] = [at("z-score", entered), at("z-score", left)];
    expect(Math.abs(score)).toBeGreaterThanOrEqual(at("entry", entered));
    expect(at("half-life", entered)).toBeLessThanOrEqual(at("longest", entered));
    expect(Math.sign(score)).toBe(Math.sign(at("spread", entered) - at("mean", entered)));
    if (Number.isNaN(left)) continue;
    const isBack = score > 0 ? later <= at("exit", left) : later >= at("-exit", left);
    expect(isBack || Math.abs(later) >= at("stop", left)).toBe(true);
  }
});

Deno.test("lines change no result, have unique names, and keep to the first markets where there are many", () => {
  const random = randomFrom(2);
  const markets = marketsOf(Array.from({ length: 10 }, () => walkMarket(random, 400, DAY_MS)));
  for (const { slug, instruments, create, parameter_schema } of PORTFOLIO_BUILTINS) {
    const members = markets.slice(0, instruments.max ?? 10);
    const { result, lines, panes } = draw(slug, {}, members);
    const alone = runPortfolio({
      ...{ markets: members, timeframeMs: DAY_MS, initialBalance: 1000, control: null },
      execution: resolveExecution({ quantityStep: 1e-6 }, "crypto"),
      strategy: create(parametersOf(parameter_schema.properties, 1)),
    });
    expect([slug, bytesOf(result) === bytesOf(alone)]).toEqual([slug, true]);
    const names = Object.keys(lines);
    expect([slug, names.length === panes.length, names.length <= 16]).toEqual([slug, true, true]);
    for (const values of Object.values(lines)) expect(values.some(Number.isFinite)).toBe(true);
    expect(names.some((name) => name.startsWith("I@X"))).toBe(false);
    expect(Object.keys(draw(slug, {}, members, 2).lines)).toEqual(names.slice(0, 2));
  }
});

Deno.test("a value holds until the next decision, and a further simulation adds nothing", () => {
  const record = new DecisionRecord(1);
  record.begin([{ name: "a", pane: "p" }, { name: "b", pane: "p" }]);
  record.add(20, [1.0000004, 7]);
  record.add(40, [NaN, 7]);
  record.begin([{ name: "a", pane: "p" }]);
  record.add(50, [3]);
  const lines = record.draw(Float64Array.of(10, 20, 30, 40, 50), 16);
  expect(lines.map(({ name, values }) => [name, ...values])).toEqual([["a", NaN, 1, 1, NaN, NaN]]);
  expect(new DecisionRecord(16).draw(Float64Array.of(10), 16)).toEqual([]);
});
