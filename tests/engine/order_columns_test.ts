import { expect } from "@std/expect";
import { ORDER_REASONS, ORDER_STATUSES } from "../../engine/order_columns.ts";
import type { RunResult } from "../../engine/run.ts";
import { BY_EQUITY_FRACTION, BY_UNITS, LIMIT, MARKET, REFUSED, STOP } from "../../engine/strategy.ts";
import { DAY_MS, flat, listTrades, order, type Row, runOver, script } from "./market.ts";

const buyTen = order({ sizeBy: BY_UNITS, size: 10 });
const sellTen = order({ ...buyTen, side: -1 });
const buyAt95 = order({ ...buyTen, type: LIMIT, limitPrice: 95 });

const PARTLY = { slippage: { volumeShare: 0.1, impact: 0 } } as const;

/** The status and reason of each order. */
function fates({ orders }: RunResult): string[] {
  return Array.from(orders.status, (status, k) => {
    const reason = ORDER_REASONS[orders.reason[k]!];
    return reason === "" ? ORDER_STATUSES[status]! : `${ORDER_STATUSES[status]}: ${reason}`;
  });
}

Deno.test("every order is listed with its fate, its price and when it was filled", () => {
  const result = runOver(
    [...flat(100), [101, 102, 94, 96], ...flat(97)],
    script({
      0: (book) => [buyTen, buyAt95, { ...buyAt95, limitPrice: 90, tag: "deep" }].forEach((draft) => book.place(draft)),
      2: (book) => book.place(buyTen),
    }),
    {},
    10_000,
  );
  expect(fates(result)).toEqual(["filled", "filled", "working: the run ended", "working: the run ended"]);
  expect([...result.orders.price]).toEqual([101, 95, NaN, NaN]);
  expect([...result.orders.fillTime]).toEqual([DAY_MS, DAY_MS, NaN, NaN]);
  expect([...result.orders.time]).toEqual([0, 0, 0, 2 * DAY_MS]);
  expect([...result.orders.filledQuantity]).toEqual([10, 10, 0, 0]);
  expect(result.orders.tag).toEqual([null, null, "deep", null]);
});

Deno.test("an order's price is the price of its fills to the last bit, and their mean when they differ", () => {
  const buy = order({ sizeBy: BY_UNITS, size: 49 });
  const decisions = script({
    0: (book) => book.place(buy),
    1: (book) => book.place({ ...buy, size: 147 }),
    2: (book) => book.place({ ...buy, side: -1, size: 196 }),
  });
  const { orders } = runOver(flat(98.01, 98.01, 98.01, 98.01), decisions, {}, 100_000);
  // 98.01 x 49 / 49 is 98.01000000000002 in doubles.
  expect([...orders.price]).toEqual([98.01, 98.01, 98.01]);
  // A tenth of the volume a candle: 10 at 100, then 30 at 104.
  const rows: Row[] = [...flat(100), [100, 100, 100, 100, 100], [104, 104, 104, 104, 300], ...flat(104)];
  const parts = runOver(rows, script({ 0: (book) => book.place({ ...buy, size: 40 }) }), PARTLY, 100_000);
  expect([...parts.orders.price]).toEqual([103]);
});

Deno.test("an order works for its number of candles, or until it is cancelled", () => {
  const rows = [...flat(100, 100, 100), [100, 100, 94, 96]] as Row[];
  const forTwo = runOver(rows, script({ 0: (book) => book.place({ ...buyAt95, candlesMax: 2 }) }));
  const forThree = runOver(rows, script({ 0: (book) => book.place({ ...buyAt95, candlesMax: 3 }) }));
  const forEver = runOver(rows, script({ 0: (book) => book.place(buyAt95) }));
  expect(fates(forTwo)).toEqual(["expired: its candles are over"]);
  expect([fates(forThree), fates(forEver)]).toEqual([["filled"], ["filled"]]);
});

