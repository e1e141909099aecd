import { expect } from "@std/expect";
import type { OrderDraft } from "../../engine/strategy.ts";
import { flat, listTrades, order, runOver, script } from "./market.ts";
import { runBoth, units } from "./run_both.ts";

Deno.test("closing three lots of 0.1 leaves no dust of the trades that held them", () => {
  const result = runBoth(flat(10, 10, 10, 10), {
    0: (book) => [0.1, 0.2, 1].forEach((size) => book.place(units(size))),
    1: (book) => book.place(units(0.3, { side: -1, reduceOnly: true })),
  });
  expect(listTrades(result).map(({ quantity, exit }) => [quantity, exit])).toEqual([[0.1, [2, 10]], [0.2, [2, 10]], [
    1,
    null,
  ]]);
});

Deno.test("closing everything leaves nothing, even with more lots than a double can count", () => {
  // 10,000 buy 64935064.93506499 at 0.000154: 6.5e15 lots, where rounding to lots may give a neighbouring number.
  const rows = flat(0.000154, 0.000154, 0.000154, 0.000154);
  const all = (book: { place(draft: OrderDraft): number }) => book.place(order({}));
  const closed = runBoth(rows, { 0: all, 1: (book) => book.close(1, null) }, {}, 10_000);
  expect(listTrades(closed)).toMatchObject([{ side: "long", quantity: 64935064.93506499, exit: [2, 0.000154] }]);
  const turned = runBoth(rows, { 0: all, 1: (book) => book.place(order({ side: -1 })) }, {}, 10_000);
  expect(listTrades(turned)).toMatchObject([{ side: "long", exit: [2, 0.000154] }, { side: "short", exit: null }]);
  // The slow simulator counts lots and cannot count this many.
  const sellAll = script({ 0: all, 1: (book, account) => book.place(units(account.quantity, { side: -1 })) });
  const netted = runOver(rows, sellAll, { exclusive: "off" }, 10_000);
  expect([listTrades(netted).length, netted.position[2]]).toEqual([1, 0]);
});

Deno.test("a fraction below 1 only by rounding closes every trade", () => {
  const result = runBoth(flat(10, 10, 10, 10), {
    0: (book) => [1, 1, 1].forEach((size) => book.place(units(size))),
    1: (book) => book.close(0.6 + 0.3 + 0.1, null),
  });
  expect(result.position[2]).toBe(0);
});

Deno.test("a part of a trade is rounded down to lots", () => {
  const result = runBoth(flat(10, 10, 10, 10), {
    0: (book) => book.place(units(10)),
    1: (book) => book.closeTrade(book.tradeAt(0), 0.29, null),
  }, { quantityStep: 1 });
  expect(listTrades(result).map(({ quantity }) => quantity)).toEqual([2, 8]);
});
