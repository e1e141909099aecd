/** Portfolios that a person can work out on paper. */
import { expect } from "@std/expect";
import type { PortfolioStrategy } from "../../../engine/portfolio/portfolio.ts";
import { ORDER_REASONS } from "../../../engine/order_columns.ts";
import { EXIT_REASONS, STILL_OPEN } from "../../../engine/trade_columns.ts";
import { candlesOf, type Row } from "../market.ts";
import { DAY_MS, each, execution, holder, marketOf, runOf, still } from "./on_paper.ts";

const HOUR_MS = 3_600_000;
const YEAR_DAYS = 365;

/** Weights at the marks of some rows, by the day of their instant. */
function targets(weights: Readonly<Record<number, readonly number[]>>, minTrade = 0): PortfolioStrategy {
  return {
    kind: "portfolio",
    warmup: 1,
    every: null,
    prepare() {},
    decide(now, _markets, _account, orders) {
      const wanted = weights[now / DAY_MS];
      if (wanted !== undefined) orders.target(Float64Array.from(wanted), minTrade);
    },
  };
}

Deno.test("60/40, rebalanced once a year", () => {
  // Two years of days. Stocks double in the first year and stay; bonds stay at 50.
  const stocks = still(...Array.from({ length: 2 * YEAR_DAYS }, (_, day) => (day < 360 ? 100 : 200)));
  const bonds = still(...Array.from({ length: 2 * YEAR_DAYS }, () => 50));
  const strategy: PortfolioStrategy = {
    kind: "portfolio",
    warmup: 1,
    every: "quarter",
    prepare() {},
    decide(now, _markets, _account, orders) {
      if (new Date(now - 1).getUTCMonth() === 0) orders.target(Float64Array.of(0.6, 0.4));
    },
  };
  const result = runOf([marketOf("SPY", stocks), marketOf("TLT", bonds)], strategy);
  // 1000: 6 stocks at 100 and 8 bonds at 50. At the end of 1970: 6 x 200 + 8 x 50 = 1600.
  // 1971-01-01 decides, 1971-01-02 trades: 60% are 960 or 4.8 stocks, 40% are 640 or 12.8 bonds.
  const { trades, equity } = result;
  const rows = Array.from(
    { length: trades.count },
    (_, k) => [trades.market[k], trades.quantity[k], trades.entryPrice[k], trades.pnl[k]],
  );
  expect(rows).toEqual([[0, 1.2, 100, 120], [0, 4.8, 100, 480], [1, 8, 50, 0], [1, 4.8, 50, 0]]);
  expect(trades.exitTime[0]).toBe((YEAR_DAYS + 1) * DAY_MS);
  expect([equity[0], equity[359], equity[360], equity.at(-1)]).toEqual([1000, 1000, 1600, 1600]);
  expect([...result.contributions.pnl]).toEqual([600, 0]);
  expect([...result.weights.weight.slice(-2)]).toEqual([0.6, 0.4]);
});

Deno.test("a member that is delisted is closed at its last close, and its money goes on", () => {
  const gone = still(10, 10, 8, 5);
  const stays = still(20, 20, 20, 20, 20, 40);
  const result = runOf(
    [
      marketOf("GONE", gone, { isDelisted: true, memberships: [{ from: 0, until: 9 * DAY_MS }] }),
      marketOf("STAYS", stays),
    ],
    targets({ 1: [0.5, 0.5], 5: [NaN, 1] }),
  );
  // 50 of GONE at 10 and 25 of STAYS at 20. GONE ends at 5: 250 back. On day 5 all 750 go into STAYS, at the open of 40:
  // equity there is 250 + 25 x 40 = 1250, of which 1000 are held: 6.25 more.
  const { trades } = result;
  expect(EXIT_REASONS[trades.exitReason[0]!]).toBe("delisted");
  expect([trades.exitTime[0], trades.exitPrice[0], trades.pnl[0]]).toEqual([3 * DAY_MS, 5, -250]);
  expect([...result.equity]).toEqual([1000, 1000, 900, 750, 750, 1250]);
  expect([...trades.quantity]).toEqual([50, 25, 6.25]);
});

Deno.test("no entry outside of a membership, and no sale because it ends", () => {
  const prices = still(10, 10, 10, 12, 12, 15);
  const member = { memberships: [{ from: 2 * DAY_MS, until: 4 * DAY_MS }] };
  const result = runOf(
    [marketOf("A", prices, member), marketOf("B", prices, member)],
    each([holder(0), holder(2)], 2),
  );
  // A asks at the close of day 0, before it is a member; B at that of day 2: bought at 12, and held beyond the membership.
  expect(ORDER_REASONS[result.orders.reason[0]!]).toBe("the instrument is not a member");
  expect([result.trades.count, result.trades.market[0], result.trades.entryPrice[0]]).toEqual([1, 1, 12]);
  expect(result.trades.exitReason[0]).toBe(STILL_OPEN);
});

