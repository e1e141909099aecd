import { createHash } from "node:crypto";
import { expect } from "@std/expect";
import { hashCandles } from "../../../market/archive/candle_columns.ts";
import { SAMPLE_FEED, SAMPLE_INSTRUMENTS, SAMPLE_RANGE } from "../../../market/feeds/sample.ts";
import { generateDays, SAMPLE_MEMBERS, SAMPLE_STOCKS } from "../../../market/feeds/sample_stocks.ts";

const [SAMPLE_INSTRUMENT, SAMPLE_STOCK] = SAMPLE_INSTRUMENTS;

const monthsOf = async (instrument: typeof SAMPLE_INSTRUMENTS[number]) =>
  (await Array.fromAsync(SAMPLE_FEED.fetch({ instrument, timeframe: "1m", ...SAMPLE_RANGE }))).map(({ candles }) =>
    candles
  );
const months = await monthsOf(SAMPLE_INSTRUMENT);
const stock = await monthsOf(SAMPLE_STOCK);

Deno.test("the sample is every minute of 2024", () => {
  expect(months.length).toBe(12);
  let expected = Date.UTC(2024, 0, 1);
  for (const { time } of months) {
    for (const open of time) {
      if (open !== expected) throw new Error(`Cannot find the minute ${new Date(expected).toISOString()}`);
      expected += 60_000;
    }
  }
  expect(new Date(expected).toISOString()).toBe("2025-01-01T00:00:00.000Z");
});

Deno.test("the sample has the same bytes on every machine and in every version", () => {
  expect(hashCandles(months[0]!)).toBe("f9dafa1536f2397762b8656f469530eb8d207279d2a0cbb5f4b891c8214de3c6");
  expect(hashCandles(months[11]!)).toBe("dc2726b07e84beb99cab9555165f9599f3c67ecd06d6380613054b16dae25765");
  expect(hashCandles(stock[11]!)).toBe("fd50522ff0b6b2f19cf6e5ae401498442b50b326c9e171abb4f59a8a0156b5bd");
});

Deno.test("sample candles are candles: high is highest, low is lowest, prices in cents", () => {
  for (const { open, high, low, close, volume } of [...months, ...stock]) {
    for (let i = 0; i < open.length; i++) {
      const ok = high[i]! >= Math.max(open[i]!, close[i]!) && low[i]! <= Math.min(open[i]!, close[i]!) &&
        low[i]! > 0 && volume[i]! > 0 && Number(close[i]!.toFixed(2)) === close[i];
      if (!ok) throw new Error(`Cannot accept candle ${i}: ${[open[i], high[i], low[i], close[i], volume[i]]}`);
    }
  }
});

/** The sum of the products of numbers with those some places later, as a share of the sum of their squares. */
function autocorrelation(numbers: readonly number[], lag: number): number {
  const mean = numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
  const product = (from: number) =>
    numbers.slice(from).reduce((sum, each, i) => sum + (each - mean) * (numbers[i]! - mean), 0);
  return product(lag) / product(0);
}

Deno.test("the samples look like markets: days without a memory for direction, with one for size, and with fat tails", () => {
  const closes = months.flatMap(({ close }) => [...close].filter((_, i) => i % 1440 === 1439));
  const stockCloses = stock.flatMap(({ close }) => [...close].filter((_, i) => i % 390 === 389));
  for (const [prices, bounds] of [[closes, [10_000, 100_000]], [stockCloses, [100, 300]]] as const) {
    expect(Math.min(...prices)).toBeGreaterThan(bounds[0]!);
    expect(Math.max(...prices)).toBeLessThan(bounds[1]!);
    const returns = prices.slice(1).map((close, i) => close / prices[i]! - 1);
    const moves = returns.map(Math.abs);
    const mean = moves.reduce((sum, move) => sum + move, 0) / moves.length;
    expect(mean).toBeGreaterThan(0.005);
    expect(mean).toBeLessThan(0.05);
    // The standard error of a year is 0.06: chance alone gives no more.
    expect(Math.abs(autocorrelation(returns, 1))).toBeLessThan(0.1);
    for (const lag of [2, 3]) expect(Math.abs(autocorrelation(returns, lag))).toBeLessThan(0.15);
    expect(autocorrelation(moves, 1)).toBeGreaterThan(0.1);
    const power = (exponent: number) => returns.reduce((sum, each) => sum + each ** exponent, 0) / returns.length;
    // 3 is the normal distribution's.
    expect(power(4) / power(2) ** 2).toBeGreaterThan(3.4);
  }
});

Deno.test("the sample stock trades in sessions of New York, rests on holidays, and opens away from its last close", () => {
  const times = stock.flatMap(({ time }) => [...time]);
  // 2024 has 262 weekdays, ten of them holidays.
  expect(times.length).toBe(252 * 390);
  const opens = times.filter((_, i) => i % 390 === 0).map((time) => new Date(time).toISOString());
  expect(opens.slice(0, 2)).toEqual(["2024-01-02T14:30:00.000Z", "2024-01-03T14:30:00.000Z"]);
  expect(opens).toContain("2024-07-03T13:30:00.000Z");
  expect(opens.filter((open) => open.startsWith("2024-07-04"))).toEqual([]);
  const [open, close] = [stock.flatMap((month) => [...month.open]), stock.flatMap((month) => [...month.close])];
  const gaps = open.filter((_, i) => i > 0 && i % 390 === 0).map((price, i) =>
    Math.abs(price / close[i * 390 + 389]! - 1)
  );
  const inside = open.slice(1, 390).map((price, i) => Math.abs(price / close[i]! - 1));
  const mean = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
  expect(mean(gaps)).toBeGreaterThan(20 * mean(inside));
});

