import { expect } from "@std/expect";
import { BY_UNITS, LIMIT, STOP } from "../../engine/strategy.ts";
import { flat, listTrades, order, type Row, runOver, script } from "./market.ts";

const buyOne = order({ sizeBy: BY_UNITS, size: 1 });
const buyTen = order({ sizeBy: BY_UNITS, size: 10 });
const sellTen = order({ side: -1, sizeBy: BY_UNITS, size: 10 });

Deno.test("an order decided at a close is filled at the next open, and the fee is paid there", () => {
  const rows: Row[] = [[10, 15, 10, 15], [20, 25, 20, 25], [30, 35, 30, 35]];
  const result = runOver(rows, script({ 0: (book) => book.place(buyOne) }), { commission: 0.01 }, 100);
  // Candle 0 decides. Candle 1 buys 1 at 20, fee 0.20, and is marked at 25. Candle 2 is marked at 35.
  expect([...result.equity]).toEqual([100, 104.8, 114.8]);
  expect([...result.position]).toEqual([0, 1, 1]);
  expect(result.metrics).toMatchObject({ fees_paid: 0.2, exposure: 2 / 3, open_trades: 1, final_equity: 114.8 });
});

Deno.test("with fill close it is filled at that close", () => {
  const rows: Row[] = [[10, 15, 10, 15], [20, 25, 20, 25], [30, 35, 30, 35]];
  const result = runOver(rows, script({ 0: (book) => book.place(buyOne) }), { commission: 0.01, fill: "close" }, 100);
  // Buys 1 at 15 with a fee of 0.15: the mark at that close is lower by the fee alone.
  expect([...result.equity]).toEqual([99.85, 109.85, 119.85]);
  expect(listTrades(result)).toMatchObject([{ entry: [0, 15], exit: null }]);
});

Deno.test("the spread costs half at the entry and half at the exit, or all of it at the entry", () => {
  const decisions = script({ 0: (book) => book.place(buyTen), 1: (book) => book.close(1, null) });
  const both = runOver(flat(100, 100, 100), decisions, { spread: 0.02 }, 2000);
  expect(listTrades(both)).toMatchObject([{ entry: [1, 101], exit: [2, 99], pnl: -20 }]);
  const entry = runOver(flat(100, 100, 100), decisions, { spread: 0.02, spreadOn: "entry" }, 2000);
  expect(listTrades(entry)).toMatchObject([{ entry: [1, 102], exit: [2, 100], pnl: -20 }]);
});

Deno.test("a short pays the spread, too", () => {
  const decisions = script({ 0: (book) => book.place(sellTen), 1: (book) => book.close(1, null) });
  const result = runOver(flat(100, 100, 100), decisions, { spread: 0.02 }, 2000);
  expect(listTrades(result)).toMatchObject([{ side: "short", entry: [1, 99], exit: [2, 101], pnl: -20 }]);
});

Deno.test("a fee has a rate, a fixed part, a part per unit, a minimum and a cap", () => {
  const trade = (commission: object, spread = 0) => {
    const decisions = script({ 0: (book) => book.place(buyTen) });
    return listTrades(runOver(flat(100, 100, 100), decisions, { commission, spread }, 2000))[0]?.fees;
  };
  // 10 units at 100 are worth 1000.
  expect(trade({ rate: 0.001 })).toBe(1);
  expect(trade({ rate: 0.001, fixed: 2 })).toBe(3);
  expect(trade({ rate: 0.001, fixed: 2, perUnit: 0.05 })).toBe(3.5);
  expect(trade({ perUnit: 0.05, minimum: 1 })).toBe(1);
  expect(trade({ perUnit: 0.05, minimum: 10, maximumRate: 0.004 })).toBe(4);
  // With half of the spread they are bought at 125, and worth 1250.
  expect(trade({ rate: 0.125 }, 0.5)).toBe(156.25);
});

