import { expect } from "@std/expect";
import { atr } from "../../../engine/indicators/atr.ts";

Deno.test("atr() gives the published fourteen-day example", () => {
  // StockCharts, ChartSchool, "Average True Range": high, low, close, and the ATR from the fourteenth day.
  const candles = [
    ...[[48.70, 47.79, 48.16], [48.72, 48.14, 48.61], [48.90, 48.39, 48.75], [48.87, 48.37, 48.63], [
      48.82,
      48.24,
      48.74,
    ]],
    ...[[49.05, 48.64, 49.03], [49.20, 48.94, 49.07], [49.35, 48.86, 49.32], [49.92, 49.50, 49.91], [
      50.19,
      49.87,
      50.13,
    ]],
    ...[[50.12, 49.20, 49.53], [49.66, 48.90, 49.50], [49.88, 49.43, 49.75], [50.19, 49.73, 50.03], [
      50.36,
      49.26,
      50.31,
    ]],
    ...[[50.57, 50.09, 50.52], [50.65, 50.30, 50.41], [50.43, 49.21, 49.34], [49.63, 48.98, 49.37], [
      50.33,
      49.61,
      50.23,
    ]],
    ...[[50.29, 49.20, 49.24], [50.17, 49.43, 49.93], [49.32, 48.08, 48.43], [48.50, 47.64, 48.18], [
      48.32,
      41.55,
      46.57,
    ]],
    ...[[46.80, 44.28, 45.41], [47.80, 47.31, 47.77], [48.39, 47.20, 47.72], [48.66, 47.90, 48.62], [
      48.79,
      47.73,
      47.85,
    ]],
  ];
  const published = [
    ...[0.56, 0.59, 0.59, 0.57, 0.62, 0.62, 0.64, 0.67, 0.69],
    ...[0.78, 0.78, 1.21, 1.30, 1.38, 1.37, 1.34, 1.32],
  ];
  const column = (index: number) => Float64Array.from(candles, (candle) => candle[index]!);
  const ranges = atr(column(0), column(1), column(2), 14);
  expect([...ranges.subarray(0, 13)]).toEqual(Array(13).fill(NaN));
  for (let i = 0; i < published.length; i++) expect(Math.abs(ranges[i + 13]! - published[i]!)).toBeLessThan(0.011);
});

Deno.test("atr() of one candle is the true range: gaps from the close before count", () => {
  const high = Float64Array.of(12, 20, 9, 11);
  const low = Float64Array.of(10, 18, 8, 9);
  const close = Float64Array.of(11, 19, 8, 10);
  // 12 - 10; a gap up, 20 - 11; a gap down, 19 - 8; the close before at 8 is below the low, 11 - 8.
  expect([...atr(high, low, close, 1)]).toEqual([2, 9, 11, 3]);
});
