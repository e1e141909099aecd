import { expect } from "@std/expect";
import { stochastic } from "../../../engine/indicators/stochastic.ts";
import { walk } from "./prices.ts";

Deno.test("stochastic() gives the published fourteen-day example", () => {
  // StockCharts, ChartSchool, "Stochastic Oscillator", its spreadsheet of 2010: highs, lows, closes, %K, and %D of three.
  const high = [
    ...[127.009, 127.6159, 126.5911, 127.3472, 128.173, 128.4317, 127.3671, 126.422, 126.8995, 126.8498, 125.646],
    ...[125.7156, 127.1582, 127.7154, 127.6855, 128.2228, 128.2725, 128.0934, 128.2725, 127.7353, 128.77, 129.2873],
  ];
  const low = [
    ...[125.3574, 126.1633, 124.9296, 126.0937, 126.8199, 126.4817, 126.034, 124.8301, 126.3921, 125.7156, 124.5615],
    ...[124.5715, 125.0689, 126.8597, 126.6309, 126.8001, 126.7105, 126.8001, 126.1335, 125.9245, 126.9891, 127.8148],
  ];
  // The closes before the fourteenth day are not published: they do not count.
  const close = [
    ...Array(13).fill(126),
    ...[127.2876, 127.1781, 128.0138, 127.1085, 127.7253, 127.0587, 127.3273, 128.7103, 127.8745],
  ];
  const columns = [high, low, close].map((column) => Float64Array.from(column));
  const periods = { period: 14, slowing: 1, signal: 3 };
  const { k, d } = stochastic(columns[0]!, columns[1]!, columns[2]!, periods);
  expect(k.findIndex((value) => !Number.isNaN(value))).toBe(13);
  const published = [70.4382, 67.6089, 89.2021, 65.8106, 81.7477, 64.5238, 74.5298, 98.5814, 70.1045];
  published.forEach((value, n) => expect(k[13 + n]).toBeCloseTo(value, 3));
  // Its %D of the first days: the means of 70.4382, 67.6089, 89.2021 and so on.
  [75.7497, 74.2072, 78.9201, 70.694, 73.6004].forEach((value, n) => expect(d[15 + n]).toBeCloseTo(value, 3));
});

Deno.test("stochastic() agrees with its definition, slowed", () => {
  const low = walk(300);
  const high = low.map((price, i) => price + (i * 7 % 5) / 10);
  const close = low.map((price, i) => price + (i * 3 % 4) / 40 * (i * 7 % 5));
  const { k, d } = stochastic(high, low, close, { period: 14, slowing: 3, signal: 5 });
  const fast = (i: number) => {
    const [top, bottom] = [Math.max(...high.subarray(i - 13, i + 1)), Math.min(...low.subarray(i - 13, i + 1))];
    return 100 * (close[i]! - bottom) / (top - bottom);
  };
  const slow = (i: number) => (fast(i) + fast(i - 1) + fast(i - 2)) / 3;
  for (let i = 19; i < 300; i++) {
    expect(k[i]).toBeCloseTo(slow(i), 9);
    expect(d[i]).toBeCloseTo([0, 1, 2, 3, 4].reduce((sum, n) => sum + slow(i - n), 0) / 5, 9);
  }
  expect([...k.subarray(0, 16), k[15]! < 0]).toEqual([...Array(15).fill(NaN), k[15], false]);
  expect([d[18], d[19]! >= 0]).toEqual([NaN, true]);
});

Deno.test("stochastic() of a market that does not move is 50", () => {
  const flat = new Float64Array(4).fill(7);
  expect([...stochastic(flat, flat, flat, { period: 2, slowing: 1, signal: 1 }).k]).toEqual([NaN, 50, 50, 50]);
});