Deno.test("a cancelled order is not filled, and a replaced one only in its new form", () => {
  const rows: Row[] = [...flat(100, 100), [100, 100, 90, 96], ...flat(96)];
  const cancelled = runOver(rows, script({ 0: (book) => book.place(buyAt95), 1: (book) => book.cancel(0) }));
  expect([fates(cancelled), listTrades(cancelled)]).toEqual([["cancelled: withdrawn by the strategy"], []]);
  const replaced = runOver(
    rows,
    script({ 0: (book) => book.place(buyAt95), 1: (book) => book.replace(0, { ...buyAt95, limitPrice: 92 }) }),
  );
  expect(listTrades(replaced)).toMatchObject([{ entry: [2, 92] }]);
});

Deno.test("a filled order can be neither cancelled nor replaced", () => {
  const answers: unknown[] = [];
  runOver(
    flat(100, 100, 100),
    script({
      0: (book) => answers.push(book.place(buyTen), book.isWorking(0), book.workingOrders),
      1: (book) => answers.push(book.isWorking(0), book.cancel(0), book.replace(0, buyTen), book.workingOrders),
    }),
  );
  expect(answers).toEqual([0, true, 1, false, false, REFUSED, 0]);
});

Deno.test("cancelAll empties the book", () => {
  const deeper = { ...buyAt95, limitPrice: 90 };
  const result = runOver(
    flat(100, 100, 80),
    script({ 0: (book) => [buyAt95, deeper].forEach((draft) => book.place(draft)), 1: (book) => book.cancelAll() }),
  );
  expect(listTrades(result)).toEqual([]);
});

Deno.test("a new entry closes the opposite position at its own price, and adds to one of its side", () => {
  const decisions = script({
    0: (book) => book.place(buyTen),
    1: (book) => book.place(buyTen),
    2: (book) => book.place(sellTen),
  });
  const result = runOver(flat(100, 101, 102, 103, 104), decisions, {}, 10_000);
  expect(listTrades(result)).toMatchObject([
    { side: "long", entry: [1, 101], exit: [3, 103], reason: "signal" },
    { side: "long", entry: [2, 102], exit: [3, 103], reason: "signal" },
    { side: "short", entry: [3, 103], exit: null, pnl: -10 },
  ]);
  expect([...result.position]).toEqual([0, 10, 20, -10, -10]);
});

Deno.test("exclusive any: a new entry closes all open trades and cancels all working orders", () => {
  const decisions = script({
    0: (book) => [buyTen, buyAt95].forEach((draft) => book.place(draft)),
    2: (book) => book.place(buyTen),
  });
  const result = runOver(flat(100, 100, 100, 103, 103), decisions, { exclusive: "any" }, 10_000);
  // Placing the limit withdraws the market order: the last word counts.
  expect(fates(result)).toEqual([
    "cancelled: replaced by a newer entry",
    "cancelled: replaced by a newer entry",
    "filled",
  ]);
  expect(listTrades(result)).toMatchObject([{ entry: [3, 103], exit: null }]);
});

Deno.test("exclusive any closes and enters again at one open, even on the same side", () => {
  const decisions = script({ 0: (book) => book.place(buyTen), 1: (book) => book.place(buyTen) });
  const result = runOver(flat(100, 100, 103, 103), decisions, { exclusive: "any" }, 10_000);
  expect(listTrades(result)).toMatchObject([{ entry: [1, 100], exit: [2, 103] }, { entry: [2, 103], exit: null }]);
});

Deno.test("exclusive off: orders net, oldest trades first", () => {
  const decisions = script({
    0: (book) => [buyTen, { ...buyTen, size: 4 }].forEach((draft) => book.place(draft)),
    1: (book) => book.place({ ...sellTen, size: 12 }),
    2: (book) => book.place({ ...sellTen, size: 5 }),
  });
  const result = runOver(flat(100, 100, 100, 100), decisions, { exclusive: "off" }, 10_000);
  expect(listTrades(result)).toMatchObject([
    { side: "long", quantity: 10, exit: [2, 100] },
    { side: "long", quantity: 2, exit: [2, 100] },
    { side: "long", quantity: 2, exit: [3, 100] },
    { side: "short", quantity: 3, exit: null },
  ]);
});

