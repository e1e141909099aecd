import { expect } from "@std/expect";
import { askToStop, createControl, readProgress } from "../../engine/control.ts";
import { resolveExecution } from "../../engine/execution.ts";
import { repeat, run, RunStopped } from "../../engine/run.ts";
import { BY_UNITS, LIMIT, type Strategy } from "../../engine/strategy.ts";
import { buyAndHold } from "../../strategies/builtin/buy_and_hold.ts";
import { candlesOf, DAY_MS, flat, listTrades, order, type Row, runOver, script } from "./market.ts";

const buyOne = order({ sizeBy: BY_UNITS, size: 1 });

function input(rows: readonly Row[], strategy: Strategy) {
  return {
    candles: candlesOf(rows),
    firstIndex: 0,
    timeframeMs: DAY_MS,
    initialBalance: 1000,
    execution: resolveExecution({}, "crypto"),
    strategy,
    control: null,
  };
}

Deno.test("indicators see lookback candles, which have no decision and no row in the result", () => {
  const decided: number[] = [];
  const strategy: Strategy = { warmup: 2, prepare: () => {}, decide: (i) => decided.push(i) };
  const result = run({ ...input(flat(1, 2, 3, 4, 5), strategy), firstIndex: 2 });
  expect(decided).toEqual([2, 3, 4]);
  expect([result.equity.length, result.position.length]).toEqual([3, 3]);
  expect(result.metrics.start).toBe("1970-01-03T00:00:00.000Z");
});

Deno.test("nothing is decided before the strategy is warm", () => {
  const decided: number[] = [];
  const strategy: Strategy = { warmup: 4, prepare: () => {}, decide: (i) => decided.push(i) };
  run({ ...input(flat(1, 2, 3, 4, 5), strategy), firstIndex: 1 });
  expect(decided).toEqual([3, 4]);
});

Deno.test("the account is shown as it stands at each close", () => {
  const seen: number[][] = [];
  const strategy: Strategy = {
    warmup: 1,
    prepare() {},
    decide(i, account, book) {
      seen.push([account.cash, account.equity, account.quantity, account.entryPrice]);
      if (i < 3) book.place(buyOne);
      if (i === 3) book.place({ ...buyOne, side: -1, reduceOnly: true });
    },
  };
  run(input(flat(100, 110, 120, 130, 140), strategy));
  // The oldest is sold: the units bought at 120 and 130 are left.
  expect(seen).toEqual([
    [1000, 1000, 0, NaN],
    [890, 1000, 1, 110],
    [770, 1010, 2, 115],
    [640, 1030, 3, 120],
    [780, 1060, 2, 125],
  ]);
});

Deno.test("an order that is decided on the last candle stays unfilled", () => {
  const result = runOver(flat(100, 100), script({ 1: (book) => book.place(buyOne) }));
  expect(listTrades(result)).toEqual([]);
});

Deno.test("trades open at the end are marked and listed last, or closed at the last open or close", () => {
  const rows: Row[] = [...flat(100, 100), [104, 106, 103, 105]];
  const decisions = script({ 0: (book) => book.place(buyOne) });
  expect(listTrades(runOver(rows, decisions))).toMatchObject([{ exit: null, pnl: 5 }]);
  const atOpen = runOver(rows, decisions, { closeAtEnd: "last_open" });
  expect(listTrades(atOpen)).toMatchObject([{ exit: [2, 104], reason: "end_of_data", pnl: 4 }]);
  expect(atOpen.metrics.final_equity).toBe(1004);
  const atClose = runOver(rows, decisions, { closeAtEnd: "last_close", commission: 0.1 });
  // 5 - 10 - 10.50.
  expect(listTrades(atClose)).toMatchObject([{ exit: [2, 105], pnl: -15.5 }]);
  expect([...atClose.position]).toEqual([0, 1, 0]);
});