Deno.test("slippage is against the order: bps of the price, or ticks", () => {
  const decisions = script({ 0: (book) => book.place(buyTen), 1: (book) => book.close(1, null) });
  expect(listTrades(runOver(flat(100, 100, 100), decisions, { slippage: { bps: 50 } }, 2000))).toMatchObject([
    { entry: [1, 100.49999999999999], exit: [2, 99.5] },
  ]);
  expect(listTrades(runOver(flat(100, 100, 100), decisions, { slippage: { ticks: 2, tickSize: 0.25 } }, 2000)))
    .toMatchObject(
      [
        { entry: [1, 100.5], exit: [2, 99.5] },
      ],
    );
});

Deno.test("ticks take at most half of a price", () => {
  const slippage = { ticks: 100, tickSize: 1 };
  const bought = runOver(
    flat(50, 50, 50),
    script({ 0: (book) => book.place(buyOne), 1: (book) => book.close(1, null) }),
    { slippage },
  );
  expect(listTrades(bought)).toMatchObject([{ entry: [1, 150], exit: [2, 25] }]);
  // 1000 / 25.
  const sold = runOver(flat(50, 50), script({ 0: (book) => book.place(order({ side: -1 })) }), { slippage });
  expect(listTrades(sold)).toMatchObject([{ side: "short", quantity: 40, entry: [1, 25] }]);
});

Deno.test("stops slip and limits do not", () => {
  const rows: Row[] = [[100, 100, 100, 100], [100, 105, 95, 100]];
  const stop = order({ type: STOP, stopPrice: 104, sizeBy: BY_UNITS, size: 1 });
  const limit = order({ type: LIMIT, limitPrice: 96, sizeBy: BY_UNITS, size: 1 });
  const slippage = { ticks: 1, tickSize: 0.5 };
  expect(listTrades(runOver(rows, script({ 0: (book) => book.place(stop) }), { slippage }))).toMatchObject([
    { entry: [1, 104.5] },
  ]);
  expect(listTrades(runOver(rows, script({ 0: (book) => book.place(limit) }), { slippage }))).toMatchObject([
    { entry: [1, 96] },
  ]);
});

Deno.test("a volume share fills an order over several candles into one trade, each part with its own impact", () => {
  const rows: Row[] = [[100, 100, 100, 100, 40], [100, 100, 100, 100, 40], [110, 110, 110, 110, 60], [
    120,
    120,
    120,
    120,
  ]];
  const slippage = { volumeShare: 0.1, impact: 0.5 };
  const result = runOver(rows, script({ 0: (book) => book.place(buyTen) }), { slippage }, 2000);
  // Candle 1: 4 of 10 units, a share of 0.1: 100 x (1 + 0.5 x 0.01) = 100.5. Candle 2: 6 units, again a tenth: 110.55.
  // Their mean is (4 x 100.5 + 6 x 110.55) / 10 = 106.53.
  const [trade] = listTrades(result);
  expect([...result.position]).toEqual([0, 4, 10, 10]);
  expect(trade?.entry[0]).toBe(1);
  expect(trade?.entry[1]).toBeCloseTo(106.53, 10);
  expect(result.orders.filledQuantity[0]).toBe(10);
});

Deno.test("a stop order that was reached goes on after its last candle if volume was short", () => {
  const rows: Row[] = [...flat(100), [100, 105, 100, 104, 60], ...flat(106, 107)];
  const stop = order({ type: STOP, stopPrice: 103, candlesMax: 1, sizeBy: BY_UNITS, size: 10 });
  const slippage = { volumeShare: 0.1, impact: 0 };
  const result = runOver(rows, script({ 0: (book) => book.place(stop) }), { slippage }, 2000);
  // Six at 103, and four at the next open of 106.
  expect([...result.position]).toEqual([0, 6, 10, 10]);
  expect(listTrades(result)[0]?.entry[1]).toBeCloseTo(104.2, 10);
});