Deno.test("a partial exit is its own trade with its part of the entry fee", () => {
  const decisions = script({ 0: (book) => book.place(buyTen), 1: (book) => book.close(0.3, "part") });
  const result = runOver(flat(100, 100, 110), decisions, { commission: { fixed: 10 } }, 10_000);
  // Entry fee 10: 3 of it for 3 units, whose exit costs 10 more: 3 x 10 - 13.
  expect(listTrades(result)).toMatchObject([
    { quantity: 3, exit: [2, 110], fees: 13, pnl: 17 },
    { quantity: 7, exit: null, fees: 7, pnl: 63 },
  ]);
});

Deno.test("one trade of several can be closed, or protected, by its number", () => {
  const rows: Row[] = [...flat(100, 100, 100), [100, 100, 90, 92], ...flat(92)];
  const decisions = script({
    0: (book) => [buyTen, { ...buyTen, size: 4 }, { ...buyTen, size: 2 }].forEach((draft) => book.place(draft)),
    1: (book) => book.closeTrade(book.tradeAt(1), 1, null),
    2: (book) => book.protect(book.tradeAt(1), 95, NaN),
  });
  expect(listTrades(runOver(rows, decisions, {}, 10_000))).toMatchObject([
    { quantity: 4, exit: [2, 100], reason: "signal" },
    { quantity: 2, exit: [3, 95], reason: "stop_loss" },
    { quantity: 10, exit: null },
  ]);
});

Deno.test("a trade is closed at the open after its time stop", () => {
  const timed = order({ ...buyTen, timeStopCandles: 2 });
  const result = runOver(flat(100, 101, 102, 103, 104), script({ 0: (book) => book.place(timed) }), {}, 10_000);
  // Held in candles 1 and 2.
  expect(listTrades(result)).toMatchObject([{ entry: [1, 101], exit: [3, 103], reason: "time_stop" }]);
  const atClose = runOver(
    flat(100, 101, 102, 103, 104),
    script({ 0: (book) => book.place(timed) }),
    { fill: "close" },
    10_000,
  );
  expect(listTrades(atClose)).toMatchObject([{ entry: [0, 100], exit: [3, 103], reason: "time_stop" }]);
});

Deno.test("a reducing order closes no more than the position and opens nothing", () => {
  const decisions = script({
    0: (book) => book.place(buyTen),
    1: (book) => book.place({ ...sellTen, size: 25, reduceOnly: true }),
    2: (book) => book.place({ ...sellTen, reduceOnly: true }),
  });
  const result = runOver(flat(100, 100, 100, 100), decisions, {}, 10_000);
  expect(listTrades(result)).toMatchObject([{ quantity: 10, exit: [2, 100] }]);
  expect(fates(result)).toEqual(["filled", "filled", "rejected: nothing to close"]);
});

Deno.test("a reducing stop outlives its trade, and then closes nothing", () => {
  const rows: Row[] = [...flat(100, 100), [100, 100, 94, 96], ...flat(96, 94)];
  const stop = order({ ...sellTen, type: STOP, stopPrice: 95, reduceOnly: true });
  const decisions = script({ 0: (book) => book.place(buyTen), 1: (book) => book.place(stop) });
  expect(listTrades(runOver(rows, decisions, {}, 10_000))).toMatchObject([{ exit: [2, 95], reason: "signal" }]);
});

Deno.test("a reducing order whose trade a stop loss has closed is cancelled, not refused", () => {
  // The open of candle 2 is beyond both stops: the trade's own comes first.
  const decisions = script({
    0: (book) => book.place({ ...buyTen, stopLoss: 96 }),
    1: (book) => book.place(order({ ...sellTen, type: STOP, stopPrice: 95, reduceOnly: true })),
  });
  const gap = runOver([...flat(100, 100), [94, 94, 94, 94]], decisions, {}, 10_000);
  expect(fates(gap)).toEqual(["filled", "cancelled: nothing to close"]);
  expect(gap.metrics.rejected_orders).toBe(0);
});

Deno.test("a draft that is used again leaves no price of another type in the list", () => {
  const draft = order({ ...buyAt95, stopPrice: 94 });
  const decisions = script({
    0: (book) => book.place(draft),
    1: (book) => book.place({ ...draft, type: MARKET }),
    2: (book) => book.place({ ...draft, type: STOP, stopPrice: 120 }),
    3: (book) => book.place({ ...draft, type: MARKET, size: NaN }),
  });
  const { orders } = runOver(flat(100, 100, 100, 100, 100), decisions, {}, 10_000);
  expect([[...orders.limitPrice], [...orders.stopPrice]]).toEqual([[95, NaN, NaN, NaN], [NaN, NaN, 120, NaN]]);
});

