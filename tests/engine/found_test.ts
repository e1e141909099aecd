/**
 * What random runs have found (properties_test.ts), each in its smallest form: the engine once did otherwise. The slow
 * simulator (oracle/) must agree on every one of them.
 */
import { expect } from "@std/expect";
import { type ExecutionRequest, resolveExecution } from "../../engine/execution.ts";
import { ORDER_REASONS } from "../../engine/order_columns.ts";
import { run, type RunInput, type RunResult } from "../../engine/run.ts";
import {
  BY_EQUITY_FRACTION,
  BY_RISK_FRACTION,
  BY_UNITS,
  LIMIT,
  type OrderDraft,
  REFUSED,
  STOP,
} from "../../engine/strategy.ts";
import { withOneNaN } from "../../engine/one_nan.ts";
import { candlesOf, DAY_MS, flat, order, type Row, runOver, script, tell } from "./market.ts";
import { simulateSlowly } from "./oracle/simulate.ts";
import { differences } from "./properties/compare.ts";

/** Runs both simulators, whose results must be the same. */
function runBoth(
  rows: readonly Row[],
  decisions: Parameters<typeof script>[0],
  execution: ExecutionRequest = {},
  initialBalance = 1000,
): RunResult {
  const input: RunInput = {
    candles: candlesOf(rows),
    firstIndex: 0,
    timeframeMs: DAY_MS,
    initialBalance,
    execution: resolveExecution(execution, "crypto"),
    strategy: script(decisions),
    control: null,
  };
  const result = run(input);
  expect(differences(input, result, simulateSlowly(input), initialBalance)).toEqual([]);
  return result;
}

const units = (size: number, fields: Partial<OrderDraft> = {}) => order({ sizeBy: BY_UNITS, size, ...fields });

/** Fills of market and stop orders are limited to a hundredth of the volume, without impact on the price. */
const A_HUNDREDTH = { slippage: { volumeShare: 0.01, impact: 0 } } as const;

Deno.test("under exclusive any, an entry is found by its number while the order that makes room for it waits", () => {
  const answers: unknown[] = [];
  runBoth(flat(100, 100, 100, 100), {
    0: (book) => book.place(units(1)),
    1: (book) => {
      const entry = book.place(units(1, { type: LIMIT, limitPrice: 90 }));
      answers.push(book.isWorking(entry), book.cancel(entry), book.isWorking(entry), book.workingOrders);
    },
  }, { exclusive: "any" });
  // Once for each simulator; the closing order goes on working.
  expect(answers).toEqual([true, true, false, 1, true, true, false, 1]);
});

Deno.test("an order that the close of its signal cannot pay is refused at once", () => {
  const answers: number[] = [];
  runBoth(flat(100, 100), { 0: (book) => answers.push(book.place(units(11))) }, { sizingPrice: "signal_close" });
  expect(answers).toEqual([REFUSED, REFUSED]);
});

Deno.test("with entryCandleExit same_direction, a trailing stop leaves the entry candle alone", () => {
  const rows: Row[] = [[100, 100, 100, 100], [100, 104, 99.5, 100.5], [100.8, 100.8, 100.8, 100.8]];
  const decisions = {
    0: (book: { place(draft: OrderDraft): number }) =>
      book.place(units(1, { type: STOP, stopPrice: 102, trailDistance: 3 })),
  };
  // The high of 104 moves the stop from 99 to 101, and the close lies below it.
  expect(tell(runBoth(rows, decisions))).toMatchObject([{ entry: [1, 102], exit: [1, 101] }]);
  const library = runBoth(rows, decisions, { entryCandleExit: "same_direction" });
  expect(tell(library)).toMatchObject([{ entry: [1, 102], exit: [2, 100.8], reason: "trailing_stop" }]);
});

