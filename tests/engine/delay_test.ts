import { expect } from "@std/expect";
import { LIMIT } from "../../engine/strategy.ts";
import { flat, listTrades, order, type Row, runOver, script } from "./market.ts";

const PRICES: readonly Row[] = flat(10, 20, 25, 40, 50, 60);
const buyThenClose = () => script({ 0: (book) => book.place(order({})), 2: (book) => book.close(1, null) });

Deno.test("a delayed market order is filled at a later open", () => {
  const [plain] = listTrades(runOver(PRICES, buyThenClose()));
  expect([plain?.entry, plain?.exit]).toEqual([[1, 20], [3, 40]]);
  // A position that is closed before it is there is none: the close of candle 2 comes when the entry has been filled.
  const [late] = listTrades(runOver(PRICES, buyThenClose(), { delay: 1 }));
  expect([late?.entry, late?.exit]).toEqual([[2, 25], [4, 50]]);
});

Deno.test("with fills at the close, a delayed order waits for an open", () => {
  const [plain] = listTrades(runOver(PRICES, buyThenClose(), { fill: "close" }));
  expect([plain?.entry, plain?.exit]).toEqual([[0, 10], [2, 25]]);
  const [late] = listTrades(runOver(PRICES, buyThenClose(), { fill: "close", delay: 1 }));
  expect([late?.entry, late?.exit]).toEqual([[1, 20], [3, 40]]);
});

Deno.test("a delayed limit order misses the candles before it works, and works as many", () => {
  const rows: readonly Row[] = [[10, 10, 10, 10], [10, 10, 8, 10], [10, 10, 9, 10], [10, 10, 8, 10], [10, 10, 10, 10]];
  const limit = (candlesMax: number) =>
    script({ 0: (book) => book.place(order({ type: LIMIT, limitPrice: 9, candlesMax })) });
  expect(listTrades(runOver(rows, limit(0)))[0]?.entry).toEqual([1, 9]);
  expect(listTrades(runOver(rows, limit(1), { delay: 1 }))[0]?.entry).toEqual([2, 9]);
  expect(listTrades(runOver(rows, limit(2), { delay: 2 }))[0]?.entry).toEqual([3, 9]);
  const high: readonly Row[] = [[10, 10, 10, 10], [10, 10, 8, 10], [10, 10, 10, 10], [10, 10, 8, 10]];
  expect(listTrades(runOver(high, limit(1), { delay: 1 }))).toEqual([]);
});
