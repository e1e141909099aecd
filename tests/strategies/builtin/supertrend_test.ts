import { expect } from "@std/expect";
import { supertrendTurns } from "../../../strategies/builtin/supertrend.ts";
import { play, type Row } from "./play.ts";

// One range from the middle: the line is 13 from above, then 11 and 15 from below, then 18 from above.
const ROWS: readonly Row[] = [
  [11, 12, 10, 11],
  [12.5, 14, 12, 12],
  [16.5, 18, 16, 17], // Closes above 13.
  [17, 18, 16, 17], // Buys at 17.
  [12.5, 13, 11, 11], // Closes below 15.
  [11.5, 12, 11, 11.5],
];

Deno.test("supertrend turns with its line, or leaves the market", () => {
  const settings = { period: 1, multiple: 1 };
  expect(play(supertrendTurns, ROWS, settings)).toEqual([
    { side: "long", quantity: 1, entry: [3, 17], exit: [5, 11.5, "signal"], pnl: -5.5 },
    { side: "short", quantity: 1, entry: [5, 11.5], exit: null, pnl: 0 },
  ]);
  expect(play(supertrendTurns, ROWS, { ...settings, direction: "long" })).toEqual([
    { side: "long", quantity: 1, entry: [3, 17], exit: [5, 11.5, "signal"], pnl: -5.5 },
  ]);
});

Deno.test("supertrend does not enter again after a stop while its trend lasts", () => {
  // 17 x 0.9 = 15.3 is touched on candle 4.
  const longer: Row[] = [...ROWS.slice(0, 4), [17, 17, 15, 16.5], [16.5, 17, 16, 17]];
  expect(play(supertrendTurns, longer, { period: 1, multiple: 1, direction: "long", stopLossLevel: 0.1 })).toEqual([
    { side: "long", quantity: 1, entry: [3, 17], exit: [4, 15.3, "stop_loss"], pnl: -1.7 },
  ]);
});
