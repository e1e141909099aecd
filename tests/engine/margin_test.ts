import { expect } from "@std/expect";
import { type ExecutionRequest, resolveExecution } from "../../engine/execution.ts";
import { run } from "../../engine/run.ts";
import { BY_UNITS, LIMIT, type OrderDraft, STOP } from "../../engine/strategy.ts";
import { candlesOf, DAY_MS, flat, listTrades, order, type Row, runOver, script } from "./market.ts";
import { runBoth, units } from "./run_both.ts";

const buy = (size: number) => script({ 0: (book) => book.place(order({ sizeBy: BY_UNITS, size })) });
const sell = (size: number) => script({ 0: (book) => book.place(order({ side: -1, sizeBy: BY_UNITS, size })) });

Deno.test("a long without borrowed money has no margin call, however far it falls", () => {
  const result = runOver([...flat(100, 100), [100, 100, 1, 2]], buy(10));
  expect(listTrades(result)).toMatchObject([{ exit: null }]);
  expect(result.metrics.final_equity).toBe(20);
});

Deno.test("a leveraged long is liquidated at the low once equity is below half of its initial margin", () => {
  // 50 units at 100 with 1000: cash -4000. At 89 equity is 450, and half the margin 0.5 x 50 x 89 / 5 = 445: it holds.
  // At 88 equity is 400 and 440 are needed: everything is sold.
  const holds = runOver([...flat(100, 100), [100, 100, 89, 95]], buy(50), { leverage: 5 });
  expect(listTrades(holds)).toMatchObject([{ exit: null }]);
  const called = runOver([...flat(100, 100), [100, 100, 88, 95], ...flat(95)], buy(50), { leverage: 5 });
  expect(listTrades(called)).toMatchObject([{ exit: [2, 88], reason: "margin_call", pnl: -600 }]);
  expect([...called.equity]).toEqual([1000, 1000, 400, 400]);
});

Deno.test("a price in the entry candle calls, too, if it certainly came after the entry", () => {
  const enter = (fields: Partial<OrderDraft>, candle: Row) => {
    const draft = order({ sizeBy: BY_UNITS, size: 50, ...fields });
    return listTrades(runOver([...flat(100), candle], script({ 0: (book) => book.place(draft) }), { leverage: 5 }));
  };
  // Entry at the open: at 88 equity is 400, and 440 are needed.
  expect(enter({}, [100, 100, 88, 95])).toMatchObject([{ entry: [1, 100], exit: [1, 88], reason: "margin_call" }]);
  // Entry at 98 on the way down: at 86 equity is 400, and 430 are needed.
  const limit = { type: LIMIT, limitPrice: 98 };
  expect(enter(limit, [100, 100, 86, 95])).toMatchObject([{ entry: [1, 98], exit: [1, 86], reason: "margin_call" }]);
  // Entry at 102 on the way up: the low may have come before.
  const stop = { type: STOP, stopPrice: 102, size: 49 };
  expect(enter(stop, [100, 103, 86, 95])).toMatchObject([{ entry: [1, 102], exit: null }]);
});

Deno.test("a short is called at the high, at leverage 1 too", () => {
  // 10 sold at 100 with 1000: cash 2000. At 133 equity is 670, half the margin 665. At 134: 660 against 670.
  expect(listTrades(runOver([...flat(100, 100), [100, 133, 100, 100]], sell(10)))).toMatchObject([{ exit: null }]);
  expect(listTrades(runOver([...flat(100, 100), [100, 134, 100, 100]], sell(10)))).toMatchObject([
    { exit: [2, 134], reason: "margin_call" },
  ]);
});

Deno.test("a stop loss comes before the margin call, since its price does", () => {
  const guarded = script({ 0: (book) => book.place(order({ sizeBy: BY_UNITS, size: 50, stopLoss: 95 })) });
  const result = runOver([...flat(100, 100), [100, 100, 80, 95]], guarded, { leverage: 5 });
  expect(listTrades(result)).toMatchObject([{ exit: [2, 95], reason: "stop_loss" }]);
});

