/** Several currencies in one account, worked out on paper. */
import { expect } from "@std/expect";
import { BY_EQUITY_FRACTION, BY_UNITS, LIMIT, type Strategy } from "../../../engine/strategy.ts";
import { EXIT_REASONS } from "../../../engine/trade_columns.ts";
import type { Row } from "../market.ts";
import { DAY_MS, each, execution, holder, marketOf, runOf, still } from "./on_paper.ts";

Deno.test("two currencies: marks, fees and profits at their rates", () => {
  const rates = { time: Float64Array.of(0, 2 * DAY_MS, 3 * DAY_MS), rate: Float64Array.of(2, 2.5, 4) };
  const result = runOf(
    [marketOf("EUR", still(10, 10, 10, 20), { currency: 0 }), marketOf("USD", still(100, 100, 100, 100))],
    each([holder(0, 2), holder(0)], 2),
    { currencies: [rates], execution: execution({ commission: 0.01, quantityStep: 1 }) },
  );
  // 500 of the account's money are 250 of EUR's at day 1: 24 units at 10 with a fee of 2.4 cost 242.4, or 484.8.
  // Day 1 marks at its end, at 2.5: 240 x 2.5. Day 3 opens at 20 and 4: 480 less 4.8 are 475.2, or 1900.8.
  const { trades } = result;
  expect([trades.market[0], trades.quantity[0], trades.exitPrice[0]]).toEqual([0, 24, 20]);
  expect(trades.fees[0]).toBeCloseTo(2.4 * 2 + 4.8 * 4, 9);
  expect(trades.pnl[0]).toBeCloseTo(1900.8 - 484.8, 9);
  expect(result.equity[1]).toBeCloseTo(1000 - 484.8 + 600 - 4 * 1, 9);
});

Deno.test("a stop inside a candle is converted at the last rate before it: the next one closes with the candle", () => {
  const rates = { time: Float64Array.of(0, 2 * DAY_MS, 3 * DAY_MS), rate: Float64Array.of(2, 2.5, 4) };
  const falls: Row[] = [[10, 10, 10, 10], [10, 10, 10, 10], [10, 10, 7, 7], [7, 7, 7, 7]];
  const stopped = holder(0, Infinity, { sizeBy: BY_UNITS, size: 10, stopLoss: 8 });
  const result = runOf([marketOf("EUR", falls, { currency: 0 })], each([stopped], 1), { currencies: [rates] });
  // 10 units cost 100 at 2. Day 2 begins at a rate of 2.5, known since its open, and ends with one of 4: the stop pays 80 at 2.5.
  expect([result.trades.exitReason[0], result.trades.exitPrice[0]]).toEqual([EXIT_REASONS.indexOf("stop_loss"), 8]);
  expect(result.trades.pnl[0]).toBeCloseTo(80 * 2.5 - 100 * 2, 9);
  expect(result.equity[1]).toBeCloseTo(1000 - 200 + 100 * 2.5, 9);
  expect(result.equity[2]).toBeCloseTo(1000, 9);
});

/** A holder() that is asked at the close of one candle alone, so that its market sleeps. */
const sleeper = (at: number, fields: object): Strategy => ({
  ...holder(at, Infinity, fields),
  nextDecision: (i) => i <= at ? at : Infinity,
});
const TEN_UNITS = { sizeBy: BY_UNITS, size: 10 };
/** A buy at 10 that fills inside a candle. */
const inside = (size: { readonly sizeBy: number; readonly size: number }) => ({ ...size, type: LIMIT, limitPrice: 10 });
const HALF_OF_EQUITY = { sizeBy: BY_EQUITY_FRACTION, size: 0.5 };
const AT_11: Row[] = [[11, 11, 11, 11], [11, 11, 11, 11], [11, 11, 9, 11], [11, 11, 11, 11], [11, 11, 9, 11]];

Deno.test("inside a candle, a market that rests is worth its last close at the last rate before the candle closes", () => {
  const rates = {
    time: Float64Array.from([0, 1, 2, 3, 4, 5], (day) => day * DAY_MS),
    rate: Float64Array.of(1, 1, 2, 3, 5, 50),
  };
  // EUR has no candle after day 2, in which OWN is filled; THIRD is filled inside of day 4.
  const result = runOf(
    [marketOf("EUR", still(10, 10, 10), { currency: 0 }), marketOf("OWN", AT_11), marketOf("THIRD", AT_11)],
    each([
      holder(0, Infinity, TEN_UNITS),
      holder(1, Infinity, inside(TEN_UNITS)),
      holder(3, Infinity, inside(HALF_OF_EQUITY)),
    ]),
    { currencies: [rates] },
  );
  // 1000 less 100 less 100 are 800. OWN's 10 units count by day 3's close, 110, and EUR's by the rate since day 4, 5: 500.
  expect([...result.trades.quantity]).toEqual([10, 10, (800 + 110 + 500) / 2 / 10]);
});