Deno.test("a stop loss that volume cannot fill goes on at the next opens", () => {
  const rows: Row[] = [...flat(100, 100), [100, 100, 90, 92, 60], [91, 91, 91, 91, 1000]];
  for (const [guard, reason] of [[{ stopLoss: 95 }, "stop_loss"], [{ trailDistance: 5 }, "trailing_stop"]] as const) {
    const entry = order({ sizeBy: BY_UNITS, size: 10, ...guard });
    const slippage = { volumeShare: 0.1, impact: 0 };
    const result = runOver(rows, script({ 0: (book) => book.place(entry) }), { slippage }, 2000);
    expect(listTrades(result)).toMatchObject([{ quantity: 6, exit: [2, 95], reason }, {
      quantity: 4,
      exit: [3, 91],
      reason,
    }]);
  }
});

Deno.test("a short pays for borrowing, over weekends and for any length of candle", () => {
  const result = runOver(
    flat(100, 100, 100, 100),
    script({ 0: (book) => book.place(sellTen) }),
    { borrowRate: 0.365 },
    2000,
  );
  // Held over the ends of candles 1 and 2: each day 10 x 100 x 0.365 / 365 = 1.
  expect([...result.equity]).toEqual([2000, 2000, 1999, 1998]);
  expect(listTrades(result)).toMatchObject([{ pnl: -2 }]);
});

Deno.test("funding is paid by longs to shorts at 00:00, 08:00 and 16:00 UTC", () => {
  const run = (draft: typeof buyTen) =>
    runOver(flat(100, 100, 100), script({ 0: (book) => book.place(draft) }), { fundingRate: 0.001 }, 2000);
  // From the open of candle 1 to that of candle 2 lie three fundings, 24:00 included: 3 x 1000 x 0.001.
  expect([...run(buyTen).equity]).toEqual([2000, 2000, 1997]);
  expect([...run(sellTen).equity]).toEqual([2000, 2000, 2003]);
});

Deno.test("a long pays for the money that it borrows, and each trade its share", () => {
  // 30 bought at 100 with 2000: cash -1000, and each day 1000 x 0.365 / 365 = 1. Ten of the thirty pay a third.
  const draft = (size: number) => order({ sizeBy: BY_UNITS, size });
  const strategy = script({ 0: (book) => [draft(10), draft(20)].forEach((one) => book.place(one)) });
  const result = runOver(flat(100, 100, 100), strategy, { marginRate: 0.365, leverage: 2 }, 2000);
  expect([...result.equity]).toEqual([2000, 2000, 1999]);
  expect(result.trades.pnl[0]).toBeCloseTo(-1 / 3, 14);
  expect(result.trades.pnl[1]).toBeCloseTo(-2 / 3, 14);
});

Deno.test("a long that borrows nothing and a short pay no margin interest", () => {
  for (const draft of [buyTen, sellTen]) {
    const result = runOver(flat(100, 100, 100), script({ 0: (book) => book.place(draft) }), { marginRate: 1 }, 2000);
    expect([...result.equity]).toEqual([2000, 2000, 2000]);
  }
});

Deno.test("cash earns interest from the first candle on, which belongs to no trade", () => {
  // 2000 x 0.365 / 365 = 2 in the first day. Then ten units are bought, and 1002 earn 1.002.
  const result = runOver(flat(100, 100, 100), script({ 0: (book) => book.place(buyTen) }), { cashRate: 0.365 }, 2000);
  expect(result.equity[1]).toBeCloseTo(2002, 10);
  expect(result.equity[2]).toBeCloseTo(2003.002, 10);
  expect(result.metrics.cash_interest).toBeCloseTo(3.002, 10);
  expect(listTrades(result)).toMatchObject([{ pnl: 0 }]);
  // Nothing is ever decided here.
  expect(runOver(flat(1, 1, 1), script({}), { cashRate: 0.365 }).equity[2]).toBeCloseTo(1002.001, 10);
});

Deno.test("the proceeds of a short sale earn no interest", () => {
  // Cash is 3002 after the first day's 2; 1000 of it are owed in units, and 2002 earn 2.002.
  const result = runOver(flat(100, 100, 100), script({ 0: (book) => book.place(sellTen) }), { cashRate: 0.365 }, 2000);
  expect(result.equity[2]).toBeCloseTo(2004.002, 10);
});