/** 50 units at 100 with 1000 and leverage 5: cash -4000. At 88 equity is 400, and half the margin 0.5 x 50 x 88 / 5 = 440. */
const LEVERED: Partial<OrderDraft> = { sizeBy: BY_UNITS, size: 50, takeProfit: 110 };

function meetBoth(candle: Row, execution: ExecutionRequest = {}, fields: Partial<OrderDraft> = {}) {
  const decisions = script({ 0: (book) => book.place(order({ ...LEVERED, ...fields })) });
  return runOver([...flat(100, 100), candle], decisions, { leverage: 5, ...execution });
}

Deno.test("with a margin call and a target in one candle, the call is assumed, the trade flagged and the result bounded", () => {
  const result = meetBoth([100, 112, 88, 105]);
  expect(listTrades(result)).toMatchObject([{ exit: [2, 88], reason: "margin_call", pnl: -600 }]);
  expect([...result.trades.ambiguous]).toEqual([1]);
  // With the target first, the gain is 50 x (110 - 100).
  const bounds = { stop_first: { final_equity: 400, trades: 1 }, target_first: { final_equity: 1500, trades: 1 } };
  expect(result.bounds).toEqual(bounds);
  const best = meetBoth([100, 112, 88, 105], { bothTouched: "target_first" });
  expect(listTrades(best)).toMatchObject([{ exit: [2, 110], reason: "take_profit", pnl: 500 }]);
  expect([...best.trades.ambiguous]).toEqual([1]);
  expect(best.bounds).toEqual(bounds);
});

Deno.test("an open beyond the target decides: no margin call is due and nothing is ambiguous", () => {
  const result = meetBoth([111, 112, 88, 105]);
  expect(listTrades(result)).toMatchObject([{ exit: [2, 111], reason: "take_profit" }]);
  expect(result.bounds).toBe(null);
});

Deno.test("bothTouched nearest goes first to the nearer of margin call and target", () => {
  // 12 down and 11 up, then 12 down and 13 up.
  expect(listTrades(meetBoth([100, 111, 88, 105], { bothTouched: "nearest" }))).toMatchObject([{
    reason: "take_profit",
  }]);
  expect(listTrades(meetBoth([100, 113, 88, 105], { bothTouched: "nearest" }))).toMatchObject([{
    reason: "margin_call",
  }]);
});

Deno.test("finer candles show whether target or margin call came first, and the depth of the call", () => {
  const magnify = (parts: Row[]) => {
    const draft = order(LEVERED);
    const candles = candlesOf([...flat(100, 100), [100, 112, 85, 90]]);
    const finer = candlesOf(parts);
    return listTrades(run({
      candles,
      finer: { ...finer, time: finer.time.map((_, k) => 2 * DAY_MS + k * DAY_MS / parts.length) },
      firstIndex: 0,
      timeframeMs: DAY_MS,
      initialBalance: 1000,
      execution: resolveExecution({ leverage: 5, bothTouched: "magnify" }, "crypto"),
      strategy: script({ 0: (book) => book.place(draft) }),
      control: null,
    }));
  };
  expect(magnify([[100, 112, 99, 105], [105, 105, 85, 90]])).toMatchObject([{ exit: [2, 110], reason: "take_profit" }]);
  expect(magnify([[100, 101, 88, 95], [95, 112, 85, 90]])).toMatchObject([{ exit: [2, 88], reason: "margin_call" }]);
});

