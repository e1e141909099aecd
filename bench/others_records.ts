/** The records that others_bench.ts reads, each as large as it may be, or nearly. */
import { eq } from "drizzle-orm";
import { z } from "zod";
import type { Db } from "../db/client.ts";
import { TrialTable } from "../db/codec/trial_table.ts";
import { ensureInstrument } from "../db/instruments.ts";
import { optimizations } from "../db/schema.ts";
import { insertTrialChunk } from "../db/trial_chunks.ts";
import { type Candles, viewCandles } from "../engine/candles.ts";
import { type Metrics, NUMERIC_METRIC_NAMES } from "../engine/metrics/definitions.ts";
import { storeCandles } from "../market/archive/store.ts";
import type { TestClient } from "../tests/support/client.ts";
import { addOptimization } from "../tests/support/optimizations.ts";
import { say } from "./measure.ts";
import { makeWalk } from "./random_walk.ts";

/** The markets of the widest account. */
export const MARKETS = Array.from({ length: 1_000 }, (_, n) => `W${n}`);
const DAYS = 731;
const DAY_MS = 86_400_000;
const WIDE_FROM = Date.UTC(2020, 0, 1);
const WIDE = { symbol: "W0", exchange: "WIDE", start_date: "2020-01-01", end_date: "2021-12-31", initial_balance: 1e8 };
const YEAR = {
  ...{ symbol: "DEMO", exchange: "SAMPLE", initial_balance: 1e4 },
  ...{ start_date: "2024-01-01", end_date: "2025-01-01" },
};
/** The most members of a version. */
const MEMBERS = 5_000;
const PLOTS = 16;
// An optimization of a usual size, by its number of trials.
const TRIALS = 480_000;
const CHUNK_TRIALS = 10_000;
// As addOptimization() has them.
const POINTS = 10_000;
const START = "2024-02-01T00:00:00.000Z";
const NONE = new Float64Array();
// To check each of them takes longer than all the rest.
const metricsSchema = z.custom<Metrics>();
const MINUTE_MS = 60_000;
// As many as RUN_CANDLES_MAX lets a run have.
const LONGEST_CANDLES = 5_000_000;
const PIECE_CANDLES = 500_000;
const LONGEST_FROM = Date.UTC(2012, 0, 1);
const LONGEST = {
  ...{ symbol: "LONG", exchange: "WIDE", initial_balance: 1e9, start_date: "2012-01-01" },
  end_date: new Date(LONGEST_FROM + LONGEST_CANDLES * MINUTE_MS).toISOString().slice(0, 10),
};

/** Stores two years of days of each market. */
export async function archiveMarkets(db: Db): Promise<void> {
  const days = makeWalk(DAYS, DAY_MS, WIDE_FROM);
  for (const symbol of MARKETS) await archive(db, symbol, "1d", days);
  await say(`stored ${MARKETS.length} markets`);
}

/** Stores the candles of the longest run. */
export async function archiveLongest(db: Db): Promise<void> {
  const minutes = makeWalk(LONGEST_CANDLES, MINUTE_MS, LONGEST_FROM);
  for (let first = 0; first < LONGEST_CANDLES; first += PIECE_CANDLES) {
    await archive(db, LONGEST.symbol, "1m", viewCandles(minutes, first, first + PIECE_CANDLES));
  }
}

async function archive(db: Db, symbol: string, timeframe: "1m" | "1d", candles: Candles): Promise<void> {
  const made = { symbol, exchange: "WIDE", assetClass: "crypto", provider: "import" } as const;
  const { id } = await ensureInstrument(db, made);
  await db.transaction((tx) => storeCandles(tx, { instrumentId: id, timeframe }, candles));
}