Deno.test("a trade opened after the last open is closed at the last close", () => {
  const rows: Row[] = [...flat(100, 100), [104, 106, 97, 105]];
  const limit = order({ ...buyOne, type: LIMIT, limitPrice: 98 });
  const decisions = script({
    0: (book) => book.place(buyOne),
    1: (book) => [buyOne, limit].forEach((o) => book.place(o)),
  });
  // One was held at the open, one is bought at the open, and one at 98 later.
  expect(listTrades(runOver(rows, decisions, { closeAtEnd: "last_open" }))).toMatchObject([
    { entry: [1, 100], exit: [2, 104] },
    { entry: [2, 104], exit: [2, 104] },
    { entry: [2, 98], exit: [2, 105] },
  ]);
  const atClose = script({ 2: (book) => book.place(buyOne) });
  const result = runOver(rows, atClose, { closeAtEnd: "last_open", fill: "close" });
  expect(listTrades(result)).toMatchObject([{ entry: [2, 105], exit: [2, 105], pnl: 0 }]);
});

Deno.test("a trade's worst and best price count the prices between entry and exit, and no others", () => {
  const rows: Row[] = [[100, 150, 50, 100], [100, 104, 98, 101], [101, 108, 97, 102], [103, 140, 60, 100]];
  const decisions = script({ 0: (book) => book.place(buyOne), 2: (book) => book.close(1, null) });
  const { trades } = runOver(rows, decisions);
  // Entry at the open of candle 1, exit at the open of candle 3: high 108, low 97.
  expect([trades.mfe[0], trades.mae[0], trades.candles[0]]).toEqual([0.08, 0.03, 2]);
});

Deno.test("after an entry inside a candle only prices that certainly come later count", () => {
  const rows: Row[] = [...flat(100), [100, 110, 90, 101], [101, 101, 101, 101]];
  const stop = script({ 0: (book) => book.place({ ...buyOne, type: 2, stopPrice: 104 }) });
  const { trades } = runOver(rows, stop);
  // Reached from below: the high of 110 came after, the low of 90 may have come before; the lowest certain price is the close.
  expect([trades.mfe[0], trades.mae[0]]).toEqual([6 / 104, 3 / 104]);
});

Deno.test("bounds are the ends of the run with stops first and with targets first if a trade is ambiguous", () => {
  const rows: Row[] = [...flat(100), [100, 110, 90, 100], ...flat(100)];
  const guarded = script({ 0: (book) => book.place({ ...buyOne, stopLoss: 95, takeProfit: 108 }) });
  const result = runOver(rows, guarded);
  expect(result.bounds).toEqual({
    stop_first: { final_equity: 995, trades: 1 },
    target_first: { final_equity: 1008, trades: 1 },
  });
  expect(result.metrics).toMatchObject({ final_equity: 995, ambiguous_trades: 1 });
  expect(runOver(flat(100, 100), guarded).bounds).toBeNull();
});

Deno.test("a repeated run has the same orders, equity and position, and is simulated once", () => {
  const rows: Row[] = [...flat(100), [100, 110, 90, 100], ...flat(100)];
  const make = () => script({ 0: (book) => book.place({ ...buyOne, stopLoss: 95, takeProfit: 108 }) });
  const { orders, equity, position } = run(input(rows, make()));
  let runs = 0;
  const counted: Strategy = { ...make(), prepare: () => runs++ };
  expect(repeat(input(rows, counted))).toEqual({ orders, equity, position });
  // The trade is ambiguous, so that run() simulates it three times.
  expect(runs).toBe(1);
  expect(() => repeat({ ...input(rows, counted), initialBalance: 0 })).toThrow("Cannot run with a balance of 0");
});

Deno.test("magnify takes the order of prices from finer candles", () => {
  const rows: Row[] = [...flat(100), [100, 110, 90, 100], ...flat(100)];
  const guarded = script({ 0: (book) => book.place({ ...buyOne, stopLoss: 95, takeProfit: 108 }) });
  const hours = candlesOf([[100, 104, 99, 103], [103, 110, 102, 109], [109, 109, 90, 100]]);
  const finer = { ...hours, time: hours.time.map((_, k) => DAY_MS + k * DAY_MS / 24) };
  const result = run({
    ...input(rows, guarded),
    execution: resolveExecution({ bothTouched: "magnify" }, "crypto"),
    finer,
  });
  // The second hour reaches 108 before the third falls to 90.
  expect(listTrades(result)).toMatchObject([{ entry: [1, 100], exit: [1, 108], reason: "take_profit" }]);
  expect([result.bounds, result.notes]).toEqual([null, []]);
});