Deno.test("after an entry inside a candle, the target waits if the margin call may have come before it", () => {
  // Entry at 102 on the way up with 49 units: cash -3998. At 86 equity is 216, and 0.5 x 49 x 86 / 5 = 421.40 are needed.
  const stop = { type: STOP, stopPrice: 102, size: 49 };
  const both = (bothTouched: "stop_first" | "target_first") =>
    listTrades(runOver(
      [...flat(100), [100, 112, 86, 105]],
      script({ 0: (book) => book.place(order({ ...LEVERED, ...stop })) }),
      { leverage: 5, bothTouched },
    ));
  expect(both("stop_first")).toMatchObject([{ entry: [1, 102], exit: null }]);
  expect(both("target_first")).toMatchObject([{ entry: [1, 102], exit: [1, 110] }]);
});

Deno.test("maintenanceMargin moves the call, and marginCall false removes it", () => {
  const rows: Row[] = [...flat(100, 100), [100, 100, 88, 95], ...flat(95)];
  expect(listTrades(runOver(rows, buy(50), { leverage: 5, maintenanceMargin: 0.4 }))).toMatchObject([{ exit: null }]);
  expect(listTrades(runOver(rows, buy(50), { leverage: 5, marginCall: false }))).toMatchObject([{ exit: null }]);
});

Deno.test("equity at zero ends the run at 0, and the account loses no more than it had", () => {
  const decisions = script({
    0: (book) => book.place(order({ sizeBy: BY_UNITS, size: 50 })),
    3: (book) => book.place(order({ sizeBy: BY_UNITS, size: 1 })),
  });
  const result = runOver(flat(100, 100, 70, 100, 100), decisions, { leverage: 5, marginCall: false });
  // 50 x -30 would be -1500: the broker bears 500.
  expect([...result.equity]).toEqual([1000, 1000, 0, 0, 0]);
  expect(listTrades(result)).toMatchObject([{ exit: [2, 70], reason: "margin_call", pnl: -1000 }]);
  expect([...result.position]).toEqual([0, 50, 0, 0, 0]);
});

Deno.test("a low that may have come before one of two entries calls no margin", () => {
  const rows: Row[] = [[100, 100, 100, 100], [100, 106, 80, 100]];
  const result = runBoth(rows, {
    0: (book) => {
      book.place(units(40, { type: STOP, stopPrice: 105 }));
      book.place(units(20, { type: LIMIT, limitPrice: 95 }));
    },
  }, { leverage: 10 });
  // At 80 the account would be worth 1000 - 40 x 25 - 20 x 15; at the close of 100 it is worth 900, of which 300 are tied up.
  expect(listTrades(result).map(({ entry, reason }) => [entry, reason])).toEqual([[[1, 105], null], [[1, 95], null]]);
  expect(result.equity[1]).toBe(900);
});

Deno.test("a long at leverage 1 has no margin call, even when funding has taken more than the cash", () => {
  const execution = { fundingRate: 0.001, maintenanceMargin: 1 };
  const result = runBoth(flat(100, 100, 100), { 0: (book) => book.place(units(10)) }, execution);
  // Three fundings a day take 3 of the cash of 0, and 997 are less than the value of 1000.
  expect(listTrades(result)).toMatchObject([{ quantity: 10, exit: null }]);
  expect(result.equity[2]).toBe(997);
});

Deno.test("a result names the loss beyond the account, which the prices of the closed trades do not show", () => {
  // 50 units at 100 with 1000: cash -4000. At 70 they are worth 3500: the account lacks 500.
  const execution = { leverage: 5, marginCall: false };
  const result = runOver([...flat(100, 100), [100, 100, 70, 70]], buy(50), execution);
  expect(listTrades(result)).toMatchObject([{ entry: [1, 100], exit: [2, 70], pnl: -1000 }]);
  expect(result.notes).toEqual([
    "The losses at 1970-01-03T00:00:00.000Z exceed the account by 500. The broker bears this: the pnl of the trade " +
    "closed there is better by it than prices, fees and financing give",
  ]);
  expect(runOver([...flat(100, 100), [100, 100, 80, 80]], buy(50), execution).notes).toEqual([]);
});
