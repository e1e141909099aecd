import { expect } from "@std/expect";
import { resolveExecution } from "../../../engine/execution.ts";
import { ORDER_STATUSES } from "../../../engine/order_columns.ts";
import { run } from "../../../engine/run.ts";
import { rsiReversion } from "../../../strategies/builtin/rsi_reversion.ts";
import { candlesOf, parametersOf, play, type Row } from "./play.ts";

// RSI of two changes. Candle 2: rises 1, falls 0.5, 66.7. Candle 3 (-3): 0.5 and 1.75, 22.2. Candle 4 (+1): 0.75 and
// 0.875, 46.2. Candle 5 (+2): 1.375 and 0.4375, 75.9. Candle 6 (-1.5): 0.6875 and 0.96875, 41.5.
const ROWS: readonly Row[] = [
  [10, 10, 10, 10],
  [12, 12, 12, 12],
  [11, 11, 11, 11],
  [8, 8, 8, 8],
  [8.5, 9, 7.5, 9],
  [9, 11, 9, 11],
  [10.5, 10.5, 9.5, 9.5],
  [9.25, 9.25, 9, 9],
];

Deno.test("rsi-reversion that is long only buys below 30 and leaves at 50", () => {
  expect(play(rsiReversion, ROWS, { period: 2, direction: "long" })).toEqual([
    { side: "long", quantity: 1, entry: [4, 8.5], exit: [6, 10.5, "signal"], pnl: 2 },
  ]);
});

Deno.test("rsi-reversion in both directions turns short above 70 and covers at 50", () => {
  expect(play(rsiReversion, ROWS, { period: 2 })).toEqual([
    { side: "long", quantity: 1, entry: [4, 8.5], exit: [6, 10.5, "signal"], pnl: 2 },
    { side: "short", quantity: 1, entry: [6, 10.5], exit: [7, 9.25, "signal"], pnl: 1.25 },
  ]);
});

Deno.test("rsi-reversion does not buy again after a stop while the RSI stays low", () => {
  // The stop at 8.5 x 0.9 = 7.65 is touched on candle 4; the RSI stays below 30 until candle 5.
  expect(play(rsiReversion, ROWS, { period: 2, direction: "long", stopLossLevel: 0.1 })).toEqual([
    { side: "long", quantity: 1, entry: [4, 8.5], exit: [4, 7.65, "stop_loss"], pnl: -0.85 },
  ]);
});

Deno.test("rsi-reversion refuses an exit outside its levels", () => {
  expect(() => rsiReversion.create(parametersOf(rsiReversion, { exit: 80 }))).toThrow("80 is not between 30 and 70");
});

Deno.test("rsi-reversion, while leaving, cancels the unfilled rest of its entry and places no second exit", () => {
  const rows: Row[] = [...ROWS.slice(0, 6), [11, 12, 11, 12], [12, 13, 12, 13], [13, 13, 13, 13]];
  const { orders, position } = run({
    candles: candlesOf(rows),
    firstIndex: 0,
    timeframeMs: 3_600_000,
    initialBalance: 1000,
    execution: resolveExecution({
      sizing: { type: "units", value: 1 },
      // Of a volume of 10^9: 0.375 units are filled in a candle.
      slippage: { volumeShare: 3.75e-10, impact: 0 },
    }, "crypto"),
    strategy: rsiReversion.create(parametersOf(rsiReversion, { period: 2, direction: "long" })),
    control: null,
  });
  // It buys at the opens of candles 4 and 5; from the close of candle 5 on the RSI is back at the exit level.
  expect([...position]).toEqual([0, 0, 0, 0, 0.375, 0.75, 0.375, 0, 0]);
  expect(Array.from(orders.status, (status) => ORDER_STATUSES[status])).toEqual(["cancelled", "cancelled", "filled"]);
});