Deno.test("a weekend between crypto and stocks: marks stay, and orders wait for the next open", () => {
  // 1970-01-01 is a Thursday. The stock trades 14:30 to 21:00 on Thursday, Friday and Monday; crypto every day.
  const [opens, length] = [14.5 * HOUR_MS, 6.5 * HOUR_MS];
  const time = Float64Array.from([0, 1, 4], (day) => day * DAY_MS + opens);
  const stock = { ...candlesOf([[50, 50, 50, 50], [60, 60, 60, 60], [40, 40, 40, 40]]), time };
  const hours = { opens: time, closes: time.map((open) => open + length) };
  const coins = still(100, 100, 110, 120, 130, 130);
  const asked: number[] = [];
  const result = runOf(
    [marketOf("STK", [], { candles: stock, hours }), marketOf("BTC", coins)],
    {
      ...targets({}),
      decide(now, markets, _account, orders) {
        asked.push(now / DAY_MS);
        expect(markets.map(({ hasClosed }) => hasClosed).includes(true)).toBe(true);
        // Saturday 00:00, after Friday's crypto day: both are bought at their next opens.
        if (now === 2 * DAY_MS) orders.target(Float64Array.of(0.5, 0.5));
      },
    },
  );
  const close = (21 * HOUR_MS) / DAY_MS;
  expect(asked).toEqual([close, 1, 1 + close, 2, 3, 4, 4 + close, 5, 6]);
  const { trades, equity, instant } = result;
  // Crypto at Saturday's open of 110: 500 / 110 = 4.54. The stock on Monday at 40: crypto is at Sunday's close of 120,
  // equity 1045.4, of which half are 522.7. Cash is 1000 - 499.4 = 500.6: it pays 12.51 stocks.
  expect([...trades.market]).toEqual([1, 0]);
  expect([...trades.entryTime]).toEqual([2 * DAY_MS, 4 * DAY_MS + opens]);
  expect([...trades.quantity]).toEqual([4.54, 12.51]);
  expect(trades.entryPrice[1]).toBe(40);
  expect(instant.length).toBe(9);
  expect(equity[5]).toBeCloseTo(1000 + 4.54 * 10, 9);
});

Deno.test("positionsMax leaves the last ones out, and the default size is its part of equity", () => {
  const prices = still(10, 10, 10);
  const result = runOf(["A", "B", "C"].map((id) => marketOf(id, prices)), each([holder(), holder(), holder()], 2));
  expect([...result.trades.quantity]).toEqual([50, 50]);
  expect(ORDER_REASONS[result.orders.reason[2]!]).toBe("as many positions are open as positions_max allows");
});

Deno.test("the highest score comes first", () => {
  const prices = still(10, 10, 10);
  const scored = (score: number) => ({ ...holder(), score: () => score });
  const strategy = { ...each([1, 3, 2].map(scored), 1), rank: "score" } as const;
  const result = runOf(["A", "B", "C"].map((id) => marketOf(id, prices)), strategy);
  expect([...result.trades.market]).toEqual([1]);
});

Deno.test("weights that money cannot pay are scaled down together", () => {
  const result = runOf(
    [marketOf("A", still(10, 10, 10)), marketOf("B", still(20, 20, 20))],
    targets({ 1: [0.9, 0.6] }),
  );
  // 900 and 600 of 1000: two thirds of each.
  expect([...result.trades.quantity]).toEqual([60, 20]);
});

Deno.test("a difference below minTrade is left, and a target of 0 is not", () => {
  const a = still(10, 10, 10, 11, 11, 11);
  const result = runOf(
    [marketOf("A", a), marketOf("B", still(10, 10, 10, 10, 10, 10))],
    targets({ 1: [0.5, 0.5], 4: [0.5, 0] }, 0.05),
  );
  expect([...result.trades.market]).toEqual([1, 0]);
  expect(result.trades.exitReason[1]).toBe(STILL_OPEN);
});

Deno.test("margin counts all positions at their worst prices", () => {
  const crash: Row[] = [[10, 10, 10, 10], [10, 10, 10, 10], [10, 10, 7.6, 10], [10, 10, 10, 10]];
  const result = runOf(
    [marketOf("A", crash), marketOf("B", crash)],
    targets({ 1: [1, 1] }),
    { execution: execution({ leverage: 2, maintenanceMargin: 0.5 }) },
  );
  // 100 of each for 2000, 1000 of it borrowed. At 7.6 equity is 520, and 25% of 1520 are 380: no call.
  expect(result.trades.exitReason.includes(EXIT_REASONS.indexOf("margin_call"))).toBe(false);
  const deeper = crash.map((row, i): Row => i === 2 ? [10, 10, 6.5, 10] : row);
  const called = runOf(
    [marketOf("A", deeper), marketOf("B", deeper)],
    targets({ 1: [1, 1] }),
    { execution: execution({ leverage: 2, maintenanceMargin: 0.5 }) },
  );
  // At 6.5 equity is 300, and 325 are needed: A is closed there. B alone needs 162.5.
  expect([...called.trades.exitReason]).toEqual([EXIT_REASONS.indexOf("margin_call"), STILL_OPEN]);
  expect(called.trades.exitPrice[0]).toBe(6.5);
  // By closes there is no call: 100 of each at 10 are 2000, less 1000. Called, A lost 350.
  expect([result.marginBounds, called.marginBounds]).toEqual([null, {
    worst_together: { final_equity: 650, trades: 1 },
    closes_only: { final_equity: 1000, trades: 0 },
  }]);
  const fallen = runOf(
    [marketOf("A", still(10, 10, 6, 6)), marketOf("B", still(10, 10, 6, 6))],
    targets({ 1: [1, 1] }),
    { execution: execution({ leverage: 2, maintenanceMargin: 0.5 }) },
  );
  // Equity is 200 at 6, and 300 are needed; after A is closed, 150. Worst prices are the closes.
  expect(fallen.marginBounds!.closes_only).toEqual(fallen.marginBounds!.worst_together);
  expect(fallen.marginBounds!.closes_only).toEqual({ final_equity: 200, trades: 1 });
});

