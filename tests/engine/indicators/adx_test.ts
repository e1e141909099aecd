import { expect } from "@std/expect";
import { adx } from "../../../engine/indicators/adx.ts";
import { walk } from "./prices.ts";

Deno.test("adx() gives the published fourteen-day example", () => {
  // StockCharts, ChartSchool, "Average Directional Index (ADX)", its spreadsheet of QQQQ: high, low and close of 2009.
  const candles = [
    ...[[30.1983, 29.4072, 29.872], [30.2776, 29.3182, 30.2381], [30.4458, 29.9611, 30.0996]],
    ...[[29.3478, 28.7443, 28.9028], [29.3477, 28.5566, 28.9225], [29.2886, 28.4081, 28.4775]],
    ...[[28.8334, 28.0818, 28.5566], [28.7346, 27.4289, 27.5576], [28.6654, 27.6565, 28.4675]],
    ...[[28.8532, 27.8345, 28.2796], [28.6356, 27.3992, 27.4882], [27.6761, 27.0927, 27.231]],
    ...[[27.2112, 26.1826, 26.3507], [26.8651, 26.1332, 26.3309], [27.409, 26.6277, 27.0333]],
    ...[[26.9441, 26.1332, 26.2221], [26.5189, 25.4307, 26.0144], [26.5189, 25.3518, 25.4605]],
    ...[[27.0927, 25.876, 27.0333], [27.686, 26.964, 27.4487], [28.4477, 27.1421, 28.3586]],
    ...[[28.5267, 28.0123, 28.4278], [28.6654, 27.884, 27.953], [29.0116, 27.9928, 29.0116]],
    ...[[29.872, 28.7643, 29.3776], [29.8028, 29.1402, 29.3576], [29.7529, 28.7127, 28.9107]],
    ...[[30.6546, 28.929, 30.6149], [30.5951, 30.0304, 30.0502], [30.7635, 29.3863, 30.189]],
  ];
  const column = (index: number) => Float64Array.from(candles, (candle) => candle[index]!);
  const lines = adx(column(0), column(1), column(2), 14);
  const published = {
    plus: [6.7494, 6.292, 5.7818, 5.2867, 8.6988, 12.491, 16.6785],
    minus: [32.4196, 33.9458, 36.4278, 33.8873, 30.016, 28.4668, 25.8669],
    adx: [33.5833, 32.1535, 29.9292],
  };
  for (const [name, first] of [["plus", 14], ["minus", 14], ["adx", 27]] as const) {
    expect(lines[name].findIndex((value) => !Number.isNaN(value))).toBe(first);
    published[name].forEach((value, n) => expect(lines[name][first + n]).toBeCloseTo(value, 3));
  }
});

Deno.test("adx() agrees with Wilder's sums, which lose a fourteenth a day", () => {
  const low = walk(300);
  const high = low.map((price, i) => price + (i * 7 % 5) / 10);
  const close = low.map((price, i) => price + (i * 3 % 4) / 40 * (i * 7 % 5));
  const lines = adx(high, low, close, 14);
  const sums = { range: 0, plus: 0, minus: 0 };
  const distances: number[] = [];
  let average = NaN;
  for (let i = 1; i < 300; i++) {
    const up = high[i]! - high[i - 1]!;
    const down = low[i - 1]! - low[i]!;
    const now = {
      range: Math.max(high[i]!, close[i - 1]!) - Math.min(low[i]!, close[i - 1]!),
      plus: up > Math.max(down, 0) ? up : 0,
      minus: down > Math.max(up, 0) ? down : 0,
    };
    for (const name of ["range", "plus", "minus"] as const) sums[name] += now[name] - (i > 14 ? sums[name] / 14 : 0);
    if (i < 14) continue;
    const [plus, minus] = [100 * sums.plus / sums.range, 100 * sums.minus / sums.range];
    distances.push(100 * Math.abs(plus - minus) / (plus + minus));
    if (i === 27) average = distances.reduce((sum, value) => sum + value, 0) / 14;
    if (i > 27) average = (average * 13 + distances.at(-1)!) / 14;
    expect(lines.plus[i]).toBeCloseTo(plus, 9);
    expect(lines.minus[i]).toBeCloseTo(minus, 9);
    if (i >= 27) expect(lines.adx[i]).toBeCloseTo(average, 9);
  }
});

Deno.test("adx() of a market that does not move is 0", () => {
  const flat = new Float64Array(10).fill(5);
  const lines = adx(flat, flat, flat, 2);
  expect([...lines.adx]).toEqual([NaN, NaN, NaN, ...Array(7).fill(0)]);
  expect([...lines.plus]).toEqual([NaN, NaN, ...Array(8).fill(0)]);
});
