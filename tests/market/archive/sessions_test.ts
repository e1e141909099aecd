import { expect } from "@std/expect";
import type { Candles } from "../../../engine/candles.ts";
import { concatCandles, lowerBound, sliceCandles } from "../../../market/archive/candle_columns.ts";
import { bucketsOf } from "../../../market/archive/made_candles.ts";
import { Resampler } from "../../../market/archive/resample.ts";
import { monthEnd, monthOf, type Timeframe } from "../../../market/timeframes.ts";
import { localTime, type Market, MARKETS, minutesOf, naiveLabel } from "./naive_sessions.ts";

/** Candles with prices that differ from minute to minute. */
function priced(times: readonly number[]): Candles {
  const wave = (seed: number) => Float64Array.from(times, (_, i) => 100 + ((i * seed) % 997) / 10);
  const [open, close] = [wave(7), wave(11)];
  return {
    time: Float64Array.from(times),
    open,
    high: open.map((price, i) => Math.max(price, close[i]!) + (i % 5)),
    low: open.map((price, i) => Math.min(price, close[i]!) - (i % 3)),
    close,
    volume: Float64Array.from(times, (_, i) => i % 13),
  };
}

function naiveCandles(market: Market, timeframe: Timeframe, minutes: Candles, local: Float64Array): Candles {
  const rows: { label: number; o: number; h: number; l: number; c: number; v: number }[] = [];
  minutes.time.forEach((time, i) => {
    const label = naiveLabel(market, timeframe, time, local[i]!);
    if (label === null) return;
    const last = rows.at(-1);
    const [o, h, l, c, v] = [
      minutes.open[i]!,
      minutes.high[i]!,
      minutes.low[i]!,
      minutes.close[i]!,
      minutes.volume[i]!,
    ];
    if (last?.label !== label) rows.push({ label, o, h, l, c, v });
    else Object.assign(last, { h: Math.max(last.h, h), l: Math.min(last.l, l), c, v: last.v + v });
  });
  return {
    time: Float64Array.from(rows, ({ label }) => label),
    open: Float64Array.from(rows, ({ o }) => o),
    high: Float64Array.from(rows, ({ h }) => h),
    low: Float64Array.from(rows, ({ l }) => l),
    close: Float64Array.from(rows, ({ c }) => c),
    volume: Float64Array.from(rows, ({ v }) => v),
  };
}

/** Resampled in months, as the archive reads them. */
function resampled(market: Market, timeframe: Timeframe, minutes: Candles): Candles {
  const resampler = new Resampler(bucketsOf(market, "1m", { timeframe }), "1m");
  const parts: Candles[] = [];
  for (let from = 0; from < minutes.time.length;) {
    const until = lowerBound(minutes.time, monthEnd(monthOf(minutes.time[from]!)));
    parts.push(resampler.push(sliceCandles(minutes, from, until)));
    from = until;
  }
  return concatCandles([...parts, resampler.flush()]);
}

/** Timeframes over all three years; the others, which are cut in the same way, over the last one. */
const LONG = ["5m", "1h", "4h", "1d", "1w", "1M"] as const;
const SHORT = ["3m", "2h", "6h", "12h"] as const;

for (const market of MARKETS) {
  Deno.test(`three years of ${market.exchange} give the hours, days and months that a naive builder gives`, () => {
    const minutes = priced(minutesOf(market, "2022-01-01", "2025-01-01"));
    const local = minutes.time.map((time) => localTime(market, time));
    const yearFrom = lowerBound(minutes.time, Date.UTC(2024, 0));
    const lastYear = sliceCandles(minutes, yearFrom, minutes.time.length);
    for (const timeframe of [...LONG, ...SHORT]) {
      const isShort = SHORT.some((name) => name === timeframe);
      const source = isShort ? lastYear : minutes;
      const made = resampled(market, timeframe, source);
      const naive = naiveCandles(market, timeframe, source, isShort ? local.subarray(yearFrom) : local);
      expect(made.time.length).toBeGreaterThanOrEqual(timeframe === "1M" ? 36 : 150);
      for (const name of ["time", "open", "high", "low", "close", "volume"] as const) {
        // A comparison of the arrays themselves is slow.
        const differs = made[name].findIndex((value, i) => value !== naive[name][i]);
        expect([timeframe, name, made[name].length, differs]).toEqual([timeframe, name, naive[name].length, -1]);
      }
    }
  });
}

Deno.test("coarser hours of a stock count from its open, and the close cuts the last one short", () => {
  // Friday 8 and Monday 11 March 2024: New York's clocks change in between. Minutes of 14:30 to 21:00, then 13:30 to 20:00.
  const minutes = priced(minutesOf(MARKETS[0]!, "2024-03-08", "2024-03-12"));
  const opens = (timeframe: Timeframe) =>
    Array.from(resampled(MARKETS[0]!, timeframe, minutes).time, (time) => new Date(time).toISOString().slice(5, 16));
  expect(opens("2h")).toEqual([
    ...["03-08T14:30", "03-08T16:30", "03-08T18:30", "03-08T20:30"],
    ...["03-11T13:30", "03-11T15:30", "03-11T17:30", "03-11T19:30"],
  ]);
  expect(opens("6h")).toEqual(["03-08T14:30", "03-08T20:30", "03-11T13:30", "03-11T19:30"]);
  expect(opens("12h")).toEqual(["03-08T14:30", "03-11T13:30"]);
});

Deno.test("days of 23 and 25 hours are cut from their midnight on, and a rest of an hour is a candle of its own", () => {
  // Extended hours of XETRA are around the clock. Berlin: UTC+1 until 2024-03-31T01:00Z, UTC+2 until 2024-10-27T01:00Z.
  const xetra = { assetClass: "stock", exchange: "XETRA", provider: "csv" } as const;
  const opens = (timeframe: Timeframe, from: string, until: string) => {
    const count = (Date.parse(until) - Date.parse(from)) / 60_000;
    const minutes = priced(Array.from({ length: count }, (_, i) => Date.parse(from) + i * 60_000));
    const resampler = new Resampler(bucketsOf(xetra, "1m", { timeframe, hours: "extended" }), "1m");
    const made = concatCandles([resampler.push(minutes), resampler.flush()]);
    return Array.from(made.time, (time) => new Date(time).toISOString().slice(5, 16));
  };
  const [spring, autumn] = [["2024-03-30T23:00Z", "2024-03-31T22:00Z"], [
    "2024-10-26T22:00Z",
    "2024-10-27T23:00Z",
  ]] as const;
  expect(opens("12h", ...spring)).toEqual(["03-30T23:00", "03-31T11:00"]);
  expect(opens("12h", ...autumn)).toEqual(["10-26T22:00", "10-27T10:00", "10-27T22:00"]);
  expect(opens("6h", ...spring)).toEqual(["03-30T23:00", "03-31T05:00", "03-31T11:00", "03-31T17:00"]);
  expect(opens("2h", ...autumn).slice(-2)).toEqual(["10-27T20:00", "10-27T22:00"]);
  expect(opens("3m", ...autumn)).toHaveLength(25 * 20);
});
