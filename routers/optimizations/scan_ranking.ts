/** The points and the markets of a scan, the best first. */
import { z } from "zod";
import type { Db } from "../../db/client.ts";
import { DIRECTIONS } from "../../db/schema.ts";
import type { Optimization } from "../../db/optimizations.ts";
import { readTrialMetric } from "../../db/trial_chunks.ts";
import { countOwnPoints, marketsOf, parametersAt } from "../../research/market_axis.ts";
import { AppError } from "../common/errors.ts";
import { integerSchema } from "../common/paging.ts";
import { metricNameSchema } from "./optimization_request.ts";

const POINTS_MAX = 1_000;
const POINTS_DEFAULT = 100;

const parametersSchema = z.record(z.string(), z.union([z.number(), z.string(), z.boolean()]));
const figureSchema = z.number().nullable();
const trialShape = {
  number: z.int().describe("Of the trial."),
  value: figureSchema.describe("The metric; null where it is undefined."),
};

export const rankingShape = {
  metric: metricNameSchema.optional().describe("Default: the objective."),
  points: integerSchema.pipe(z.int().min(1).max(POINTS_MAX)).default(POINTS_DEFAULT),
};

export const rankingSchema = z.object({
  metric: metricNameSchema.describe("The metric by which they are ranked."),
  direction: z.enum(DIRECTIONS).describe("Whether more or less of it is better."),
  points_count: z.int().describe("Points with a trial that did not fail; the best of them are listed."),
  points: z.array(
    z.object({
      parameters: parametersSchema.describe("Of the point."),
      median: figureSchema.describe("Over the markets; a market where the metric is undefined counts as the worst."),
      worst: figureSchema.describe("In the market where it is worst."),
      best: figureSchema.describe("In the market where it is best."),
      earned: z.number().min(0).max(1).describe("Share of the markets in which it made a profit."),
      markets: z.int().describe("Markets in which its trial is done and did not fail."),
    }).meta({ id: "RankedPoint" }),
  ).describe("By the median, the best first."),
  markets: z.array(
    z.object({
      market: z.string().describe("As in SPY@ARCA."),
      at_best_point: z.object(trialShape).nullable().describe("The trial of the point that is first; null until then."),
      own_best: z.object({ ...trialShape, parameters: parametersSchema.describe("Of the trial.") }).nullable()
        .describe("The best trial of this market; null where none has the metric."),
      trials: z.int().describe("Trials that are done."),
      failed: z.int().describe("Those of them that failed."),
    }).meta({ id: "RankedMarket" }),
  ).describe("By the value at the point that is first, the best first."),
}).meta({ id: "ScanRanking" });

type Ranking = z.infer<typeof rankingSchema>;
type RankingRequest = z.infer<z.ZodObject<typeof rankingShape>>;

/**
 * Ranks the points of a scan by the median of a metric over the markets, and its markets by the best of those points.
 *
 * @throws AppError VALIDATION_FAILED for an optimization over one market.
 */
export async function rankScan(
  db: Db,
  record: Optimization,
  { metric: asked, points: shown }: RankingRequest,
): Promise<Ranking> {
  const markets = marketsOf(record.space);
  if (markets === null) {
    const message = "names an optimization over one market: list its trials by the metric";
    throw new AppError("VALIDATION_FAILED", `Cannot rank the markets: /id ${message}`, {
      issues: [{ path: "/id", message }],
    });
  }
  const metric = asked ?? metricNameSchema.parse(record.objective);
  const trials = await readTrials(db, record, metric, record.points / markets.count);
  const ranked = trials.rankPoints();
  const [first] = ranked;
  return {
    metric,
    direction: record.direction,
    points_count: ranked.length,
    points: ranked.slice(0, shown).map(({ at: _at, ...point }) => point),
    markets: trials.rankMarkets(markets.values.map(String), first?.at ?? null),
  };
}

/** Trials by their places: all points of one market come together. */
class ScanTrials {
  readonly values: Float64Array;
  /** By place: not done, done, or failed. */
  readonly states: Uint8Array;
  readonly hasEarned: Uint8Array;
  /** The point of each of a market's places. */
  readonly #points: Float64Array;
  readonly #record: Optimization;
  readonly #perMarket: number;
  readonly #sign: number;

