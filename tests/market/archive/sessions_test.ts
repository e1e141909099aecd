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

for (const market of MARKETS) {
  Deno.test(`three years of ${market.exchange} give the hours, days and months that a naive builder gives`, () => {
    const minutes = priced(minutesOf(market, "2022-01-01", "2025-01-01"));
    const local = minutes.time.map((time) => localTime(market, time));
    for (const timeframe of ["5m", "1h", "4h", "1d", "1w", "1M"] as const) {
      const made = resampled(market, timeframe, minutes);
      const naive = naiveCandles(market, timeframe, minutes, local);
      expect(made.time.length).toBeGreaterThanOrEqual(timeframe === "1M" ? 36 : 150);
      for (const name of ["time", "open", "high", "low", "close", "volume"] as const) {
        // A comparison of the arrays themselves is slow.
        const differs = made[name].findIndex((value, i) => value !== naive[name][i]);
        expect([timeframe, name, made[name].length, differs]).toEqual([timeframe, name, naive[name].length, -1]);
      }
    }
  });
}