Deno.test("what volume left over of an order is asked for buying power again", () => {
  // 20 units are 2000 at 100. Ten are filled there; at 150 the other ten are more than the 1000 that are left.
  const rows = flat(100, 100, 150, 150);
  const result = runBoth(rows, { 0: (book) => book.place(order({})) }, A_HUNDREDTH, 2000);
  expect(result.orders.filledQuantity[0]).toBe(10);
  expect(tell(result)).toMatchObject([{ quantity: 10, entry: [1, 100] }]);
  expect(result.equity[3]).toBe(1000 + 10 * 150);
});

Deno.test("the price of an order that closes two trades is the mean of both fills", () => {
  const execution = { slippage: { volumeShare: 0.1, impact: 1 } };
  const result = runBoth(
    flat(100, 100, 100),
    {
      0: (book) => {
        book.place(units(10));
        book.place(units(20));
      },
      1: (book) => book.close(1, null),
    },
    execution,
    10_000,
  );
  // A hundredth of the volume costs 0.0001 of the price, two hundredths 0.0004: 10 at 99.99 and 20 at 99.96.
  expect(result.orders.price[2]).toBeCloseTo(99.97, 10);
});

Deno.test("a low that may have come before one of two entries calls no margin", () => {
  const rows: Row[] = [[100, 100, 100, 100], [100, 106, 80, 100]];
  const result = runBoth(rows, {
    0: (book) => {
      book.place(units(40, { type: STOP, stopPrice: 105 }));
      book.place(units(20, { type: LIMIT, limitPrice: 95 }));
    },
  }, { leverage: 10 });
  // At 80 the account would be worth 1000 - 40 x 25 - 20 x 15; at the close of 100 it is worth 900, of which 300 are tied.
  expect(tell(result).map(({ entry, reason }) => [entry, reason])).toEqual([[[1, 105], null], [[1, 95], null]]);
  expect(result.equity[1]).toBe(900);
});

Deno.test("what is left of closing a part of a trade stays so many units", () => {
  const rows: Row[] = Array.from({ length: 8 }, () => [100, 100, 100, 100, 400]);
  const result = runBoth(
    rows,
    {
      0: (book) => book.place(units(20, { type: LIMIT, limitPrice: 100 })),
      1: (book) => {
        book.closeTrade(book.tradeAt(0), 0.5, "half");
        book.closeTrade(book.tradeAt(0), 0.25, "a quarter of what is left");
      },
    },
    A_HUNDREDTH,
    10_000,
  );
  // Four units a candle: 4, 4 and 2 of the ten; the other order met 16 units in candle 2 and wants four of them.
  expect([...result.orders.filledQuantity]).toEqual([20, 10, 4]);
  expect(result.position.at(-1)).toBe(6);
});

Deno.test("where the close proves two stops and volume is short, the older trade is closed first", () => {
  const rows: Row[] = [[100, 100, 100, 100], [100, 106, 90, 92, 2000], [92, 92, 92, 92, 2000]];
  const result = runBoth(
    rows,
    {
      0: (book) => {
        book.place(units(8, { type: STOP, stopPrice: 103, stopLoss: 95, tag: "older" }));
        book.place(units(8, { type: STOP, stopPrice: 104, stopLoss: 95, tag: "younger" }));
      },
    },
    A_HUNDREDTH,
    10_000,
  );
  // Of the 20 units of candle 1 the entries take 16.
  expect(tell(result).map(({ quantity, exit }) => [quantity, exit])).toEqual([[4, [1, 95]], [4, [2, 92]], [8, [
    2,
    92,
  ]]]);
  expect(result.trades.tag).toEqual(["older", "older", "younger"]);
});

Deno.test("a stop that meets no volume at all is filled at the next open", () => {
  const rows: Row[] = [[100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 94, 96, 0], [98, 99, 97, 98]];
  const buy = units(10, { type: LIMIT, limitPrice: 100, stopLoss: 95 });
  const result = runBoth(rows, { 0: (book) => book.place(buy) }, A_HUNDREDTH, 10_000);
  expect(tell(result)).toMatchObject([{ entry: [1, 100], exit: [3, 98], reason: "stop_loss" }]);
});

