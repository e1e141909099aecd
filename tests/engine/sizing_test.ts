import { expect } from "@std/expect";
import type { ExecutionRequest } from "../../engine/execution.ts";
import {
  BY_CASH,
  BY_EQUITY_FRACTION,
  BY_RISK_FRACTION,
  BY_UNITS,
  LIMIT,
  type OrderDraft,
  REFUSED,
  STOP,
  STOP_LIMIT,
} from "../../engine/strategy.ts";
import { ORDER_REASONS } from "../../engine/order_columns.ts";
import { flat, listTrades, order, type Row, runOver, script } from "./market.ts";
import { runBoth, units } from "./run_both.ts";

/** The quantity of a single buy at 10 with 1000 in the account, or why it was refused. */
function buy(fields: Partial<OrderDraft>, execution: ExecutionRequest = {}): number | string | undefined {
  const result = runOver(flat(10, 10, 10), script({ 0: (book) => book.place(order(fields)) }), execution);
  return listTrades(result)[0]?.quantity ?? ORDER_REASONS[result.orders.reason[0]!];
}

Deno.test("an order without a quantity takes all equity", () => {
  expect(buy({})).toBe(100);
});

Deno.test("all equity includes the fee, the spread and the slippage", () => {
  // 1000 / (10 x 1.25) = 80; the fee of 25% is paid out of the same 1000.
  expect(buy({}, { commission: 0.25 })).toBe(80);
  expect(buy({}, { spread: 0.5 })).toBe(80);
  expect(buy({}, { slippage: { bps: 2500 } })).toBe(80);
  // (1000 - 200) / 10.
  expect(buy({}, { commission: { fixed: 200 } })).toBe(80);
  expect(buy({}, { commission: { minimum: 200 } })).toBe(80);
  // The fee of 200 is capped at a quarter of the value.
  expect(buy({}, { commission: { fixed: 500, maximumRate: 0.25 } })).toBe(80);
});

Deno.test("quantities are rounded down to lots", () => {
  expect(buy({}, { quantityStep: 30 })).toBe(90);
  expect(buy({ sizeBy: BY_UNITS, size: 0.37 }, { quantityStep: 0.1 })).toBe(0.3);
  expect(buy({ sizeBy: BY_UNITS, size: 0.3 }, { quantityStep: 0.1 })).toBe(0.3);
  expect(buy({ sizeBy: BY_UNITS, size: 0.09 }, { quantityStep: 0.1 })).toBe("smaller than one lot");
});

Deno.test("an order of more lots than can be counted is refused, by itself and when it is sized at its signal", () => {
  const unusable = "the order's prices or size are not usable";
  for (const sizingPrice of ["fill", "signal_close"] as const) {
    // 100 units are 1e310 lots.
    expect(buy({}, { quantityStep: 1e-308, sizingPrice })).toBe(unusable);
    expect(buy({ sizeBy: BY_UNITS, size: 100 }, { quantityStep: 1e-308, sizingPrice })).toBe(unusable);
  }
  const { orders, equity } = runOver(flat(10, 10, 10), script({ 0: (book) => book.place(order({})) }), {
    quantityStep: 1e-308,
  });
  expect(orders.quantity[0]).toBe(NaN);
  expect([...equity]).toEqual([1000, 1000, 1000]);
});

Deno.test("a working order without its price is refused by the name of that price", () => {
  const reasonOf = (fields: Partial<OrderDraft>) => {
    const { orders } = runOver(flat(10, 10), script({ 0: (book) => book.place(order(fields)) }));
    return ORDER_REASONS[orders.reason[0]!];
  };
  const [noLimit, noStop] = ["a limit order needs a limit price above 0", "a stop order needs a stop price above 0"];
  expect(reasonOf({ type: LIMIT })).toBe(noLimit);
  expect(reasonOf({ type: LIMIT, limitPrice: -1, stopPrice: 9 })).toBe(noLimit);
  expect(reasonOf({ type: STOP, limitPrice: 9 })).toBe(noStop);
  expect(reasonOf({ type: STOP_LIMIT, limitPrice: 9 })).toBe(noStop);
  expect(reasonOf({ type: STOP_LIMIT, stopPrice: 9, limitPrice: Infinity })).toBe(noLimit);
});

Deno.test("sizing is in units, money, a fraction or a risk", () => {
  expect(buy({}, { sizing: { type: "units", value: 7 } })).toBe(7);
  expect(buy({}, { sizing: { type: "cash", value: 250 } })).toBe(25);
  expect(buy({}, { sizing: { type: "cash", value: 250 }, commission: 0.25 })).toBe(20);
  expect(buy({}, { sizing: { type: "equity_fraction", value: 0.5 } })).toBe(50);
  // 2% of 1000 are lost over a distance of 0.5.
  expect(buy({ stopLoss: 9.5 }, { sizing: { type: "risk_fraction", value: 0.02 } })).toBe(40);
});

