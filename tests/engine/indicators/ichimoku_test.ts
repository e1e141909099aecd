import { expect } from "@std/expect";
import { ichimoku } from "../../../engine/indicators/ichimoku.ts";
import { walk } from "./prices.ts";

Deno.test("ichimoku() agrees with its definition, the cloud 25 candles after its computation", () => {
  const low = walk(300);
  const high = low.map((price, i) => price + (i * 7 % 5) / 10);
  const lines = ichimoku(high, low, { conversion: 9, base: 26, span: 52 }, 26);
  const middle = (i: number, period: number) =>
    i < period - 1
      ? NaN
      : (Math.max(...high.subarray(i - period + 1, i + 1)) + Math.min(...low.subarray(i - period + 1, i + 1))) / 2;
  for (let i = 0; i < 300; i++) {
    expect(lines.conversion[i]).toBe(middle(i, 9));
    expect(lines.base[i]).toBe(middle(i, 26));
    // Today is the first of the 26 candles.
    expect(lines.leadingA[i]).toBe((middle(i - 25, 9) + middle(i - 25, 26)) / 2);
    expect(lines.leadingB[i]).toBe(middle(i - 25, 52));
  }
  expect([lines.leadingA[49], lines.leadingB[75]]).toEqual([NaN, NaN]);
  expect([lines.leadingA[50]! > 0, lines.leadingB[76]! > 0]).toEqual([true, true]);
});

Deno.test("ichimoku() with a displacement of one is not displaced, and of zero is refused", () => {
  const [high, low] = [Float64Array.of(4, 8), Float64Array.of(2, 4)];
  const periods = { conversion: 1, base: 2, span: 2 };
  // Middles of one candle: 3 and 6. Of two: 2 to 8 is 5.
  expect([...ichimoku(high, low, periods, 1).leadingA]).toEqual([NaN, 5.5]);
  expect([...ichimoku(high, low, periods, 1).leadingB]).toEqual([NaN, 5]);
  expect(() => ichimoku(high, low, periods, 0)).toThrow(RangeError);
  expect([...ichimoku(high, low, periods, 9).leadingA]).toEqual([NaN, NaN]);
});