Deno.test("what a portfolio cannot be is named", () => {
  const a = marketOf("A", still(1, 1));
  expect(() => runOf([], targets({}))).toThrow("a portfolio of 0 markets");
  expect(() => runOf([a, a], targets({}))).toThrow("twice");
  expect(() => runOf([a], targets({ 1: [1, 1] }))).toThrow("2 weights: there are 1 markets");
  expect(() => runOf([a], targets({ 1: [Infinity] }))).toThrow("weight of Infinity for A");
  expect(() => runOf([a], targets({ 1: [1e308] }))).toThrow("weight of 1e+308 for A: it is at most 1000");
  expect(() => runOf([a], targets({ 1: [1] }, -1))).toThrow("below -1");
  expect(() => runOf([{ ...a, currency: 0 }], targets({}))).toThrow("no rates");
  expect(() => runOf([a], targets({}), { execution: execution({ fill: "close" }) })).toThrow("fill close");
  expect(() => runOf([a], each([]))).toThrow("0 strategies over 1 markets");
});

Deno.test("many markets have their weights at fewer moments, and their holdings at as many", () => {
  const [markets, days] = [250, 600];
  const prices = still(...Array<number>(days).fill(10));
  const equal = targets({ 1: Array<number>(markets).fill(1 / markets) });
  const result = runOf(Array.from({ length: markets }, (_, n) => marketOf(`M${n}`, prices)), equal, {
    initialBalance: 1e6,
  });
  // One of three of 500 moments, and the last one; nothing is held at the first.
  const moments = Math.ceil(500 / 3);
  expect([...result.weights.marks].at(-1)).toBe(days - 1);
  expect(Math.abs(result.weights.marks.length - moments)).toBeLessThanOrEqual(1);
  expect(result.weights.mark.length).toBe((result.weights.marks.length - 1) * markets);
  expect(result.holdings!.mean).toBe(markets);
});

Deno.test("holdings and correlations of what was held", () => {
  const up = still(10, 10, 11, 10, 11, 10);
  const down = still(10, 10, 9, 10, 9, 10);
  const result = runOf([marketOf("A", up), marketOf("B", down), marketOf("C", up)], targets({ 1: [0.5, 0.25, 0] }));
  expect([...result.correlation.markets]).toEqual([0, 1]);
  // +10%, -9.1% and so on beside -10%, +11.1%: nearly opposite, and each the same as itself.
  const [aa, ab, ba, bb] = result.correlation.values;
  expect([aa, bb, ab]).toEqual([1, 1, ba]);
  expect(ab).toBeLessThan(-0.99);
  const { mean, herfindahl, largestWeight } = result.holdings!;
  expect(mean).toBe(2);
  expect(herfindahl).toBeGreaterThan(5 / 9 - 0.05);
  expect(largestWeight).toBeGreaterThan(0.5);
  expect([...result.contributions.marksHeld]).toEqual([5, 5, 0]);
});

Deno.test("many markets keep the profit of each at fewer moments, the last one among them", () => {
  const markets = Array.from(
    { length: 250 },
    (_, n) => marketOf(`M${n}`, still(...Array.from({ length: 900 }, (_, day) => 10 + n % 7 + (day * (n + 1)) % 5))),
  );
  const result = runOf(markets, targets({ 1: markets.map(() => 1 / 250), 800: markets.map(() => 0) }));
  const { weights: { marks, mark }, profits, contributions } = result;
  // 500 moments of 250 weights each are more than 50,000: one in three is kept.
  expect(mark.length + profits.mark.length).toBeLessThanOrEqual(100_000);
  expect(marks.length).toBeGreaterThan(150);
  expect(marks.length).toBeLessThan(300);
  expect([marks[0], marks.at(-1)]).toEqual([0, 899]);
  const last = new Float64Array(250);
  profits.market.forEach((market, k) => last[market] = profits.profit[k]!);
  contributions.pnl.forEach((pnl, market) => expect(last[market]).toBeCloseTo(pnl, 9));
});
