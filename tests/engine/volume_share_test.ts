import { expect } from "@std/expect";
import { ORDER_REASONS } from "../../engine/order_columns.ts";
import { LIMIT, STOP } from "../../engine/strategy.ts";
import { flat, listTrades, order, type Row } from "./market.ts";
import { A_HUNDREDTH, runBoth, units } from "./run_both.ts";

Deno.test("the unfilled rest of an order is checked against buying power again", () => {
  // 20 units cost 2000 at 100. Ten are filled there; at 150 the other ten cost more than the remaining 1000.
  const rows = flat(100, 100, 150, 150);
  const result = runBoth(rows, { 0: (book) => book.place(order({})) }, A_HUNDREDTH, 2000);
  expect(result.orders.filledQuantity[0]).toBe(10);
  expect(listTrades(result)).toMatchObject([{ quantity: 10, entry: [1, 100] }]);
  expect(result.equity[3]).toBe(1000 + 10 * 150);
});

Deno.test("the price of an order that closes two trades is the mean of both fills", () => {
  const execution = { slippage: { volumeShare: 0.1, impact: 1 } };
  const result = runBoth(
    flat(100, 100, 100),
    {
      0: (book) => {
        book.place(units(10));
        book.place(units(20));
      },
      1: (book) => book.close(1, null),
    },
    execution,
    10_000,
  );
  // A hundredth of the volume costs 0.0001 of the price, two hundredths 0.0004: 10 at 99.99 and 20 at 99.96.
  expect(result.orders.price[2]).toBeCloseTo(99.97, 10);
});

Deno.test("the unfilled rest of a partial close keeps its units", () => {
  const rows: Row[] = Array.from({ length: 8 }, () => [100, 100, 100, 100, 400]);
  const result = runBoth(
    rows,
    {
      0: (book) => book.place(units(20, { type: LIMIT, limitPrice: 100 })),
      1: (book) => {
        book.closeTrade(book.tradeAt(0), 0.5, "half");
        book.closeTrade(book.tradeAt(0), 0.25, "a quarter of what is left");
      },
    },
    A_HUNDREDTH,
    10_000,
  );
  // Four units a candle: 4, 4 and 2 of the ten. The other order is a quarter of the 16 units that are open in candle 2.
  expect([...result.orders.filledQuantity]).toEqual([20, 10, 4]);
  expect(result.position.at(-1)).toBe(6);
});

Deno.test("where the close proves two stops and volume is short, the older trade is closed first", () => {
  const rows: Row[] = [[100, 100, 100, 100], [100, 106, 90, 92, 2000], [92, 92, 92, 92, 2000]];
  const result = runBoth(
    rows,
    {
      0: (book) => {
        book.place(units(8, { type: STOP, stopPrice: 103, stopLoss: 95, tag: "older" }));
        book.place(units(8, { type: STOP, stopPrice: 104, stopLoss: 95, tag: "younger" }));
      },
    },
    A_HUNDREDTH,
    10_000,
  );
  // Of the 20 units of candle 1 the entries take 16.
  expect(listTrades(result).map(({ quantity, exit }) => [quantity, exit])).toEqual([[4, [1, 95]], [4, [2, 92]], [8, [
    2,
    92,
  ]]]);
  expect(result.trades.tag).toEqual(["older", "older", "younger"]);
});

Deno.test("a stop that meets no volume at all is filled at the next open", () => {
  const rows: Row[] = [[100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 94, 96, 0], [98, 99, 97, 98]];
  const buy = units(10, { type: LIMIT, limitPrice: 100, stopLoss: 95 });
  const result = runBoth(rows, { 0: (book) => book.place(buy) }, A_HUNDREDTH, 10_000);
  expect(listTrades(result)).toMatchObject([{ entry: [1, 100], exit: [3, 98], reason: "stop_loss" }]);
});

Deno.test("the unfilled rest of an order waits for the next open, not for the close of the same candle", () => {
  const rows: Row[] = [[100, 100, 100, 100], [100, 100, 100, 100, 400], [100, 111, 100, 110, 400]];
  const result = runBoth(
    rows,
    {
      0: (book) => book.place(units(20, { type: LIMIT, limitPrice: 100, takeProfit: 110 })),
      1: (book) => book.close(1, null),
      2: (book) => book.place(units(1, { type: LIMIT, limitPrice: 1 })),
    },
    { ...A_HUNDREDTH, fill: "close" },
    10_000,
  );
  // Four at the close of candle 1, four at the open of candle 2; then the target takes the rest.
  expect(result.orders.filledQuantity[1]).toBe(8);
  expect(ORDER_REASONS[result.orders.reason[1]!]).toBe("the run ended");
});
