/** Markets of which the truth is known, and what is concluded about the best of many trials on them. */
import type { Candles } from "../../../engine/candles.ts";
import { BufferPool } from "../../../engine/buffer_pool.ts";
import { ColumnCache } from "../../../engine/column_cache.ts";
import { resolveExecution } from "../../../engine/execution.ts";
import { measureTrial } from "../../../engine/run.ts";
import { concludeLuck, type Luck } from "../../../research/luck/conclusion.ts";
import { measureOf } from "../../../research/luck/measures.ts";
import { checkReality } from "../../../research/luck/reality_check.ts";
import { chooseConsidered, resamplesOf, trialsConsidered } from "../../../research/luck/considered_trials.ts";
import { Random } from "../../../research/numbers/random_numbers.ts";
import { countPoints, pointAt, type Space } from "../../../research/space.ts";
import { FIRST_POINTS, suggest } from "../../../research/tpe.ts";
import { findBuiltin } from "../../../strategies/builtin/catalogue.ts";

const HOUR_MS = 3_600_000;
const CANDLE_HOURS = 4;
const PER_DAY = 24 / CANDLE_HOURS;
const YEAR = 365;
/** Three years. */
const DAYS = 3 * YEAR;
const VOLATILITY = 0.01;
const POOL_BYTES_MAX = 1 << 26;
/** Resamples of two sets have no seed in common: else all sets of a run would share the chance in theirs. */
const SEEDS_APART = 1_000;
const EXECUTION = { ...resolveExecution({ commission: 0, slippage: 0 }, "crypto"), periodsPerYear: YEAR };

/** A day's trend, in deviations of a day; it turns after this number of days, in the mean. */
export interface Trend {
  readonly strength: number;
  readonly turnDays: number;
}

/**
 * Candles of a market whose volatility comes in clusters.
 *
 * @param trend Null: a walk without direction.
 */
export function inventMarket(seed: number, trend: Trend | null, days = DAYS): Candles {
  const random = new Random(seed);
  const count = days * PER_DAY;
  const columns = () => new Float64Array(count);
  const candles = {
    time: columns(),
    open: columns(),
    high: columns(),
    low: columns(),
    close: columns(),
    volume: columns(),
  };
  let [price, heat, direction] = [100, 0, 1];
  for (let i = 0; i < count; i++) {
    heat = 0.98 * heat + 0.1 * random.normal();
    if (trend !== null && random.next() < 1 / (trend.turnDays * PER_DAY)) direction = -direction;
    const drift = trend === null ? 0 : direction * trend.strength / PER_DAY;
    const open = price;
    price *= Math.exp(VOLATILITY * Math.exp(heat) * (random.normal() / Math.sqrt(PER_DAY) + drift));
    candles.time[i] = i * CANDLE_HOURS * HOUR_MS;
    candles.open[i] = open;
    candles.high[i] = Math.max(open, price);
    candles.low[i] = Math.min(open, price);
    candles.close[i] = price;
    candles.volume[i] = 1;
  }
  return candles;
}

/** The trials of an optimization. */
export interface Search {
  readonly slug: string;
  readonly fixed: Readonly<Record<string, unknown>>;
  readonly axes: Readonly<Record<string, { readonly first: number; readonly step: number; readonly count: number }>>;
  /** How many a guided search tries; absent: all. */
  readonly guided?: number;
}

const CROSS = { direction: "both", takeProfitLevel: 0, stopLossLevel: 0 };
const RSI = { exit: 50, direction: "both", takeProfitLevel: 0, stopLossLevel: 0 };

export const SEARCHES = {
  "grid": {
    slug: "sma-cross",
    fixed: CROSS,
    axes: { fast: { first: 4, step: 4, count: 4 }, slow: { first: 24, step: 12, count: 7 } },
  },
  "large grid": {
    slug: "sma-cross",
    fixed: CROSS,
    axes: { fast: { first: 2, step: 1, count: 20 }, slow: { first: 22, step: 2, count: 75 } },
  },
  "TPE": {
    slug: "sma-cross",
    fixed: CROSS,
    axes: { fast: { first: 2, step: 1, count: 40 }, slow: { first: 42, step: 1, count: 150 } },
    guided: 150,
  },
  "TPE over four axes": {
    // Without stops: candles that go straight from open to close fill them better than a walk would.
    slug: "rsi-reversion",
    fixed: { ...CROSS },
    axes: {
      period: { first: 3, step: 1, count: 28 },
      oversold: { first: 15, step: 1, count: 24 },
      overbought: { first: 62, step: 1, count: 24 },
      exit: { first: 40, step: 1, count: 21 },
    },
    guided: 150,
  },
  "RSI rules": {
    slug: "rsi-reversion",
    fixed: RSI,
    axes: {
      period: { first: 4, step: 3, count: 6 },
      oversold: { first: 15, step: 5, count: 5 },
      overbought: { first: 65, step: 5, count: 5 },
    },
  },
} as const satisfies Readonly<Record<string, Search>>;

interface Tried {
  readonly returns: Float64Array;
  readonly objective: number;
  readonly trades: number;
}

