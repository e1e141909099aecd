/** Notes of a result on decisions that came late, or never. */
import { expect } from "@std/expect";
import { resolveExecution } from "../../engine/execution.ts";
import { run } from "../../engine/run.ts";
import { BY_UNITS, STOP, type Strategy } from "../../engine/strategy.ts";
import { candlesOf, DAY_MS, flat, order, script } from "./market.ts";

const oneUnit = order({ sizeBy: BY_UNITS, size: 1 });
const BUYS = script({ 2: (book) => book.place(oneUnit), 3: (book) => book.place(oneUnit) });

function notesOf(strategy: Strategy, { days = 5, firstIndex = 0, lookback = true } = {}): readonly string[] {
  return run({
    candles: candlesOf(flat(...new Array<number>(days).fill(10))),
    firstIndex,
    timeframeMs: DAY_MS,
    initialBalance: 100,
    execution: resolveExecution({ lookback }, "crypto"),
    strategy,
    control: null,
  }).notes;
}

Deno.test("a strategy whose warm-up is there in time has no note", () => {
  expect(notesOf(BUYS)).toEqual([]);
  expect(notesOf({ ...BUYS, warmup: 3 }, { firstIndex: 2 })).toEqual([]);
});

Deno.test("a first decision after the first candle of the range is a note, with the candles and the remedy", () => {
  const late = { ...BUYS, warmup: 3 };
  expect(notesOf(late, { firstIndex: 1 })).toEqual([
    "The first decision came at candle 2 of 4 (1970-01-03T00:00:00.000Z): the strategy needs 3 candles, that one " +
    "included, and 1 from before the range were there. Begin the range later, or import older candles",
  ]);
  expect(notesOf(late, { lookback: false }).join()).toMatch(/candle 3 of 5 .*or switch execution\.lookback on$/);
});

Deno.test("a warm-up of at most a tenth of the range is no note: the archive begins somewhere", () => {
  // Candle 21 of 200 decides first; the two orders come at once.
  const late = (candles: number) => ({
    ...script({ [candles]: (book) => book.place(oneUnit), 30: (book) => book.place(oneUnit) }),
    warmup: candles + 1,
  });
  expect(notesOf(late(20), { days: 200 })).toEqual([]);
  expect(notesOf(late(20), { days: 200, lookback: false })).toEqual([]);
  expect(notesOf(late(21), { days: 200 })).toEqual([
    expect.stringMatching(/^The first decision came at candle 22 of 200/),
  ]);
  // Candles before the range are no part of it.
  expect(notesOf(late(20), { days: 200, firstIndex: 10 })).toEqual([]);
});

Deno.test("a run in which no decision was due says so", () => {
  expect(notesOf({ ...BUYS, warmup: 6 }, { firstIndex: 1 })).toEqual([
    "No decision was due: the strategy needs 6 candles, and the run had 5, of which 1 are from before the range. " +
    "Choose a range of more candles, or import older candles",
  ]);
});

Deno.test("a strategy that never orders, or only in the second half of a long run, has a note", () => {
  expect(notesOf(script({}))).toEqual(["The strategy placed no order at any of its 5 decisions"]);
  const at = (candle: number) => script({ [candle]: (book) => book.place(order({})) });
  expect(notesOf(at(101), { days: 200 })).toEqual([
    "The first order came at candle 102 of 200 (1970-04-12T00:00:00.000Z): the strategy placed none at 101 decisions " +
    "before it",
  ]);
  expect(notesOf(at(99), { days: 200 })).toEqual([]);
  // Three candles of five say nothing.
  expect(notesOf(at(3))).toEqual([]);
});

Deno.test("refused orders are counted by their reasons, and to close nothing is no order", () => {
  const tries = script({
    0: (book) => book.close(1, null),
    1: (book) => [order({}), order({}), order({ type: STOP })].forEach((draft) => book.place(draft)),
    3: (book) => book.place(order({})),
  });
  expect(notesOf(tries)).toEqual([
    "The simulator refused 3 of 4 orders: 2 (smaller than one lot), 1 (a stop order needs a stop price above 0)",
  ]);
});
