import { expect } from "@std/expect";
import { run } from "../../engine/run.ts";
import { BY_UNITS, type Strategy } from "../../engine/strategy.ts";
import { SIGNAL, STOP_LOSS, TAKE_PROFIT } from "../../engine/trade_columns.ts";
import { BUILTINS } from "../../strategies/builtin/catalogue.ts";
import { emaCross } from "../../strategies/builtin/ema_cross.ts";
import { rsiReversion } from "../../strategies/builtin/rsi_reversion.ts";
import { smaCross } from "../../strategies/builtin/sma_cross.ts";
import { flat, listTrades, order, runOver, script } from "./market.ts";
import { bytesOf } from "./properties/bytes.ts";
import { randomRun } from "./properties/random_run.ts";

const RUNS = 1500;

/** A random number from one to seven. */
function isAsked(i: number, n: number): boolean {
  return (Math.imul(i + n, 2654435761) >>> 8) % (1 + n % 7) === 0;
}

/** The same strategy without nextDecision(). */
function askedAlways(strategy: Strategy): Strategy {
  return {
    warmup: strategy.warmup,
    prepare: (candles) => strategy.prepare(candles),
    decide: (i, account, book) => strategy.decide(i, account, book),
  };
}

Deno.test("a strategy with nextDecision() gives the same bytes as one that decides at every candle", () => {
  let trades = 0;
  let ruined = 0;
  for (let n = 0; n < RUNS; n++) {
    const input = randomRun(1, n);
    const { create } = n % 2 === 0 ? smaCross : emaCross;
    const parameters = {
      fast: 1 + n % 3,
      slow: 4 + n % 5,
      direction: n % 4 < 2 ? "both" : "long",
      stopLossLevel: n % 7 < 3 ? 0 : 0.002 * (n % 7),
      takeProfitLevel: n % 5 < 2 ? 0 : 0.003 * (n % 5),
    };
    const result = run({ ...input, strategy: create(parameters) });
    expect([n, bytesOf(result)]).toEqual([n, bytesOf(run({ ...input, strategy: askedAlways(create(parameters)) }))]);
    trades += result.trades.side.length;
    if (result.equity.at(-1)! <= 0) ruined++;
  }
  // Each kind of event must come up, or it was not compared.
  expect(trades).toBeGreaterThan(RUNS);
  expect(ruined).toBeGreaterThan(0);
});

Deno.test("a strategy whose next decision depends on its position gives the same bytes, too", () => {
  const reasons = new Set<number>();
  let trades = 0;
  for (let n = 0; n < RUNS; n++) {
    const input = randomRun(3, n);
    const parameters = {
      period: 1 + n % 4,
      oversold: 20 + n % 3 * 10,
      overbought: 60 + n % 4 * 10,
      exit: 40 + n % 3 * 10,
      direction: n % 4 < 2 ? "both" : "long",
      stopLossLevel: n % 7 < 3 ? 0 : 0.002 * (n % 7),
      takeProfitLevel: n % 5 < 2 ? 0 : 0.003 * (n % 5),
    };
    const create = () => rsiReversion.create(parameters);
    const result = run({ ...input, strategy: create() });
    expect([n, bytesOf(result)]).toEqual([n, bytesOf(run({ ...input, strategy: askedAlways(create()) }))]);
    trades += result.trades.count;
    for (const reason of result.trades.exitReason) reasons.add(reason);
  }
  expect(trades).toBeGreaterThan(RUNS);
  // Decisions follow exits that no decision made.
  expect([SIGNAL, STOP_LOSS, TAKE_PROFIT].filter((reason) => !reasons.has(reason))).toEqual([]);
});

Deno.test("every built-in strategy with nextDecision() decides as if it were asked at every candle", () => {
  for (const builtin of BUILTINS) {
    const short = Object.entries(builtin.parameter_schema.properties).map(([name, { type, default: usual }]) => {
      // Short windows, so that a few candles hold many decisions.
      const isWindow = type === "integer" && typeof usual === "number";
      return [name, isWindow ? Math.ceil(usual / 8) + (name === "base" || name === "slow" ? 2 : 1) : usual];
    });
    const parameters = {
      ...Object.fromEntries(short),
      ...{ threshold: 10, width: 0.5, entry: builtin.slug === "zscore-reversion" ? 1 : 3 },
    };
    if (builtin.create(parameters).nextDecision === undefined) continue;
    let trades = 0;
    for (let n = 0; n < 150; n++) {
      const input = randomRun(5, n);
      const guarded = { ...parameters, stopLossLevel: n % 3 * 0.004, takeProfitLevel: n % 4 * 0.005 };
      const create = () => builtin.create({ ...guarded, direction: n % 4 < 3 ? "both" : "long" }, input.execution);
      const result = run({ ...input, strategy: create() });
      const asked = run({ ...input, strategy: askedAlways(create()) });
      expect([builtin.slug, n, bytesOf(result)]).toEqual([builtin.slug, n, bytesOf(asked)]);
      trades += result.trades.count;
    }
    expect([builtin.slug, trades > 100]).toEqual([builtin.slug, true]);
  }
});

Deno.test("nextDecision() is called again once the position differs", () => {
  const asked: number[][] = [];
  const once: Strategy = {
    ...script({ 0: (book) => book.place(order({ sizeBy: BY_UNITS, size: 1, takeProfit: 120 })) }),
    nextDecision(i, { quantity }) {
      asked.push([i, quantity]);
      return Infinity;
    },
  };
  // Bought at the open of candle 1, sold in candle 3.
  runOver(flat(100, 100, 100, 120, 100, 100), once);
  expect(asked).toEqual([[1, 1], [3, 0]]);
});

Deno.test("nextDecision() gives the same bytes with all kinds of orders, guards and costs", () => {
  let trades = 0;
  for (let n = 0; n < RUNS; n++) {
    /** All kinds of actions, at some of the candles. */
    const seldom = (): Strategy => {
      const { warmup, prepare, decide } = randomRun(2, n).strategy;
      return { warmup, prepare, decide: (i, account, book) => isAsked(i, n) ? decide(i, account, book) : undefined };
    };
    const nextDecision = (i: number) => {
      while (!isAsked(i, n)) i++;
      return i;
    };
    const result = run({ ...randomRun(2, n), strategy: { ...seldom(), nextDecision } });
    expect([n, bytesOf(result)]).toEqual([n, bytesOf(run({ ...randomRun(2, n), strategy: seldom() }))]);
    trades += result.trades.count;
  }
  expect(trades).toBeGreaterThan(RUNS);
});

Deno.test("an account that falls to zero between decisions ends there, whatever the later prices", () => {
  // 50 units at 100 with 1000: at 70 the broker bears 500 of the loss, and nothing comes back at 100.
  const once: Strategy = {
    ...script({ 0: (book) => book.place(order({ sizeBy: BY_UNITS, size: 50 })) }),
    nextDecision: () => Infinity,
  };
  const result = runOver(flat(100, 100, 100, 70, 100, 100), once, { leverage: 5, marginCall: false });
  expect([...result.equity]).toEqual([1000, 1000, 1000, 0, 0, 0]);
  expect([...result.position]).toEqual([0, 50, 50, 0, 0, 0]);
  expect(listTrades(result)).toMatchObject([{ exit: [3, 70], reason: "margin_call", pnl: -1000 }]);
});
