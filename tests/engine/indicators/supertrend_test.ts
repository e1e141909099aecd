import { expect } from "@std/expect";
import { supertrend } from "../../../engine/indicators/supertrend.ts";
import { walk } from "./prices.ts";

Deno.test("supertrend() of one candle and one range, worked by hand", () => {
  // High, low and close; the middles are 11, 13, 17, 17, 12 and the true ranges 2, 3, 6, 2, 6.
  const high = Float64Array.of(12, 14, 18, 18, 13);
  const low = Float64Array.of(10, 12, 16, 16, 11);
  const close = Float64Array.of(11, 12, 17, 17, 11);
  const { line, direction } = supertrend(high, low, close, 1, 1);
  // It begins falling below 11 + 2. The upper band stays at 13, and the close of 17 is above it: the trend rises from the
  // lower band 17 - 6, which rises to 17 - 2. The close of 11 is below that; the close before was above 13, so 12 + 6.
  expect([...direction]).toEqual([-1, -1, 1, 1, -1]);
  expect([...line]).toEqual([13, 13, 11, 15, 18]);
});

Deno.test("supertrend() agrees with the published recursion, candle by candle", () => {
  const low = walk(500);
  const high = low.map((price, i) => price + (i * 7 % 5) / 10);
  const close = low.map((price, i) => price + (i * 3 % 4) / 40 * (i * 7 % 5));
  const [period, multiple] = [10, 3];
  const { line, direction } = supertrend(high, low, close, period, multiple);
  const rangeAt = (i: number) =>
    i === 0 ? high[0]! - low[0]! : Math.max(high[i]!, close[i - 1]!) - Math.min(low[i]!, close[i - 1]!);
  let range = 0;
  for (let i = 0; i < period; i++) range += rangeAt(i) / period;
  let bands = { top: NaN, bottom: NaN, isRising: false };
  let turns = 0;
  for (let i = period - 1; i < 500; i++) {
    if (i >= period) range = (range * (period - 1) + rangeAt(i)) / period;
    const basic = {
      top: (high[i]! + low[i]!) / 2 + multiple * range,
      bottom: (high[i]! + low[i]!) / 2 - multiple * range,
    };
    const isFirst = i === period - 1;
    const top = isFirst || close[i - 1]! > bands.top ? basic.top : Math.min(basic.top, bands.top);
    const bottom = isFirst || close[i - 1]! < bands.bottom ? basic.bottom : Math.max(basic.bottom, bands.bottom);
    const isRising = bands.isRising ? !(close[i]! < bottom) : close[i]! > top;
    if (isRising !== bands.isRising) turns++;
    bands = { top, bottom, isRising };
    expect(direction[i]).toBe(isRising ? 1 : -1);
    expect(line[i]).toBeCloseTo(isRising ? bottom : top, 9);
  }
  expect(turns).toBeGreaterThan(3);
  expect([...line.subarray(0, period - 1), ...direction.subarray(0, period - 1)]).toEqual(Array(18).fill(NaN));
});