Deno.test("without short selling a sale reduces by its quantity or by everything, and is refused when flat", () => {
  const decisions = script({
    0: (book) => book.place(buyTen),
    1: (book) => book.place({ ...sellTen, size: 4 }),
    2: (book) => book.place(order({ side: -1 })),
    3: (book) => book.place(sellTen),
  });
  const result = runOver(flat(100, 100, 100, 100, 100), decisions, { allowShort: false }, 10_000);
  expect(listTrades(result)).toMatchObject([{ quantity: 4, exit: [2, 100] }, { quantity: 6, exit: [3, 100] }]);
  expect(fates(result)[3]).toBe("rejected: short selling is not allowed");
  expect(result.metrics.rejected_orders).toBe(1);
});

Deno.test("unusable orders are refused and listed", () => {
  const wrong = [
    { side: 0 },
    { side: 1, type: LIMIT },
    { side: 1, type: STOP, stopPrice: -1 },
    { side: 1, type: 7 },
    { side: 1, sizeBy: BY_UNITS },
    { side: 1, sizeBy: BY_UNITS, size: Infinity },
    { side: 1, sizeBy: BY_EQUITY_FRACTION, size: 0 },
    { side: 1, type: MARKET, reduceOnly: true },
  ];
  const answers: number[] = [];
  const result = runOver(
    flat(100, 100),
    script({ 0: (book) => wrong.forEach((fields) => answers.push(book.place(order(fields)))) }),
  );
  expect(answers).toEqual(wrong.map(() => REFUSED));
  expect(new Set(result.orders.status)).toEqual(new Set([ORDER_STATUSES.indexOf("rejected")]));
  expect(result.metrics.rejected_orders).toBe(wrong.length);
});

Deno.test("ten thousand orders may work; one more is refused until one of them ends", () => {
  const answers: number[] = [];
  const result = runOver(
    flat(100, 100),
    script({
      0: (book) => {
        for (let n = 0; n < 10_000; n++) book.place({ ...buyAt95, size: 0.001 });
        answers.push(book.workingOrders, book.place(buyAt95), Number(book.cancel(7)), book.place(buyAt95));
      },
    }),
  );
  // The refused one has a number, too.
  expect(answers).toEqual([10_000, REFUSED, 1, 10_001]);
  expect(fates(result)[10_000]).toBe("rejected: too many working orders");
});

Deno.test("prices on one side of the open are reached in the order of their distance from it", () => {
  // Long from 100 with a stop at 95; a buy limit at 97 comes before it on the way down, and its trade meets the stop, too.
  const rows: Row[] = [...flat(100, 100), [100, 101, 94, 99], ...flat(99)];
  const decisions = script({
    0: (book) => book.place({ ...buyTen, stopLoss: 95 }),
    1: (book) => book.place({ ...buyTen, type: LIMIT, limitPrice: 97, stopLoss: 96 }),
  });
  expect(listTrades(runOver(rows, decisions, {}, 10_000))).toMatchObject([
    { entry: [1, 100], exit: [2, 95] },
    { entry: [2, 97], exit: [2, 96] },
  ]);
});

Deno.test("of two orders on different sides of the open, the older one comes first", () => {
  const rows: Row[] = [...flat(100), [100, 105, 95, 100], ...flat(100)];
  const up = order({ ...buyTen, type: STOP, stopPrice: 104 });
  const down = order({ ...sellTen, type: STOP, stopPrice: 96 });
  const place = (first: typeof up, second: typeof up) =>
    listTrades(
      runOver(rows, script({ 0: (book) => [first, second].forEach((draft) => book.place(draft)) }), {}, 10_000),
    );
  expect(place(up, down)).toMatchObject([{ side: "long", entry: [1, 104], exit: [1, 96] }, { side: "short" }]);
  expect(place(down, up)).toMatchObject([{ side: "short", entry: [1, 96], exit: [1, 104] }, { side: "long" }]);
});
