import { expect } from "@std/expect";
import { buyAndHold } from "../../../strategies/builtin/buy_and_hold.ts";
import { play, type Row } from "./play.ts";

const ROWS: readonly Row[] = [[10, 10, 10, 10], [10, 12, 9, 11], [11, 12, 10, 12], [5, 6, 4, 5]];

Deno.test("buy-and-hold buys at the first open and is in the market at the end", () => {
  expect(play(buyAndHold, ROWS, {})).toEqual([
    { side: "long", quantity: 1, entry: [1, 10], exit: null, pnl: -5 },
  ]);
});

Deno.test("buy-and-hold invests all equity, unless execution says otherwise", () => {
  const everything = play(buyAndHold, ROWS, {}, { sizing: { type: "equity_fraction", value: 1 } });
  expect(everything).toMatchObject([{ quantity: 100, pnl: -500 }]);
});

Deno.test("buy-and-hold gives the same trades when it runs again", () => {
  const strategy = buyAndHold.create({});
  const again = { ...buyAndHold, create: () => strategy };
  expect(play(again, ROWS, {})).toEqual(play(again, ROWS, {}));
  expect(play(again, ROWS, {})).toHaveLength(1);
});
