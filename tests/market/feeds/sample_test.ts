import { expect } from "@std/expect";
import { hashCandles } from "../../../market/archive/candle_columns.ts";
import { generateSample, SAMPLE_FEED, SAMPLE_INSTRUMENT } from "../../../market/feeds/sample.ts";

const months = [...generateSample()];

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
  expect(hashCandles(months[0]!)).toBe("70b95cada82bdbdf382f4562db3a1b7c2777d301b4a3a587909cd797c8c66aa2");
  expect(hashCandles(months[11]!)).toBe("654048af8321a67a7e05309e411aeabca3abcf67496b19af28fdc5fa8f59fa64");
});

Deno.test("sample candles are candles: high is highest, low is lowest, prices in cents", () => {
  for (const { open, high, low, close, volume } of months) {
    for (let i = 0; i < open.length; i++) {
      const ok = high[i]! >= Math.max(open[i]!, close[i]!) && low[i]! <= Math.min(open[i]!, close[i]!) &&
        low[i]! > 0 && volume[i]! > 0 && Number(close[i]!.toFixed(2)) === close[i];
      if (!ok) throw new Error(`Cannot accept candle ${i}: ${[open[i], high[i], low[i], close[i], volume[i]]}`);
    }
  }
});

Deno.test("the sample looks like a market: prices of one order, a daily move of a few percent, quiet and wild days", () => {
  const closes = months.flatMap(({ close }) => [...close].filter((_, i) => i % 1440 === 1439));
  expect(Math.min(...closes)).toBeGreaterThan(10_000);
  expect(Math.max(...closes)).toBeLessThan(100_000);
  const moves = closes.slice(1).map((close, i) => Math.abs(close / closes[i]! - 1));
  const mean = moves.reduce((sum, move) => sum + move, 0) / moves.length;
  expect(mean).toBeGreaterThan(0.01);
  expect(mean).toBeLessThan(0.05);
});

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
  const after = await Array.fromAsync(
    SAMPLE_FEED.fetch({ ...request, start: Date.UTC(2025, 0, 1), end: Date.UTC(2025, 0, 2) }),
  );
  expect(after.map((part) => part.candles.time.length)).toEqual([0]);
});