/** Runs all trials of a search on a market, as an optimization does. */
export function search({ slug, fixed, axes, guided }: Search, candles: Candles, seed: number): Tried[] {
  const builtin = findBuiltin(slug);
  if (builtin === undefined) throw new RangeError(`Cannot search with ${slug}: there is no such strategy`);
  const space: Space = { axes: Object.entries(axes).map(([name, axis]) => ({ name, ...axis, decimals: 0 })) };
  const pool = new BufferPool(POOL_BYTES_MAX);
  pool.columns = new ColumnCache(POOL_BYTES_MAX);
  const settings = {
    candles,
    firstIndex: 0,
    initialBalance: 10_000,
    execution: EXECUTION,
    timeframeMs: CANDLE_HOURS * HOUR_MS,
    assetClass: "crypto" as const,
    control: null,
    pool,
  };
  const run = (point: number): Tried => {
    const strategy = builtin.create({ ...fixed, ...pointAt(space, point) }, EXECUTION);
    const { metrics, dailyReturns } = measureTrial({ ...settings, strategy });
    const tried = { returns: dailyReturns.slice(), objective: metrics.sharpe ?? NaN, trades: metrics.trades ?? 0 };
    pool.reclaim();
    return tried;
  };
  if (guided === undefined) return Array.from({ length: countPoints(space) }, (_, point) => run(point));
  return searchGuided(space, guided, seed, run);
}

function searchGuided(space: Space, count: number, seed: number, run: (point: number) => Tried): Tried[] {
  const observations: { index: number; objective: number | null }[] = [];
  const tried: Tried[] = [];
  while (tried.length < count) {
    for (
      const index of [...suggest(space, observations.slice(), 20, { seed: seed + tried.length, accepts: () => true })]
    ) {
      if (index === null || tried.length === count) continue;
      const trial = run(index);
      tried.push(trial);
      observations.push({ index, objective: Number.isNaN(trial.objective) ? null : trial.objective });
    }
  }
  return tried;
}

/** The service's conclusion about the best of such trials. @param isGuided All but the first were chosen by results. */
export function conclude(all: readonly Tried[], seed: number, isGuided = false): Luck {
  const measure = measureOf("sharpe", YEAR);
  const days = Math.max(...all.map(({ returns }) => returns.length));
  const chosen = chooseConsidered(all.map(({ objective }) => objective), "max", trialsConsidered(measure, days));
  const returns = chosen.map((i) => {
    const padded = new Float64Array(days);
    padded.set(all[i]!.returns);
    return padded;
  });
  const scores = chosen.map((i) => Number.isNaN(all[i]!.objective) ? -Infinity : all[i]!.objective);
  const best = scores.indexOf(Math.max(...scores));
  const resamples = resamplesOf(measure);
  const starts = chosen.flatMap((number, i) => isGuided && number < FIRST_POINTS ? [i] : []);
  const given = { returns, best, starts, measure, direction: "max", less: 0, resamples } as const;
  const noGain = checkReality({ ...given, seed: SEEDS_APART * seed });
  const numbers = chosen.map((i) => i + 1);
  const trades = all[chosen[best]!]!.trades;
  return concludeLuck({ measure, trials: all.length, numbers, days, trades, paths: null }, { noGain, benchmark: null });
}

/**
 * A lone peak: independent variations that share a part of each day, of which one has an edge.
 *
 * @param sharpe Of that one, per year.
 */
export function inventPeak(seed: number, sharpe: number, trials = 100, days = DAYS): Tried[] {
  const random = new Random(seed);
  const shared = Float64Array.from({ length: days }, () => random.normal());
  return Array.from({ length: trials }, (_, trial) => {
    const edge = trial === Math.floor(trials / 3) ? sharpe / Math.sqrt(YEAR) : 0;
    const returns = shared.map((each) =>
      VOLATILITY * (Math.sqrt(0.3) * each + Math.sqrt(0.7) * random.normal() + edge)
    );
    return { returns, objective: measureSharpe(returns), trades: days };
  });
}

function measureSharpe(returns: Float64Array): number {
  const mean = returns.reduce((sum, each) => sum + each, 0) / returns.length;
  const squares = returns.reduce((sum, each) => sum + (each - mean) ** 2, 0);
  return mean / Math.sqrt(squares / (returns.length - 1)) * Math.sqrt(YEAR);
}

/** A kind of market and search of which the truth is known. */
export interface Case {
  readonly name: string;
  readonly conclude: (seed: number) => Luck;
}

const onMarket = (name: keyof typeof SEARCHES, trend: Trend | null) => (seed: number) => {
  const chosen: Search = SEARCHES[name];
  return conclude(search(chosen, inventMarket(seed, trend), seed), seed, chosen.guided !== undefined);
};

/** Nothing to find. */
export const NOISE: readonly Case[] = [
  { name: "grid, 28 trials", conclude: onMarket("grid", null) },
  { name: "large grid, 1,500 trials", conclude: onMarket("large grid", null) },
  { name: "TPE, 150 trials", conclude: onMarket("TPE", null) },
  { name: "TPE over four axes, 150 trials", conclude: onMarket("TPE over four axes", null) },
  { name: "RSI rules, 150 trials", conclude: onMarket("RSI rules", null) },
];

/** The strength of a trend in which the best of the grid has a Sharpe ratio of about this, measured over 160 years. */
const STRENGTHS = [[1, 0.155], [2, 0.262], [3, 0.335]] as const;

/** An edge, by the Sharpe ratio of the best trial. */
export const EDGES: readonly Case[] = STRENGTHS.flatMap(([sharpe, strength]) => [
  { name: `plateau of 28 trials, Sharpe ${sharpe}`, conclude: onMarket("grid", { strength, turnDays: 40 }) },
  { name: `TPE, 150 trials, Sharpe ${sharpe}`, conclude: onMarket("TPE", { strength, turnDays: 40 }) },
  {
    name: `lone peak among 100, Sharpe ${sharpe}`,
    conclude: (seed: number) => conclude(inventPeak(seed, sharpe), seed),
  },
]);

/** The share of a number of sets, numbered from `from`, that are called beyond luck. */
export function measureRate({ conclude }: Case, sets: number, from = 0): number {
  let beyond = 0;
  for (let seed = from; seed < from + sets; seed++) if (conclude(seed).verdict === "beyond_luck") beyond++;
  return beyond / sets;
}