Deno.test("what the price of an entry has already passed goes before anything else, whatever comes first", () => {
  const rows: Row[] = [[100, 100, 100, 100], [100, 104, 97, 101]];
  const result = runBoth(rows, {
    0: (book) => {
      book.place(units(10, { type: LIMIT, limitPrice: 98, stopLoss: 99 }));
      book.place(units(9, { type: STOP, stopPrice: 103 }));
    },
  }, { bothTouched: "target_first" });
  // The 980 of the first are free again when the 927 of the second are needed. The open had decided nothing.
  expect(tell(result)).toMatchObject([{ exit: [1, 98], reason: "stop_loss" }, { entry: [1, 103], exit: null }]);
  expect([...result.trades.ambiguous]).toEqual([0, 0]);
});

Deno.test("a price that a reused draft still names does not make a stop order one with a limit", () => {
  const rows: Row[] = [[100, 100, 100, 100], [100, 109, 99.5, 107]];
  const buy = units(1, { type: STOP, stopPrice: 103, limitPrice: 90, takeProfit: 108 });
  const result = runBoth(rows, { 0: (book) => book.place(buy) }, { entryCandleExit: "same_direction" });
  expect(tell(result)).toMatchObject([{ entry: [1, 103], exit: [1, 108] }]);
});

Deno.test("no fraction of the free margin buys more than all of it", () => {
  const twice = order({ sizeBy: BY_EQUITY_FRACTION, size: 2 });
  const result = runBoth(flat(100, 100), { 0: (book) => book.place(twice) }, { fractionOf: "free_margin" });
  expect(tell(result)).toMatchObject([{ quantity: 10 }]);
});

Deno.test("closing three lots of 0.1 leaves no dust of the trades that held them", () => {
  const result = runBoth(flat(10, 10, 10, 10), {
    0: (book) => [0.1, 0.2, 1].forEach((size) => book.place(units(size))),
    1: (book) => book.place(units(0.3, { side: -1, reduceOnly: true })),
  });
  expect(tell(result).map(({ quantity, exit }) => [quantity, exit])).toEqual([[0.1, [2, 10]], [0.2, [2, 10]], [
    1,
    null,
  ]]);
});

Deno.test("of more lots than numbers can tell apart, too, nothing is left over when all is closed", () => {
  // 10,000 buy 64935064.93506499 at 0.000154: 6.5e15 lots, where rounding to lots may give the number beside it.
  const rows = flat(0.000154, 0.000154, 0.000154, 0.000154);
  const all = (book: { place(draft: OrderDraft): number }) => book.place(order({}));
  const closed = runBoth(rows, { 0: all, 1: (book) => book.close(1, null) }, {}, 10_000);
  expect(tell(closed)).toMatchObject([{ side: "long", quantity: 64935064.93506499, exit: [2, 0.000154] }]);
  const turned = runBoth(rows, { 0: all, 1: (book) => book.place(order({ side: -1 })) }, {}, 10_000);
  expect(tell(turned)).toMatchObject([{ side: "long", exit: [2, 0.000154] }, { side: "short", exit: null }]);
  // The slow simulator counts lots, and cannot count so many.
  const sellAll = script({ 0: all, 1: (book, account) => book.place(units(account.quantity, { side: -1 })) });
  const netted = runOver(rows, sellAll, { exclusive: "off" }, 10_000);
  expect([tell(netted).length, netted.position[2]]).toEqual([1, 0]);
});

Deno.test("a fraction that is only by rounding less than all closes every trade", () => {
  const result = runBoth(flat(10, 10, 10, 10), {
    0: (book) => [1, 1, 1].forEach((size) => book.place(units(size))),
    1: (book) => book.close(0.6 + 0.3 + 0.1, null),
  });
  expect(result.position[2]).toBe(0);
});

