import { expect } from "@std/expect";
import { run } from "../../engine/run.ts";
import type { Strategy } from "../../engine/strategy.ts";
import { EXIT_REASONS } from "../../engine/trade_columns.ts";
import { flat, order, runOver } from "./market.ts";
import { bytesOf } from "./properties/bytes.ts";
import { randomRun } from "./properties/random_run.ts";

const RUNS = 600;

/** True at random candles: at each in some runs, at few in others. */
function acts(i: number, n: number): boolean {
  return (Math.imul(i + n, 2654435761) >>> 8) % (1 + n % 11) === 0;
}

/** A strategy that acts at some candles, and its decisions on the others: [candle, cash, quantity, working orders, trades]. */
function seldom(n: number) {
  const { warmup, prepare, decide } = randomRun(2, n).strategy;
  const seen: number[][] = [];
  const see = (i: number, { cash, quantity }: { cash: number; quantity: number }, book: Book) =>
    void seen.push([i, cash, quantity, book.workingOrders, book.openTrades]);
  const each: Strategy = {
    warmup,
    prepare: (candles) => {
      seen.length = 0;
      prepare(candles);
    },
    decide(i, account, book) {
      see(i, account, book);
      if (acts(i, n)) decide(i, account, book);
    },
  };
  const ahead: Strategy = {
    ...each,
    decideAhead(i, until, account, book) {
      for (; i < until && !acts(i, n); i++) see(i, account, book);
      return i;
    },
  };
  return { each, ahead, seen };
}

type Book = Parameters<Strategy["decide"]>[2];

Deno.test("a strategy that decides ahead gives the same bytes, and sees the same account at each candle", () => {
  const reasons = new Set<string>();
  let ruined = 0;
  for (let n = 0; n < RUNS; n++) {
    const [one, other] = [seldom(n), seldom(n)];
    const result = run({ ...randomRun(2, n), strategy: one.ahead });
    expect([n, bytesOf(result)]).toEqual([n, bytesOf(run({ ...randomRun(2, n), strategy: other.each }))]);
    expect([n, one.seen]).toEqual([n, other.seen]);
    for (const reason of result.trades.exitReason) reasons.add(EXIT_REASONS[reason]!);
    if (result.equity.at(-1)! <= 0) ruined++;
  }
  // Each kind of event must come up, or it was not compared.
  // Only a portfolio knows delistings.
  expect([...reasons].sort()).toEqual(EXIT_REASONS.filter((reason) => reason !== "delisted").sort());
  expect(ruined).toBeGreaterThan(0);
});

Deno.test("orders that were decided ahead know the equity of their own candle", () => {
  // Candles 4 to 7 are decided on at once, after 1, and 2 and 3 without orders. 10 units were bought at 100.
  const equities: number[] = [];
  const strategy: Strategy = {
    warmup: 1,
    prepare() {},
    decideAhead: (i, until) => [0, 5].find((candle) => candle >= i && candle < until) ?? until,
    decide(i, account, book) {
      equities.push(account.equity);
      if (i === 0) book.place(order({}));
    },
  };
  runOver(flat(100, 100, 110, 120, 130, 140, 150, 160), strategy);
  expect(equities).toEqual([1000, 1400]);
});
