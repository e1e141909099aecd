import { expect } from "@std/expect";
import { ichimokuTrend } from "../../../strategies/builtin/ichimoku.ts";
import { parametersOf, play, type Row } from "./play.ts";

const still = (price: number): Row => [price, price, price, price];
// The conversion line is the price, the base line the middle of it and the last one.
const PERIODS = { conversion: 1, base: 2, span: 2 };

Deno.test("ichimoku enters when lines and cloud agree, and leaves when the lines change places", () => {
  const rows = [10, 9, 11, 12, 12, 8, 8.5].map(still);
  const long = { side: "long", quantity: 1, entry: [3, 12], exit: [6, 8.5, "signal"], pnl: -3.5 };
  expect(play(ichimokuTrend, rows, { ...PERIODS, displacement: 1, direction: "long" })).toEqual([long]);
  expect(play(ichimokuTrend, rows, { ...PERIODS, displacement: 1 })).toEqual([
    long,
    { side: "short", quantity: 1, entry: [6, 8.5], exit: null, pnl: 0 },
  ]);
});

Deno.test("ichimoku does not buy below the cloud of earlier candles", () => {
  // Prices rise from candle 5 on. Two candles before, the cloud was at 20, and then between 12.5 and 15.
  const rows = [20, 20, 20, 20, 10, 11, 12].map(still);
  expect(play(ichimokuTrend, rows, { ...PERIODS, displacement: 3, direction: "long" })).toEqual([]);
  expect(play(ichimokuTrend, rows, { ...PERIODS, displacement: 1, direction: "long" })).toMatchObject([
    { entry: [6, 12] },
  ]);
});

Deno.test("ichimoku refuses a conversion line that is not the faster one", () => {
  expect(() => ichimokuTrend.create(parametersOf(ichimokuTrend, { conversion: 26 }))).toThrow("26 is not less than 26");
});