Deno.test("an account that owes more than it has risks nothing, and not less", () => {
  // 10 sold short at 100 with 1000; at the open of 250 the equity is 2000 - 2500.
  const rows: Row[] = [...flat(100, 100), [250, 250, 100, 100], ...flat(100)];
  const risky = order({ side: -1, sizeBy: BY_RISK_FRACTION, size: 0.1, stopLoss: 300 });
  const result = runBoth(rows, {
    0: (book) => book.place(units(10, { side: -1 })),
    1: (book) => book.place(risky),
  }, { marginCall: false });
  expect([result.orders.quantity[1], ORDER_REASONS[result.orders.reason[1]!]]).toEqual([0, "smaller than one lot"]);
});

Deno.test("every NaN of a result has the same bits, whatever calculation left it", () => {
  const negative = new Float64Array(new BigUint64Array([0xfff8_0000_0000_0000n]).buffer);
  const payload = new Float64Array(new BigUint64Array([0x7ff8_0000_0000_0001n]).buffer);
  const { a, b, c } = withOneNaN({ a: negative, b: payload, c: Float64Array.of(-0, 1.5) });
  const bitsOf = (column: Float64Array) => [...new BigUint64Array(column.buffer)];
  expect([bitsOf(a), bitsOf(b)]).toEqual([[0x7ff8_0000_0000_0000n], [0x7ff8_0000_0000_0000n]]);
  expect([...c]).toEqual([-0, 1.5]);
});

// What follows was right, but only random runs noticed when it was broken on purpose (mutations.ts).

Deno.test("a long at leverage 1 has no margin call, even when funding has taken more than the cash", () => {
  const execution = { fundingRate: 0.001, maintenanceMargin: 1 };
  const result = runBoth(flat(100, 100, 100), { 0: (book) => book.place(units(10)) }, execution);
  // Three fundings a day take 3 of the cash of 0, and 997 are less than the value of 1000.
  expect(tell(result)).toMatchObject([{ quantity: 10, exit: null }]);
  expect(result.equity[2]).toBe(997);
});

Deno.test("a part of a trade is rounded down to lots", () => {
  const result = runBoth(flat(10, 10, 10, 10), {
    0: (book) => book.place(units(10)),
    1: (book) => book.closeTrade(book.tradeAt(0), 0.29, null),
  }, { quantityStep: 1 });
  expect(tell(result).map(({ quantity }) => quantity)).toEqual([2, 8]);
});

Deno.test("a trailing stop stays where the best price has moved it", () => {
  const rows: Row[] = [
    [100, 100, 100, 100],
    [100, 110, 100, 109],
    [109, 109, 106.5, 107],
    [107, 108, 105.5, 107],
  ];
  const result = runBoth(rows, {
    0: (book) => book.place(units(1, { trailDistance: 4 })),
    // An order that ends with candle 2 makes the simulator look at that candle, whose high is no new best.
    1: (book) => book.place(units(1, { type: LIMIT, limitPrice: 1, candlesMax: 1 })),
  });
  expect(tell(result)).toMatchObject([{ entry: [1, 100], exit: [3, 106], reason: "trailing_stop" }]);
});

Deno.test("what volume leaves over of an order waits for the next open, not for the close of the same candle", () => {
  const rows: Row[] = [[100, 100, 100, 100], [100, 100, 100, 100, 400], [100, 111, 100, 110, 400]];
  const result = runBoth(
    rows,
    {
      0: (book) => book.place(units(20, { type: LIMIT, limitPrice: 100, takeProfit: 110 })),
      1: (book) => book.close(1, null),
      2: (book) => book.place(units(1, { type: LIMIT, limitPrice: 1 })),
    },
    { ...A_HUNDREDTH, fill: "close" },
    10_000,
  );
  // Four at the close of candle 1, four at the open of candle 2; then the target takes the rest, and nobody asks again.
  expect(result.orders.filledQuantity[1]).toBe(8);
  expect(ORDER_REASONS[result.orders.reason[1]!]).toBe("the run ended");
});