Deno.test("magnify without finer candles puts stops first and adds a note", () => {
  const rows: Row[] = [...flat(100), [100, 110, 90, 100], ...flat(100)];
  const guarded = script({ 0: (book) => book.place({ ...buyOne, stopLoss: 95, takeProfit: 108 }) });
  const result = runOver(rows, guarded, { bothTouched: "magnify" });
  expect(listTrades(result)).toMatchObject([{ exit: [1, 95], reason: "stop_loss" }]);
  expect(result.notes).toEqual([
    "bothTouched magnify: candles that no finer ones cover, where stops were assumed to come first: 1",
  ]);
});

Deno.test("finer candles that miss the candle's high or low are not replayed", () => {
  const rows: Row[] = [...flat(100), [100, 110, 90, 100], ...flat(100)];
  const guarded = script({ 0: (book) => book.place({ ...buyOne, stopLoss: 95, takeProfit: 120 }) });
  const replay = (...hours: Row[]) => {
    const finer = { ...candlesOf(hours), time: Float64Array.from(hours, (_, k) => DAY_MS + k * DAY_MS / 24) };
    const execution = resolveExecution({ bothTouched: "magnify" }, "crypto");
    return listTrades(run({ ...input(rows, guarded), execution, finer }));
  };
  // The hour that fell to 90 is missing: the day itself shows that the stop was reached.
  expect(replay([100, 104, 99, 103], [103, 110, 102, 109])).toMatchObject([{ exit: [1, 95], reason: "stop_loss" }]);
  // Candles of another source: the day has no price of 80 or 121.
  expect(replay([100, 110, 80, 85], [85, 121, 85, 100])).toMatchObject([{ exit: [1, 95], reason: "stop_loss" }]);
});

Deno.test("a stopped run names its number of candles; another reports them as progress", () => {
  const rows = flat(...new Array<number>(70_000).fill(100));
  const strategy = buyAndHold.create({});
  const control = createControl();
  run({ ...input(rows, strategy), control });
  expect(readProgress(control)).toEqual({ candlesDone: 70_000, equity: 1000 });
  const stopper: Strategy = {
    warmup: 1,
    prepare() {},
    decide(i) {
      if (i === 10) askToStop(control);
    },
  };
  expect(() => run({ ...input(rows, stopper), control })).toThrow(new RunStopped(1024));
});

Deno.test("a run's progress holds the equity at the close of its last candle", () => {
  // All equity buys at candle 1's open of 100, and each close is 1 above the one before.
  const rows = Array.from({ length: 3000 }, (_, i): Row => [99 + i, 100 + i, 99 + i, 100 + i]);
  const control = createControl();
  const seen: unknown[] = [];
  const inner = buyAndHold.create({});
  const watcher: Strategy = {
    warmup: 1,
    prepare: (candles) => inner.prepare(candles),
    decide(i, account, book) {
      inner.decide(i, account, book);
      if (i === 1 || i === 1500 || i === 2999) seen.push(readProgress(control));
    },
  };
  run({ ...input(rows, watcher), control });
  // 10 units at 100; candle 1023 closes at 1123, candle 2047 at 2147.
  expect(seen).toEqual([
    { candlesDone: 0, equity: NaN },
    { candlesDone: 1024, equity: 11_230 },
    { candlesDone: 2048, equity: 21_470 },
  ]);
  expect(readProgress(control)).toEqual({ candlesDone: 3000, equity: 30_990 });
});

Deno.test("a result is plain data, and the same inputs give the same bytes", () => {
  const rows: Row[] = Array.from({ length: 50 }, (_, i) => [100 + i, 103 + i, 98 + i, 101 + i]);
  const decisions = () => script({ 3: (book) => book.place(order({})), 9: (book) => book.place(order({ side: -1 })) });
  const first = runOver(rows, decisions(), { commission: 0.001 });
  const second = runOver(rows, decisions(), { commission: 0.001 });
  expect(structuredClone(first)).toEqual(second);
});

Deno.test("a run that cannot start names the value that prevents it", () => {
  const strategy = buyAndHold.create({});
  expect(() => run({ ...input(flat(1, 2), strategy), firstIndex: 2 })).toThrow(
    "Cannot run from candle 2: there are 2 candles",
  );
  expect(() => run({ ...input(flat(1), strategy), initialBalance: 0 })).toThrow("Cannot run with a balance of 0");
  expect(() => run({ ...input(flat(1), strategy), execution: resolveExecution({}, null) })).toThrow("periodsPerYear");
});