  constructor(record: Optimization, perMarket: number) {
    this.#record = record;
    this.#perMarket = perMarket;
    this.#sign = record.direction === "max" ? 1 : -1;
    this.values = new Float64Array(record.points).fill(NaN);
    this.states = new Uint8Array(record.points);
    this.hasEarned = new Uint8Array(record.points);
    this.#points = new Float64Array(perMarket);
  }

  add(place: number, point: number, value: number, hasFailed: boolean): void {
    this.values[place] = value;
    this.states[place] = hasFailed ? FAILED : DONE;
    this.#points[place % this.#perMarket] = point % countOwnPoints(this.#record.space);
  }

  /** Points with a trial that did not fail. `at`: the place of the point in each market. */
  rankPoints() {
    const markets = this.values.length / this.#perMarket;
    const ranked = Array.from({ length: this.#perMarket }, (_, at) => this.#describePoint(at, markets))
      .filter((point) => point.markets > 0);
    return ranked.sort((a, b) => this.#compare(a.median, b.median) || a.at - b.at);
  }

  #describePoint(at: number, markets: number) {
    const places = Array.from({ length: markets }, (_, i) => i * this.#perMarket + at)
      .filter((place) => this.states[place] === DONE);
    const values = places.map((place) => orNull(this.values[place]!)).sort((a, b) => this.#compare(a, b));
    const [low, high] = [values[(places.length - 1) >> 1] ?? null, values[places.length >> 1] ?? null];
    const known = values.filter((value) => value !== null);
    return {
      at,
      parameters: this.#parametersOf(at),
      median: low === null || high === null ? null : (low + high) / 2,
      worst: known.at(-1) ?? null,
      best: known[0] ?? null,
      earned: places.length === 0 ? 0 : places.filter((place) => this.hasEarned[place] === 1).length / places.length,
      markets: places.length,
    };
  }

  /** @param best The place of the best point in each market; null where there is none. */
  rankMarkets(ids: readonly string[], best: number | null): Ranking["markets"] {
    const markets = ids.map((market, i) => this.#describeMarket(market, i * this.#perMarket, best));
    return markets.sort((a, b) => this.#compare(a.at_best_point?.value ?? null, b.at_best_point?.value ?? null));
  }

  #describeMarket(market: string, from: number, best: number | null): Ranking["markets"][number] {
    let [own, trials, failed] = [-1, 0, 0];
    for (let at = 0; at < this.#perMarket; at++) {
      const state = this.states[from + at];
      if (state === 0) continue;
      trials++;
      if (state === FAILED) failed++;
      const value = orNull(this.values[from + at]!);
      if (value !== null && (own < 0 || this.#compare(value, this.values[from + own]!) < 0)) own = at;
    }
    const trialAt = (at: number) => ({ number: from + at + 1, value: orNull(this.values[from + at]!) });
    return {
      market,
      at_best_point: best === null || this.states[from + best] !== DONE ? null : trialAt(best),
      own_best: own < 0 ? null : { ...trialAt(own), parameters: this.#parametersOf(own) },
      trials,
      failed,
    };
  }

  #parametersOf(at: number) {
    return { ...parametersAt(this.#record.space, this.#points[at]!) };
  }

  /** The better value first, and none last. */
  #compare(a: number | null, b: number | null): number {
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    return this.#sign * (b - a);
  }
}

const DONE = 1;
const FAILED = 2;

const orNull = (value: number) => Number.isNaN(value) ? null : value;

async function readTrials(db: Db, record: Optimization, metric: string, perMarket: number): Promise<ScanTrials> {
  const trials = new ScanTrials(record, perMarket);
  for await (const { count, columns } of readTrialMetric(db, record.id, metric)) {
    const { place, point, error } = columns;
    for (let row = 0; row < count; row++) {
      trials.add(place![row]!, point![row]!, columns[metric]?.[row] ?? NaN, error![row]! >= 0);
    }
  }
  for await (const { count, columns } of readTrialMetric(db, record.id, "total_return")) {
    const returns = columns["total_return"];
    for (let row = 0; row < count; row++) trials.hasEarned[columns.place![row]!] = (returns?.[row] ?? 0) > 0 ? 1 : 0;
  }
  return trials;
}
