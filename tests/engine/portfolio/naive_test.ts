/** Random portfolios beside a naive simulator that shares no code with the engine. PORTFOLIO_RUNS chooses how many. */
import { expect } from "@std/expect";
import { runPortfolio } from "../../../engine/portfolio/run_portfolio.ts";
import type { PortfolioResult } from "../../../engine/portfolio/portfolio.ts";
import { EXIT_REASONS, STILL_OPEN } from "../../../engine/trade_columns.ts";
import { NaivePortfolio } from "./naive.ts";
import type { NaiveResult } from "./naive_types.ts";
import { type RandomPortfolio, randomPortfolio } from "./random_portfolio.ts";

const SEED = 1;
const RUNS = Number(Deno.env.get("PORTFOLIO_RUNS") ?? 400);
const FROM = Number(Deno.env.get("PORTFOLIO_FROM") ?? 0);
/** Nine digits, of a price or of the account. */
const TOLERANCE = 1e-9;

interface Both {
  readonly input: RandomPortfolio;
  readonly fast: PortfolioResult;
  readonly slow: NaiveResult;
}

function runBoth(n: number): Both {
  const input = randomPortfolio(SEED, n);
  const slow = new NaivePortfolio(input.markets, input.rules, input.decide).run();
  return { input, fast: runPortfolio(input.request), slow };
}

/** The first difference in words; null where there is none. */
function differ({ input, fast, slow }: Both): string | null {
  const scale = input.rules.balance;
  const near = (a: number, b: number, unit = Math.max(Math.abs(a), Math.abs(b), 1e-9)) =>
    Math.abs(a - b) <= TOLERANCE * unit;
  for (const [row, instant] of fast.instant.entries()) {
    const [a, b] = [fast.equity[row]!, slow.equity.get(instant) ?? NaN];
    // From ruin on there is nothing left to compare: the broker bears the rest.
    if (a === 0 && !(b > 0)) return null;
    if (!near(a, b, scale)) return `equity of row ${row} is ${a}, not ${b}`;
  }
  const { trades } = fast;
  if (trades.count !== slow.trades.length) return `${trades.count} trades, not ${slow.trades.length}`;
  for (const [k, trade] of slow.trades.entries()) {
    const found = {
      id: input.markets[trades.market[k]!]!.id,
      side: trades.side[k]!,
      entryAt: trades.entryTime[k]!,
      reason: trades.exitReason[k] === STILL_OPEN ? null : EXIT_REASONS[trades.exitReason[k]!]!,
    };
    const { id, side, entryAt, reason } = trade;
    const same = JSON.stringify(found) === JSON.stringify({ id, side, entryAt, reason });
    const exits = trade.exitAt === null ||
      (trades.exitTime[k] === trade.exitAt && near(trades.exitPrice[k]!, trade.exitPrice!));
    const numbers = near(trades.quantity[k]!, trade.quantity) && near(trades.entryPrice[k]!, trade.entryPrice);
    if (!same || !exits || !numbers || !near(trades.pnl[k]!, trade.pnl, scale)) {
      return `trade ${k} is ${
        JSON.stringify({ ...found, quantity: trades.quantity[k], exitTime: trades.exitTime[k], pnl: trades.pnl[k] })
      }, not ${JSON.stringify(trade)}`;
    }
  }
  const rejected = fast.metrics.rejected_orders;
  return rejected === slow.refused ? null : `${rejected} refused orders, not ${slow.refused}`;
}

Deno.test(`${RUNS} random portfolios agree with a naive simulator, trade by trade`, () => {
  const seen = new Set<string>();
  for (let n = FROM; n < FROM + RUNS; n++) {
    const both = runBoth(n);
    expect({ n, difference: differ(both) }).toEqual({ n, difference: null });
    for (const { reason } of both.slow.trades) seen.add(reason ?? "open");
    if (both.slow.refused > 0) seen.add("refused");
  }
  if (RUNS >= 400) {
    expect([...seen].sort()).toEqual([
      "delisted",
      "margin_call",
      "open",
      "refused",
      "signal",
      "stop_loss",
      "take_profit",
    ]);
  }
});

Deno.test("at every mark equity is cash and positions, and the contributions add up to the profit", () => {
  for (let n = 0; n < 200; n++) {
    const { input, fast } = runBoth(n);
    const { balance } = input.rules;
    const profit = fast.contributions.pnl.reduce((sum, pnl) => sum + pnl, 0);
    expect(Math.abs(fast.equity.at(-1)! - balance - profit)).toBeLessThan(TOLERANCE * balance);
    for (const [row, equity] of fast.equity.entries()) {
      if (equity === 0) break;
      expect(Math.abs(fast.cash[row]! + fast.netExposure[row]! * equity - equity)).toBeLessThan(TOLERANCE * balance);
      expect(fast.grossExposure[row]!).toBeGreaterThanOrEqual(Math.abs(fast.netExposure[row]!) - TOLERANCE);
    }
  }
});

Deno.test("at every moment that is kept, the profits of the markets add up to what the account has gained", () => {
  for (let n = 0; n < 200; n++) {
    const { input, fast } = runBoth(n);
    const { balance } = input.rules;
    const { profits, weights: { marks }, contributions: { pnl } } = fast;
    const sofar = new Float64Array(pnl.length);
    let k = 0;
    for (const mark of marks) {
      for (; profits.mark[k] === mark; k++) {
        expect(profits.profit[k]).not.toBe(sofar[profits.market[k]!]);
        sofar[profits.market[k]!] = profits.profit[k]!;
      }
      const gained = sofar.reduce((sum, profit) => sum + profit, 0);
      expect(Math.abs(fast.equity[mark]! - balance - gained)).toBeLessThan(TOLERANCE * balance);
    }
    expect(k).toBe(profits.mark.length);
    if (marks.at(-1) !== fast.equity.length - 1) continue;
    pnl.forEach((money, market) => expect(Math.abs(sofar[market]! - money)).toBeLessThan(TOLERANCE * balance));
  }
});