Deno.test("inside of its own candle, a market that sleeps is worth as much as one that is asked", () => {
  const rates = {
    time: Float64Array.from([0, 1, 2, 2.5, 3], (day) => day * DAY_MS),
    rate: Float64Array.of(1, 1, 2, 30, 50),
  };
  const sizeOf = (eur: Strategy) => {
    const markets = [marketOf("EUR", still(10, 10, 10, 10), { currency: 0 }), marketOf("OWN", AT_11.slice(0, 4))];
    const run = runOf(markets, each([eur, holder(1, Infinity, inside(HALF_OF_EQUITY))]), { currencies: [rates] });
    return [...run.trades.quantity];
  };
  // Its candle begins with day 2, at a rate of 2: 900 and 200.
  const expected = [10, 55];
  expect(sizeOf(holder(0, Infinity, TEN_UNITS))).toEqual(expected);
  expect(sizeOf(sleeper(0, TEN_UNITS))).toEqual(expected);
});

Deno.test("a margin call inside a candle knows the rate at its open, and not the one that comes with its close", () => {
  const dips: Row[] = [[10, 10, 10, 10], [10, 10, 10, 10], [10, 10, 8, 10], [10, 10, 10, 10]];
  const callOf = (...rate: number[]) => {
    const rates = { time: Float64Array.from(rate, (_, day) => day * DAY_MS), rate: Float64Array.from(rate) };
    const result = runOf([marketOf("EUR", dips, { currency: 0 })], each([holder(0, Infinity, TEN_UNITS)]), {
      currencies: [rates],
      initialBalance: 60,
      execution: execution({ leverage: 2, maintenanceMargin: 0.5 }),
    });
    return { bounds: result.marginBounds, reason: result.trades.exitReason[0], equity: [...result.equity] };
  };
  const call = EXIT_REASONS.indexOf("margin_call");
  // 100 for 60, 40 borrowed. At 8 and a rate of 0.6, 48 less 40 are 8, and a quarter of 48 is 12: called at 48.
  const atOpen = callOf(1, 1, 0.6, 2);
  expect([atOpen.reason, atOpen.equity.at(-1)]).toEqual([call, 8]);
  // At the close, 10 at a rate of 2, nothing is called.
  expect(atOpen.bounds).toEqual({
    worst_together: { final_equity: 8, trades: 1 },
    closes_only: { final_equity: 160, trades: 0 },
  });
  // At 0.9, 72 less 40 are 32, and 18 are needed: no call. The close has 0.45: 45 less 40 are 5. Day 3, which needs 11.25, calls.
  const atClose = callOf(1, 1, 0.9, 0.45);
  expect([atClose.reason, atClose.equity[2]]).toEqual([call, 5]);
});

Deno.test("a rate that has moved since the last mark calls a market that sleeps, whose price stands still", () => {
  const days = [0, 1, 2, 3];
  const hours = {
    opens: Float64Array.from(days, (day) => (day + 0.5) * DAY_MS),
    closes: Float64Array.from(days, (day) => (day + 0.9) * DAY_MS),
  };
  const rates = {
    time: Float64Array.from([0, 2.25, 2.75], (day) => day * DAY_MS),
    rate: Float64Array.of(1, 0.45, 2),
  };
  const eur = marketOf("EUR", still(10, 10, 10, 10), { currency: 0, hours });
  const result = runOf([eur], each([sleeper(0, TEN_UNITS)]), {
    ...{ currencies: [rates], timeframeMs: null, initialBalance: 60 },
    execution: execution({ leverage: 2, maintenanceMargin: 0.5 }),
  });
  // 100 for 60, 40 borrowed. Day 2 opens at a rate of 0.45: 45 less 40 are 5, and a quarter of 45 is needed. It closes at 2.
  expect([result.trades.exitReason[0], result.equity.at(-1)]).toEqual([EXIT_REASONS.indexOf("margin_call"), 5]);
});
