/**
 * Holds the profile `backtesting.py` to the results of the library of that name. Candles (Google, daily, 2004 to 2013: the
 * library's sample) and its printed numbers lie in parity/.
 */
import { expect } from "@std/expect";
import type { Candles } from "../../engine/candles.ts";
import { resolveExecution } from "../../engine/execution.ts";
import { crossesAbove } from "../../engine/indicators/cross.ts";
import { sma } from "../../engine/indicators/sma.ts";
import { run } from "../../engine/run.ts";
import { BY_UNITS, newDraft, STOP, STOP_LIMIT } from "../../engine/strategy.ts";
import { executionRequestSchema } from "../../routers/runs/execution_request.ts";
import { smaCross } from "../../strategies/builtin/sma_cross.ts";
import euros from "./parity/eurusd_closes.csv" with { type: "text" };
import google from "./parity/goog.csv" with { type: "text" };
import cases from "./parity/sma_cross.json" with { type: "json" };
import { DAY_MS, flat, listTrades, order, type Row, runOver, script } from "./market.ts";

const LIBRARY = { profile: "backtesting.py" } as const;

function readCandles(csv: string): Candles {
  const rows = csv.trim().split("\n").slice(1).map((line) => line.split(","));
  const column = (field: number) => Float64Array.from(rows, (row) => Number(row[field]));
  return {
    time: Float64Array.from(rows, (row) => Date.parse(`${row[0]}T00:00:00Z`)),
    open: column(1),
    high: column(2),
    low: column(3),
    close: column(4),
    volume: column(5),
  };
}

/** True if two numbers are equal to nine digits, the precision of the library's own sums. */
function near(got: unknown, want: number): boolean {
  return typeof got === "number" && Math.abs(got - want) <= 1e-9 * Math.max(1, Math.abs(want));
}

