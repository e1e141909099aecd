/** The records that exports_bench.ts reads, each as large as it may be, or nearly. */
import type { Db } from "../db/client.ts";
import { ensureInstrument } from "../db/instruments.ts";
import type { Candles } from "../engine/candles.ts";
import { storeCandles } from "../market/archive/store.ts";
import type { TestClient } from "../tests/support/client.ts";
import { say } from "./measure.ts";
import { makeWalk } from "./random_walk.ts";

/** The markets of the widest account. */
export const MARKETS = Array.from({ length: 1_000 }, (_, n) => `W${n}`);
const DAYS = 731;
const DAY_MS = 86_400_000;
const FIRST = Date.UTC(2020, 0, 1);
const WIDE = { symbol: "W0", exchange: "WIDE", start_date: "2020-01-01", end_date: "2021-12-31", initial_balance: 1e8 };
const YEAR = {
  symbol: "DEMO",
  exchange: "SAMPLE",
  start_date: "2024-01-01",
  end_date: "2025-01-01",
  initial_balance: 1e4,
};
/** The most members of a version. */
const MEMBERS = 5_000;
const UNIVERSE = "wide";
const PLOTS = 16;

/** Stores two years of days of each market. */
export async function archiveMarkets(db: Db): Promise<void> {
  for (const [n, symbol] of MARKETS.entries()) {
    const made = { symbol, exchange: "WIDE", assetClass: "crypto", provider: "import" } as const;
    const { id } = await ensureInstrument(db, made);
    const walk = makeWalk(DAYS, DAY_MS);
    const time = Float64Array.from({ length: DAYS }, (_, day) => FIRST + day * DAY_MS);
    const candles: Candles = { ...walk, time };
    await db.transaction((tx) => storeCandles(tx, { instrumentId: id, timeframe: "1d" }, candles));
    if (n % 250 === 0) await say(`stored ${symbol}`);
  }
}

/** @returns The id of an account with an equal part in each market. */
export function storePortfolio(user: TestClient): Promise<string> {
  const instruments = MARKETS.map((symbol) => ({ symbol, exchange: "WIDE" }));
  return complete(user, "backtest", "/api/backtests", {
    ...WIDE,
    strategy: "Equal Weight",
    parameters: { timeframe: "1d", instruments, every: "week" },
  });
}

/** @returns The id of a run over a year of minutes that plots as many values as it may. */
export function storePlots(user: TestClient): Promise<string> {
  const lines = Array.from({ length: PLOTS }, (_, n) => `plot("p${n}", candles.close[i]! * ${n + 1});`).join(" ");
  const source = `strategy((p) => ({ warmup: 1, decide(i, candles) { ${lines} } }));`;
  return complete(user, "backtest", "/api/backtests", {
    ...YEAR,
    strategy: "plots",
    parameters: { timeframe: "1m", runtime: { type: "script", source } },
  });
}

/** @returns The id of an optimization that keeps the days of 1,000 trials. */
export function storeReturns(user: TestClient): Promise<string> {
  return complete(user, "optimization", "/api/optimizations", {
    ...WIDE,
    strategy: "SMA Cross",
    parameters: { timeframe: "1d" },
    space: { fast: { min: 2, max: 26, step: 1 }, slow: { min: 30, max: 69, step: 1 } },
  });
}

/** @returns The id of a walk-forward optimization with an account out of sample, and splits. */
export function storeWalk(user: TestClient): Promise<string> {
  return complete(user, "optimization", "/api/optimizations", {
    ...WIDE,
    strategy: "SMA Cross",
    parameters: { timeframe: "1d" },
    space: { fast: { min: 2, max: 26, step: 1 }, slow: { min: 30, max: 69, step: 1 } },
    walk_forward: { train_days: 100, test_days: 20 },
    trials_max: 100_000,
  });
}

/** @returns The id of a Monte Carlo simulation of 10,000 paths. */
export async function storePaths(user: TestClient): Promise<string> {
  const backtest_id = await complete(user, "backtest", "/api/backtests", {
    ...YEAR,
    strategy: "SMA Cross",
    parameters: { timeframe: "1h" },
  });
  return await complete(user, "monte_carlo", "/api/monte-carlo", { backtest_id, method: "trades", runs: 10_000 });
}

/** The members of the largest version. */
export function membersOf() {
  return Array.from({ length: MEMBERS }, (_, n) => ({ symbol: `MEMBER-${n}`, exchange: "WIDE", from: "2020-01-01" }));
}

/** The same as CSV. */
export function membersCsv(): string {
  return `symbol,exchange,from\n${
    membersOf().map(({ symbol, exchange, from }) => `${symbol},${exchange},${from}\n`).join("")
  }`;
}

/** @returns The slug of a universe with as many members as may be. */
export async function storeUniverse(user: TestClient): Promise<string> {
  const made = await user.send("POST", "/api/universes", { universe: { slug: UNIVERSE, members: membersOf() } });
  if (made.status !== 201) throw new Error(`Cannot make the universe: ${made.status} ${made.text}`);
  return UNIVERSE;
}

async function complete(user: TestClient, noun: string, path: string, request: object): Promise<string> {
  const made = await user.send("POST", path, { [noun]: request });
  if (made.status !== 202) throw new Error(`Cannot submit: ${made.status} ${made.text}`);
  const id = String(made.at(`/${noun}/id`));
  const ended = await user.poll(`${path}/${id}`, `/${noun}/status`);
  if (ended.at(`/${noun}/status`) !== "completed") throw new Error(`Cannot complete: ${ended.text.slice(0, 2000)}`);
  await say(`${noun} ${id}: ${(ended.text.length / 1e6).toFixed(1)} MB`);
  return id;
}
