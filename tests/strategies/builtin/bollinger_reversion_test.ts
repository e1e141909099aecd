import { expect } from "@std/expect";
import { bollingerReversion } from "../../../strategies/builtin/bollinger_reversion.ts";
import { play, type Row } from "./play.ts";

// Of two closes the middle is their mean and the deviation half their distance; half a deviation is the width here.
// Candle 1 (10, 12): 11, band 10.5 to 11.5. Candle 2 (12, 8): 10, 9 to 11: the close is below. Candle 3 (8, 8): all 8:
// back at the middle. Candle 4 (8, 10): 9, 8.5 to 9.5: above. Candle 5 (10, 9): 9.5, 9.25 to 9.75: below.
const ROWS: readonly Row[] = [
  [10, 10, 10, 10],
  [12, 12, 11, 12],
  [10, 10, 8, 8],
  [8.25, 8.5, 8, 8],
  [8.75, 10, 8.75, 10],
  [10.25, 10.25, 9, 9],
  [9.5, 9.5, 9.5, 9.5],
];
const BANDS = { period: 2, width: 0.5 };

Deno.test("bollinger-reversion buys below the lower band, sells at the middle, and turns from above the upper band to below the lower", () => {
  expect(play(bollingerReversion, ROWS, BANDS)).toEqual([
    { side: "long", quantity: 1, entry: [3, 8.25], exit: [4, 8.75, "signal"], pnl: 0.5 },
    { side: "short", quantity: 1, entry: [5, 10.25], exit: [6, 9.5, "signal"], pnl: 0.75 },
    { side: "long", quantity: 1, entry: [6, 9.5], exit: null, pnl: 0 },
  ]);
});

Deno.test("bollinger-reversion that is long only does not sell short", () => {
  // Candle 5 closes below its lower band again, with candle 4 above its own: a second purchase.
  expect(play(bollingerReversion, ROWS, { ...BANDS, direction: "long" })).toEqual([
    { side: "long", quantity: 1, entry: [3, 8.25], exit: [4, 8.75, "signal"], pnl: 0.5 },
    { side: "long", quantity: 1, entry: [6, 9.5], exit: null, pnl: 0 },
  ]);
});