function isoDay(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

const candles = readCandles(google);
const firstRows: Row[] = Array.from({ length: 30 }, (_, i) => [
  candles.open[i]!,
  candles.high[i]!,
  candles.low[i]!,
  candles.close[i]!,
]);

for (const test of cases) {
  Deno.test(`every trade of the library's ${test.name} comes out the same`, () => {
    const execution = resolveExecution(executionRequestSchema.parse(test.execution), "stock");
    const { metrics, trades } = run({
      candles,
      firstIndex: 0,
      timeframeMs: DAY_MS,
      initialBalance: test.initialBalance,
      execution,
      strategy: smaCross.create({ takeProfitLevel: 0, stopLossLevel: 0, ...test.parameters }, execution),
      control: null,
    });
    const got = new Map<string, unknown>(Object.entries(metrics));
    for (const [name, want] of Object.entries(test.expected)) {
      expect([name, got.get(name), near(got.get(name), want)]).toEqual([name, got.get(name), true]);
    }
    test.trades.forEach((want, k) => {
      const [side, quantity, entryDay, entryPrice, exitDay, exitPrice, pnl] = want;
      const listed = [trades.side[k] === 1 ? "long" : "short", trades.quantity[k], isoDay(trades.entryTime[k]!)];
      expect([...listed, isoDay(trades.exitTime[k]!)]).toEqual([side, quantity, entryDay, exitDay]);
      expect(near(trades.entryPrice[k]!, Number(entryPrice))).toBe(true);
      expect(near(trades.exitPrice[k]!, Number(exitPrice))).toBe(true);
      expect(near(trades.pnl[k]!, Number(pnl))).toBe(true);
    });
    expect(metrics.trades).toBe(test.trades.length);
  });
}

Deno.test("a stop loss comes before a take profit, and one that the open has passed fills at the open", () => {
  // Candle 5 opens at 104.95, below the stop, and reaches 107.95, above the target.
  const result = runOver(
    firstRows,
    script({
      3: (book) => book.place(newDraft()),
      4: (book) => book.protect(book.tradeAt(0), 105, 107.9),
    }),
    LIBRARY,
    10_000,
  );
  expect(listTrades(result)).toMatchObject([{ exit: [5, 104.95], reason: "stop_loss" }]);
});

Deno.test("a short stop and its take profit fill in one candle when the stop loss is out of reach", () => {
  const sell = order({
    side: -1,
    type: STOP,
    sizeBy: BY_UNITS,
    size: 1,
    stopPrice: 108,
    takeProfit: 105,
    stopLoss: 113,
  });
  const result = runOver(firstRows, script({ 1: (book) => book.place(sell) }), LIBRARY, 10_000);
  expect(listTrades(result)).toMatchObject([{ entry: [3, 108], exit: [3, 105], reason: "take_profit" }]);
});

Deno.test("a stop loss of 99.5 that is gapped through fills at the open of 99.19", () => {
  const buy = order({ sizeBy: BY_UNITS, size: 1, stopLoss: 99.5 });
  const result = runOver(firstRows, script({ 1: (book) => book.place(buy) }), LIBRARY, 10_000);
  expect(listTrades(result)).toMatchObject([{ exit: [expect.any(Number), 99.19], reason: "stop_loss" }]);
});

Deno.test("stop-limit orders fill at the stop, not at the limit", () => {
  const buy = order({ type: STOP_LIMIT, sizeBy: BY_UNITS, size: 1, stopPrice: 112, limitPrice: 113 });
  const sell = order({ side: -1, type: STOP_LIMIT, sizeBy: BY_UNITS, size: 1, stopPrice: 107, limitPrice: 105 });
  const bought = runOver(firstRows, script({ 1: (book) => book.place(buy) }), LIBRARY, 10_000);
  const sold = runOver(firstRows, script({ 1: (book) => book.place(sell) }), LIBRARY, 10_000);
  expect([listTrades(bought)[0]?.entry[1], listTrades(sold)[0]?.entry[1]]).toEqual([112, 107]);
});

Deno.test("a stop loss of 90 leaves a market that gaps from 100 to 50 at 50", () => {
  const buy = order({ sizeBy: BY_UNITS, size: 1, stopLoss: 90 });
  const result = runOver(flat(100, 100, 100, 50, 50), script({ 0: (book) => book.place(buy) }), LIBRARY);
  expect(listTrades(result)).toMatchObject([{ entry: [1, 100], exit: [3, 50], reason: "stop_loss" }]);
});

Deno.test("100 units from 1 to 4 with a fee of 10 plus 1% cost 11 at the entry and 14 at the exit", () => {
  const buy = order({ sizeBy: BY_UNITS, size: 100 });
  const rows = flat(1, 1, 2, 3, 4);
  const decisions = script({ 0: (book) => book.place(buy), 3: (book) => book.close(1, null) });
  const result = runOver(rows, decisions, { ...LIBRARY, commission: { fixed: 10, rate: 0.01 } });
  // 100 x (4 - 1) - 11 - 14.
  expect(listTrades(result)).toMatchObject([{ entry: [1, 1], exit: [4, 4], fees: 25, pnl: 275 }]);
});

/** Candles at which two averages cross, either way. */
function crossesOf(close: Float64Array, [fast, slow]: readonly [number, number], throughTouch: boolean): number[] {
  const [first, second] = [sma(close, fast), sma(close, slow)];
  return Array.from(close.keys()).filter((i) =>
    crossesAbove(first, second, i, throughTouch) || crossesAbove(second, first, i, throughTouch)
  );
}

Deno.test("Google's averages of 5 and 25 days meet at 489.242 on 2010-08-17 and have crossed the day after", () => {
  const touch = Array.from(candles.time, isoDay).indexOf("2010-08-17");
  expect([sma(candles.close, 5)[touch], sma(candles.close, 25)[touch]]).toEqual([489.242, 489.242]);
  expect(crossesOf(candles.close, [5, 25], true)).toContain(touch + 1);
  expect(crossesOf(candles.close, [5, 25], false)).not.toContain(touch + 1);
});

Deno.test("two averages of 5,000 hours of euros change sides 1,438 times, 6 times of these through a touch", () => {
  const close = Float64Array.from(euros.trim().split("\n").slice(1), Number);
  // The signs of the differences, those of exactly 0 left out.
  const [fast, slow] = [sma(close, 2), sma(close, 4)];
  const signs = Array.from(close.keys(), (i) => Math.sign(fast[i]! - slow[i]!)).filter((sign) => Math.abs(sign) === 1);
  const changes = signs.filter((sign, k) => k > 0 && sign !== signs[k - 1]).length;
  expect([changes, crossesOf(close, [2, 4], true).length, crossesOf(close, [2, 4], false).length]).toEqual([
    1438,
    1438,
    1432,
  ]);
});