Deno.test("the sample stocks have a market in common, two leave it and one joins, and their bytes are the same everywhere", () => {
  const range = { start: 0, end: Date.UTC(2030, 0, 1) };
  const days = SAMPLE_STOCKS.map(({ symbol }) => generateDays(symbol, range)!);
  expect(createHash("sha256").update(days.map(hashCandles).join()).digest("hex")).toBe(
    "716fba89a3009cc2500ea1354f46abae30ccec8896c8ca2f30c4f807e687d334",
  );
  const returns = days.map(({ time, close }) =>
    new Map([...close].slice(1).map((price, i) => [time[i + 1]!, price / close[i]! - 1]))
  );
  const correlations = returns.flatMap((one, i) => returns.slice(i + 1).map((two) => correlate(one, two)));
  const mean = correlations.filter((each) => !Number.isNaN(each)).reduce((sum, each) => sum + each, 0) / 65;
  // Twelve coins would have 0, within 0.04; stocks of one country have some 0.3 to 0.5.
  expect([mean > 0.3, mean < 0.55, Math.min(...correlations.filter((each) => each < 1)) > 0.15]).toEqual([
    true,
    true,
    true,
  ]);
  for (const { open, high, low, close, volume } of days) {
    for (let i = 0; i < open.length; i++) {
      const ok = high[i]! >= Math.max(open[i]!, close[i]!) && low[i]! <= Math.min(open[i]!, close[i]!) && low[i]! > 0 &&
        volume[i]! > 0;
      if (!ok) throw new Error(`Cannot accept candle ${i}: ${[open[i], high[i], low[i], close[i], volume[i]]}`);
    }
  }
  const dates = days.map(({ time }) =>
    [time[0]!, time.at(-1)!].map((each) => new Date(each).toISOString().slice(0, 10))
  );
  expect(
    SAMPLE_MEMBERS.map(({ symbol, from, to }, i) => [symbol, from, to, ...dates[i]!]).filter(([, from, to]) =>
      from ?? to
    ),
  )
    .toEqual([
      ["ELM", undefined, "2023-03-11", "2022-01-03", "2023-03-10"],
      ["PINE", undefined, "2024-05-18", "2022-01-03", "2024-05-17"],
      ["ROWAN", "2023-06-15", undefined, "2023-06-15", "2024-12-31"],
    ]);
});

/** Pearson's, over the days that both have; NaN without a common day. */
function correlate(one: ReadonlyMap<number, number>, two: ReadonlyMap<number, number>): number {
  const pairs = [...one].flatMap(([time, value]) => two.has(time) ? [[value, two.get(time)!] as const] : []);
  const mean = (pick: 0 | 1) => pairs.reduce((sum, pair) => sum + pair[pick], 0) / pairs.length;
  const [x, y] = [mean(0), mean(1)];
  const sum = (product: (dx: number, dy: number) => number) =>
    pairs.reduce((total, [a, b]) => total + product(a - x, b - y), 0);
  return sum((dx, dy) => dx * dy) / Math.sqrt(sum((dx) => dx * dx) * sum((_, dy) => dy * dy));
}

Deno.test("the sample feed yields the requested range without holes between its parts", async () => {
  const start = Date.UTC(2024, 0, 31, 23, 58);
  const request = { instrument: SAMPLE_INSTRUMENT, timeframe: "1m", start, end: Date.UTC(2024, 1, 1, 0, 3) } as const;
  const parts = await Array.fromAsync(SAMPLE_FEED.fetch(request));
  const boundary = Date.UTC(2024, 1, 1);
  expect(parts.map((part) => [part.start, part.end, part.candles.time.length])).toEqual([
    [start, boundary, 2],
    [boundary, request.end, 3],
  ]);
  expect(parts[1]!.candles.close[2]).toBe(months[1]!.close[2]);
  // A stock's night belongs to the parts around it.
  const night = {
    ...request,
    instrument: SAMPLE_STOCK,
    start: Date.UTC(2024, 0, 31, 20, 58),
    end: Date.UTC(2024, 1, 1, 14, 32),
  };
  const sessions = await Array.fromAsync(SAMPLE_FEED.fetch(night));
  expect(sessions.map((part) => [part.start, part.end, part.candles.time.length])).toEqual([
    [night.start, boundary, 2],
    [boundary, night.end, 2],
  ]);
  const after = await Array.fromAsync(
    SAMPLE_FEED.fetch({ ...request, start: Date.UTC(2025, 0, 1), end: Date.UTC(2025, 0, 2) }),
  );
  expect(after.map((part) => part.candles.time.length)).toEqual([0]);
});
