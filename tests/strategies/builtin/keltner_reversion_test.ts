import { expect } from "@std/expect";
import { keltnerReversion } from "../../../strategies/builtin/keltner_reversion.ts";
import { play, type Row } from "./play.ts";

// The average of two has the weight 2/3; the bands are a quarter of the candle's own range away.
const ROWS: readonly Row[] = [
  [10, 10.5, 9.5, 10],
  [10, 10.5, 9.5, 10], // Average 10, from 9.75 to 10.25.
  [10, 10, 6, 6], // Average 7.333, range 4: from 6.333. Closes below it.
  [6.5, 7, 6, 6.5], // Buys at 6.5. Average 6.778, range 1: to 7.028.
  [6.5, 8, 6.5, 8], // Average 7.593, range 1.5: to 7.968. Closes above both.
  [8.2, 8.2, 7, 7],
];
const SETTINGS = { period: 2, range: 1, width: 0.25 };

Deno.test("keltner-reversion buys below its channel and leaves at the middle", () => {
  expect(play(keltnerReversion, ROWS, { ...SETTINGS, direction: "long" })).toEqual([
    { side: "long", quantity: 1, entry: [3, 6.5], exit: [5, 8.2, "signal"], pnl: 1.7 },
  ]);
});

Deno.test("keltner-reversion in both directions goes short above its channel", () => {
  expect(play(keltnerReversion, ROWS, SETTINGS)).toEqual([
    { side: "long", quantity: 1, entry: [3, 6.5], exit: [5, 8.2, "signal"], pnl: 1.7 },
    { side: "short", quantity: 1, entry: [5, 8.2], exit: null, pnl: 1.2 },
  ]);
});
