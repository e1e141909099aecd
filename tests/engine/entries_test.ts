import { expect } from "@std/expect";
import type { ExecutionRequest } from "../../engine/execution.ts";
import { ORDER_REASONS } from "../../engine/order_columns.ts";
import type { RunResult } from "../../engine/run.ts";
import { BY_UNITS, LIMIT, type OrderBook, STOP } from "../../engine/strategy.ts";
import { flat, listTrades, order, type Row, runOver, script } from "./market.ts";
import { runBoth, units } from "./run_both.ts";

const buyThirty = order({ sizeBy: BY_UNITS, size: 30 });
const sellFive = order({ side: -1, sizeBy: BY_UNITS, size: 5 });
const sellStop = order({ ...sellFive, type: STOP, stopPrice: 95 });
const sellLimit = order({ ...sellFive, type: LIMIT, limitPrice: 110 });

/** Runs with volume for ten units a candle, after an order for thirty at the first close. */
function trade(
  decisions: Readonly<Record<number, (book: OrderBook) => unknown>>,
  execution: ExecutionRequest = {},
  second: Row = [100, 100, 100, 100],
): RunResult {
  const rows: Row[] = [...flat(100, 100), second, ...flat(100, 100, 100)];
  const all = script({
    ...decisions,
    0(book) {
      book.place(buyThirty);
      decisions[0]?.(book);
    },
  });
  return runOver(rows, all, { slippage: { volumeShare: 0.01, impact: 0 }, ...execution }, 10_000);
}

const fateOfBuying = ({ orders }: RunResult) => [orders.filledQuantity[0], ORDER_REASONS[orders.reason[0]!]];
const REPLACED = "replaced by a newer entry";

Deno.test("an opposite entry cancels the unfilled rest of the older one and does not wait for it", () => {
  const result = trade({ 2: (book) => book.place(sellFive) });
  expect([...result.position]).toEqual([0, 10, 20, 10, 0, -5]);
  expect(fateOfBuying(result)).toEqual([20, REPLACED]);
  // Ten are bought at the open of candle 1, where the sale is filled for the first time, too.
  expect([...trade({ 0: (book) => book.place(sellFive) }).position]).toEqual([0, 10, 0, -5, -5, -5]);
  // Candle 1 has no volume left at its close.
  const atClose = trade({ 1: (book) => book.place(sellFive) }, { fill: "close" });
  expect([...atClose.position]).toEqual([10, 20, 10, 0, -5, -5]);
});

Deno.test("a stop or limit entry cancels that rest when it is reached, and not while it waits", () => {
  const unreached = trade({ 0: (book) => [sellStop, sellLimit].forEach((draft) => book.place(draft)) });
  expect([...unreached.position]).toEqual([0, 10, 20, 30, 30, 30]);
  const stopped = trade({ 0: (book) => book.place(sellStop) }, {}, [100, 100, 94, 100]);
  expect([...stopped.position]).toEqual([0, 10, 20, 10, 0, -5]);
  expect(fateOfBuying(stopped)).toEqual([20, REPLACED]);
  const limited = trade({ 0: (book) => book.place(sellLimit) }, {}, [100, 110, 100, 100]);
  expect([...limited.position]).toEqual([0, 10, -5, -5, -5, -5]);
});

Deno.test("an entry that cancels another at the open does not skip the next order", () => {
  const higher = { ...sellLimit, limitPrice: 111 };
  const place = (book: OrderBook) => [sellLimit, higher].forEach((draft) => book.place(draft));
  expect(listTrades(trade({ 0: place }, {}, [112, 112, 112, 112]))).toMatchObject([
    { side: "long", quantity: 20, exit: [2, 112] },
    { side: "short", quantity: 5, entry: [2, 112] },
    { side: "short", quantity: 5, entry: [2, 112] },
  ]);
});

Deno.test("a sale cancels that rest without short selling, too; netting and reducing orders cancel nothing", () => {
  const sell = order({ side: -1 });
  expect([...trade({ 2: (book) => book.place(sell) }, { allowShort: false }).position]).toEqual([0, 10, 20, 10, 0, 0]);
  const netted = trade({ 2: (book) => book.place(sellFive) }, { exclusive: "off" });
  expect([...netted.position]).toEqual([0, 10, 20, 30, 25, 25]);
  // Half of 30.
  expect([...trade({ 2: (book) => book.close(0.5, null) }).position]).toEqual([0, 10, 20, 30, 20, 15]);
});

Deno.test("under exclusive any, an entry keeps its number while the order that makes room for it waits", () => {
  const answers: unknown[] = [];
  runBoth(flat(100, 100, 100, 100), {
    0: (book) => book.place(units(1)),
    1: (book) => {
      const entry = book.place(units(1, { type: LIMIT, limitPrice: 90 }));
      answers.push(book.isWorking(entry), book.cancel(entry), book.isWorking(entry), book.workingOrders);
    },
  }, { exclusive: "any" });
  // Both simulators give these answers; the closing order goes on working.
  expect(answers).toEqual([true, true, false, 1, true, true, false, 1]);
});