Deno.test("an order may have its own size", () => {
  expect(buy({ sizeBy: BY_CASH, size: 300 })).toBe(30);
  expect(buy({ sizeBy: BY_EQUITY_FRACTION, size: 0.2 })).toBe(20);
  expect(buy({ sizeBy: BY_RISK_FRACTION, size: 0.01, stopLossFraction: 0.05 })).toBe(20);
  expect(buy({ sizeBy: BY_RISK_FRACTION, size: 0.01, trailDistance: 2 })).toBe(5);
  // A fraction or a distance of 0 is no stop.
  expect(buy({ sizeBy: BY_RISK_FRACTION, size: 0.01, stopLossFraction: 0, trailDistance: 2 })).toBe(5);
  expect(buy({ sizeBy: BY_RISK_FRACTION, size: 0.01, trailDistance: 0, trailFraction: 0.2 })).toBe(5);
});

Deno.test("risk sizing needs a stop on the losing side, and never exceeds the buying power", () => {
  const refusal = "risk sizing needs a stop loss on the losing side of the price";
  expect(buy({ sizeBy: BY_RISK_FRACTION, size: 0.01 })).toBe(refusal);
  expect(buy({ sizeBy: BY_RISK_FRACTION, size: 0.01, stopLoss: 11 })).toBe(refusal);
  expect(buy({ sizeBy: BY_RISK_FRACTION, size: 0.5, stopLoss: 9.99 })).toBe(100);
});

Deno.test("an order beyond the buying power is refused", () => {
  expect(buy({ sizeBy: BY_UNITS, size: 100 })).toBe(100);
  expect(buy({ sizeBy: BY_UNITS, size: 100.01 })).toBe("not enough buying power");
  expect(buy({ sizeBy: BY_CASH, size: 1001 })).toBe("not enough buying power");
  expect(buy({ sizeBy: BY_UNITS, size: 100 }, { commission: 0.001 })).toBe("not enough buying power");
});

Deno.test("leverage multiplies the buying power", () => {
  expect(buy({}, { leverage: 5 })).toBe(500);
  expect(buy({ sizeBy: BY_UNITS, size: 500 }, { leverage: 5 })).toBe(500);
  expect(buy({ sizeBy: BY_UNITS, size: 501 }, { leverage: 5 })).toBe("not enough buying power");
});

Deno.test("a fraction is of the equity while the free margin lasts, or of the free margin", () => {
  const half = order({ sizeBy: BY_EQUITY_FRACTION, size: 0.5 });
  const place = (execution: ExecutionRequest) => {
    const thrice = script({ 0: (book) => [half, half, half].forEach((draft) => book.place(draft)) });
    const result = runOver(flat(10, 10, 10), thrice, execution);
    return [listTrades(result).map((trade) => trade.quantity), result.metrics.rejected_orders];
  };
  expect(place({})).toEqual([[50, 50], 1]);
  expect(place({ fractionOf: "free_margin" })).toEqual([[50, 25, 12.5], 0]);
});

Deno.test("the library's sizing takes a hair less than everything, and a fixed fee for every lot", () => {
  // 1000 x (1 - 2^-52) / 10 is just below 100, which gives 99 whole units.
  expect(buy({}, { profile: "backtesting.py" })).toBe(99);
  // 1000 / (10 + 10).
  expect(buy({}, { profile: "backtesting.py", commission: { fixed: 10 } })).toBe(49);
});

Deno.test("sizing at the signal's close with a cash buffer is LEAN's: whole shares, the fee set aside first", () => {
  const rows = flat(10, 11, 11);
  const lean = {
    quantityStep: 1,
    sizing: { type: "equity_fraction", value: 0.9975 },
    sizingPrice: "signal_close",
    commission: { perUnit: 0.005, minimum: 1, maximumRate: 0.005 },
  } as const;
  const result = runOver(rows, script({ 0: (book) => book.place(order({})) }), lean);
  // floor((1000 x 0.9975 - 1) / 10) = 99 at the close of 10; filled at the open of 11, although 99 x 11 is beyond the cash.
  expect(listTrades(result)).toMatchObject([{ quantity: 99, entry: [1, 11], fees: 1 }]);
});

Deno.test("one unit with a fee of 0.2 a unit and ten units are backtrader's contract with multiplier 10", () => {
  const decisions = script({ 0: (book) => book.place(order({})), 1: (book) => book.close(1, null) });
  const result = runOver(flat(100, 100, 103), decisions, {
    sizing: { type: "units", value: 10 },
    commission: { perUnit: 0.2 },
    leverage: 100,
  });
  // 3 points x 10 - 2 - 2.
  expect(listTrades(result)).toMatchObject([{ pnl: 26, fees: 4 }]);
});

