/** Where the profile `backtesting.py` differs from the library of that name: docs/execution.md lists these. */
import { expect } from "@std/expect";
import { BY_UNITS, LIMIT, STOP, STOP_LIMIT } from "../../engine/strategy.ts";
import { flat, listTrades, order, type Row, runOver, script } from "./market.ts";

const LIBRARY = { profile: "backtesting.py" } as const;

Deno.test("a stop-limit order whose stop the open has passed is filled at the open; the library fills it at its stop", () => {
  const buy = order({ type: STOP_LIMIT, sizeBy: BY_UNITS, size: 1, stopPrice: 102, limitPrice: 105 });
  const rows: Row[] = [...flat(100), [104, 106, 103, 106]];
  // The library: 102, below the candle's low.
  expect(listTrades(runOver(rows, script({ 0: (book) => book.place(buy) }), LIBRARY))).toMatchObject([{
    entry: [1, 104],
  }]);
});

Deno.test("two orders in a candle are filled along its price path; the library fills them in order of placement", () => {
  const stop = order({ side: -1, type: STOP, sizeBy: BY_UNITS, size: 1, stopPrice: 95, reduceOnly: true });
  const limit = order({ type: LIMIT, sizeBy: BY_UNITS, size: 1, limitPrice: 98 });
  const strategy = script({ 0: (book) => [stop, limit].forEach((one) => book.place(one)) });
  const rows: Row[] = [...flat(100), [100, 100, 90, 92], ...flat(92)];
  // 98 is bought on the way down to 95. The library tries the stop first, finds no position, and keeps the trade open.
  expect(listTrades(runOver(rows, strategy, { ...LIBRARY, exclusive: "off" }))).toMatchObject([
    { entry: [1, 98], exit: [1, 95] },
  ]);
});

Deno.test("a partial close is rounded down to lots; the library rounds to the nearest unit, at least one", () => {
  const buy = (size: number) => order({ sizeBy: BY_UNITS, size });
  const half = (size: number) =>
    runOver(
      flat(10, 10, 10, 10),
      script({ 0: (book) => book.place(buy(size)), 1: (book) => book.close(0.5, null) }),
      LIBRARY,
    );
  // Half of 3 is 1 here, and 2 in the library; half of 1 is nothing here, and 1 there.
  expect(listTrades(half(3))).toMatchObject([{ quantity: 1, exit: [2, 10] }, { quantity: 2, exit: null }]);
  const { trades, metrics } = half(1);
  expect([trades.count, metrics.open_trades, metrics.rejected_orders]).toEqual([1, 1, 1]);
});

Deno.test("an order that nets sees the account as earlier prices of the candle left it; the library, as earlier orders did", () => {
  const buy = order({ sizeBy: BY_UNITS, size: 2 });
  const far = order({ side: -1, type: LIMIT, sizeBy: BY_UNITS, size: 3, limitPrice: 110 });
  const near = order({ side: -1, type: LIMIT, sizeBy: BY_UNITS, size: 1, limitPrice: 105 });
  const strategy = script({ 0: (book) => book.place(buy), 1: (book) => [far, near].forEach((one) => book.place(one)) });
  const rows: Row[] = [...flat(100, 100), [100, 112, 100, 111]];
  // 105 comes first: it sells one, and 110 sells the other and turns short with two. The library sells two at 110 first.
  expect(listTrades(runOver(rows, strategy, { ...LIBRARY, exclusive: "off" }))).toMatchObject([
    { side: "long", quantity: 1, exit: [2, 105] },
    { side: "long", quantity: 1, exit: [2, 110] },
    { side: "short", quantity: 2, entry: [2, 110], exit: null },
  ]);
});

Deno.test("with fill close, the deciding candle's equity includes the fee; the library books it a candle later", () => {
  const buy = order({ sizeBy: BY_UNITS, size: 10 });
  const settings = { ...LIBRARY, fill: "close", commission: { fixed: 5 } } as const;
  const result = runOver(flat(10, 10, 11), script({ 0: (book) => book.place(buy) }), settings);
  // The library: 1000, 995, 1005.
  expect([...result.equity]).toEqual([995, 995, 1005]);
});