/** Stores trials as an optimization does, without running any. @returns Its id. */
export async function storeTrials(db: Db, ownerId: string): Promise<string> {
  const id = await addOptimization(db, ownerId);
  for (let first = 0; first < TRIALS; first += CHUNK_TRIALS) {
    const table = new TrialTable({ objective: "sharpe", direction: "max", returnsStride: TRIALS });
    for (let place = first; place < first + CHUNK_TRIALS; place++) {
      const metrics = Object.fromEntries(NUMERIC_METRIC_NAMES.map((name, i) => [name, Math.sin(place * (i + 1))]));
      const values = metricsSchema.parse({ ...metrics, start: START, end: START });
      table.add({ place, point: place % POINTS }, { metrics: values, undefinedMetrics: {}, dailyReturns: NONE });
    }
    const { trials, data, notes, returns } = table.encode();
    const chunk = { optimizationId: id, first, window: null, pointsCount: CHUNK_TRIALS, durationMs: 1 };
    await insertTrialChunk(db, { ...chunk, trials, data, notes, returns });
  }
  const done = { status: "completed", trials: TRIALS, points: TRIALS, pointsDone: TRIALS } as const;
  await db.update(optimizations).set(done).where(eq(optimizations.id, id));
  return id;
}

/** @returns The id of a run over the longest range that there may be, with a trade at every few candles. */
export function storeLongest(user: TestClient, slow: number): Promise<string> {
  const parameters = { timeframe: "1m", fast: 1, slow };
  return complete(user, "backtest", "/api/backtests", { ...LONGEST, strategy: "SMA Cross", parameters });
}

/** @returns The id of an account with an equal part in each market. */
export function storePortfolio(user: TestClient): Promise<string> {
  const instruments = MARKETS.map((symbol) => ({ symbol, exchange: "WIDE" }));
  const parameters = { timeframe: "1d", instruments, every: "week" };
  return complete(user, "backtest", "/api/backtests", { ...WIDE, strategy: "Equal Weight", parameters });
}

/** @returns The id of a run over a year of minutes that plots as many values as it may. */
export function storePlots(user: TestClient): Promise<string> {
  const lines = Array.from({ length: PLOTS }, (_, n) => `plot("p${n}", candles.close[i]! * ${n + 1});`).join(" ");
  const source = `strategy((p) => ({ warmup: 1, decide(i, candles) { ${lines} } }));`;
  const parameters = { timeframe: "1m", runtime: { type: "script", source } };
  return complete(user, "backtest", "/api/backtests", { ...YEAR, strategy: "plots", parameters });
}

/** @param more Absent: it keeps the days of its 1,000 trials. @returns The id of an optimization. */
export function storeOptimization(user: TestClient, more: object = {}): Promise<string> {
  const space = { fast: { min: 2, max: 26, step: 1 }, slow: { min: 30, max: 69, step: 1 } };
  const own = { ...WIDE, strategy: "SMA Cross", parameters: { timeframe: "1d" }, space };
  return complete(user, "optimization", "/api/optimizations", { ...own, ...more });
}

/** @returns The id of a Monte Carlo simulation of 10,000 paths. */
export async function storePaths(user: TestClient): Promise<string> {
  const run = { ...YEAR, strategy: "SMA Cross", parameters: { timeframe: "1h" } };
  const backtest_id = await complete(user, "backtest", "/api/backtests", run);
  return await complete(user, "monte_carlo", "/api/monte-carlo", { backtest_id, method: "trades", runs: 10_000 });
}

/** The members of the largest version. */
export function membersOf() {
  return Array.from({ length: MEMBERS }, (_, n) => ({ symbol: `MEMBER-${n}`, exchange: "WIDE", from: "2020-01-01" }));
}

/** The same as CSV. */
export function membersCsv(): string {
  const lines = membersOf().map(({ symbol, exchange, from }) => `${symbol},${exchange},${from}\n`);
  return `symbol,exchange,from\n${lines.join("")}`;
}

/** @returns The path of a universe with as many members as may be. */
export async function storeUniverse(user: TestClient): Promise<string> {
  const made = await user.send("POST", "/api/universes", { universe: { slug: "wide", members: membersOf() } });
  if (made.status !== 201) throw new Error(`Cannot make the universe: ${made.status} ${made.text}`);
  return "/api/universes/wide";
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