Deno.test("a reducing order is sized by equity even if all of it is invested, and capped by the position", () => {
  const reduce = (size: number, execution: ExecutionRequest = {}, fields: Partial<OrderDraft> = {}) => {
    const sell = order({ side: -1, reduceOnly: true, sizeBy: BY_EQUITY_FRACTION, size, ...fields });
    const decisions = script({ 0: (book) => book.place(order({})), 1: (book) => book.place(sell) });
    return listTrades(runOver(flat(10, 10, 20), decisions, execution)).map(({ quantity, exit }) => [quantity, exit]);
  };
  // 100 bought at 10 are 2000 at 20, of which a quarter is 25 units.
  expect(reduce(0.25)).toEqual([[25, [2, 20]], [75, null]]);
  expect(reduce(0.25, { fractionOf: "free_margin" })).toEqual([[25, [2, 20]], [75, null]]);
  expect(reduce(3)).toEqual([[100, [2, 20]]]);
  // 100 sold short at 10 cost 1200 at 12, where equity is 800: twice that is more than the position.
  const cover = order({ reduceOnly: true, sizeBy: BY_EQUITY_FRACTION, size: 2 });
  const short = script({ 0: (book) => book.place(order({ side: -1 })), 1: (book) => book.place(cover) });
  expect(listTrades(runOver(flat(10, 10, 12), short))).toMatchObject([{ quantity: 100, exit: [2, 12] }]);
  // A hundredth of 2000 at a risk of 0.5 a unit: 40 units are worth 800, which the account need not have.
  const risk = { sizeBy: BY_RISK_FRACTION, stopLoss: 20.5 };
  expect(reduce(0.01, {}, risk)).toEqual([[40, [2, 20]], [60, null]]);
  expect(reduce(0.5, {}, risk)).toEqual([[100, [2, 20]]]);
});

Deno.test("open trades are valued at the fill's price, or at the close of its candle", () => {
  const quarter = order({ sizeBy: BY_EQUITY_FRACTION, size: 0.25 });
  const add = (execution: ExecutionRequest) => {
    const half = order({ sizeBy: BY_EQUITY_FRACTION, size: 0.5 });
    const decisions = script({ 0: (book) => book.place(half), 1: (book) => book.place(quarter) });
    return listTrades(runOver([...flat(10, 10), [20, 30, 20, 30]], decisions, execution)).map(({ quantity }) =>
      quantity
    );
  };
  // 50 units and 500 of cash are 1500 at the open of 20, and 2000 at the close of 30: a quarter buys 18.75 or 25 at 20.
  expect(add({})).toEqual([50, 18.75]);
  expect(add({ sizingMark: "close" })).toEqual([50, 25]);
});

Deno.test("an order against the position is sized as if the units that it closes or nets were free", () => {
  const turn = (execution: ExecutionRequest, fields: Partial<OrderDraft> = {}) => {
    const sell = order({ side: -1, ...fields });
    const decisions = script({ 0: (book) => book.place(order({})), 1: (book) => book.place(sell) });
    const result = runOver(flat(10, 10, 10), decisions, execution);
    return [result.position[2], ORDER_REASONS[result.orders.reason[1]!]];
  };
  for (const sizingPrice of ["fill", "signal_close"] as const) {
    expect(turn({ sizingPrice })).toEqual([-100, ""]);
    // All equity is 100 units, and 100 are held: netting leaves nothing.
    const off = { sizingPrice, exclusive: "off" } as const;
    expect(turn(off)).toEqual([0, ""]);
    expect(turn(off, { sizeBy: BY_RISK_FRACTION, size: 0.1, stopLoss: 11 })).toEqual([0, ""]);
    expect(turn(off, { sizeBy: BY_UNITS, size: 150 })).toEqual([-50, ""]);
    expect(turn(off, { sizeBy: BY_UNITS, size: 200 })).toEqual([-100, ""]);
    // At its fill the order has already netted; at the signal it has not.
    const tooMany = turn(off, { sizeBy: BY_UNITS, size: 201 });
    expect(tooMany).toEqual([sizingPrice === "fill" ? 0 : 100, "not enough buying power"]);
  }
});

Deno.test("an order that is too dear at its signal's close is refused at once", () => {
  const answers: number[] = [];
  runBoth(flat(100, 100), { 0: (book) => answers.push(book.place(units(11))) }, { sizingPrice: "signal_close" });
  expect(answers).toEqual([REFUSED, REFUSED]);
});

Deno.test("no fraction of the free margin buys more than all of it", () => {
  const twice = order({ sizeBy: BY_EQUITY_FRACTION, size: 2 });
  const result = runBoth(flat(100, 100), { 0: (book) => book.place(twice) }, { fractionOf: "free_margin" });
  expect(listTrades(result)).toMatchObject([{ quantity: 10 }]);
});

Deno.test("an account that owes more than it has risks nothing", () => {
  // 10 sold short at 100 with 1000: at the open of 250 equity is 2000 - 2500.
  const rows: Row[] = [...flat(100, 100), [250, 250, 100, 100], ...flat(100)];
  const risky = order({ side: -1, sizeBy: BY_RISK_FRACTION, size: 0.1, stopLoss: 300 });
  const result = runBoth(rows, {
    0: (book) => book.place(units(10, { side: -1 })),
    1: (book) => book.place(risky),
  }, { marginCall: false });
  expect([result.orders.quantity[1], ORDER_REASONS[result.orders.reason[1]!]]).toEqual([0, "smaller than one lot"]);
});
