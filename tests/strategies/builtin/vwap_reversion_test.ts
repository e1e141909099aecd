import { expect } from "@std/expect";
import { vwapReversion } from "../../../strategies/builtin/vwap_reversion.ts";
import { play, type Row } from "./play.ts";

const still = (price: number): Row => [price, price, price, price];
const PRICES = [10, 10, 10, 7, 8, 10, 9.5];

Deno.test("vwap-reversion buys so many deviations below the rolling average, and leaves at it", () => {
  // Candle 3: mean 9, deviation the root of 2. Candle 4: mean 8.33. Candle 5: mean 8.33, deviation 1.25: above both.
  const settings = { period: 3, width: 1 };
  const long = { side: "long", quantity: 1, entry: [4, 8], exit: [6, 9.5, "signal"], pnl: 1.5 };
  expect(play(vwapReversion, PRICES.map(still), { ...settings, direction: "long" })).toEqual([long]);
  expect(play(vwapReversion, PRICES.map(still), settings)).toEqual([
    long,
    { side: "short", quantity: 1, entry: [6, 9.5], exit: null, pnl: 0 },
  ]);
});

Deno.test("vwap-reversion with the anchor session begins anew each day", () => {
  // A day at 20, then the same prices: the mean of 10, 10, 10 and 7 is 9.25, its deviation 1.30.
  const rows = [...Array(24).fill(20), ...PRICES].map(still);
  const settings = { period: 3, width: 1, direction: "long" };
  expect(play(vwapReversion, rows, { ...settings, anchor: "session" })).toEqual([
    { side: "long", quantity: 1, entry: [28, 8], exit: [30, 9.5, "signal"], pnl: 1.5 },
  ]);
  // The rolling average still holds the 20.
  expect(play(vwapReversion, rows, settings)[0]).toMatchObject({ entry: [25, 10] });
});
