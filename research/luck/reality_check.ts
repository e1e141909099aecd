import { standardDeviation } from "../../engine/metrics/moments.ts";
import { quantile } from "../numbers/quantiles.ts";
import { amongSearches, bestOfSearches, countStarts } from "./guided_search.ts";
import { centre, type Measure, measureColumn, toColumn, walk } from "./measures.ts";
import { drawResamples, toStretches, wideningOf } from "./resamples.ts";

/** The share of cases in which trials without skill may pass. */
export const LEVEL = 0.05;
/** Trials whose prefix sums are held at once, so that they stay in the processor's cache. */
const TILE = 16;
/** Resamples of a tile between two looks at whether to stop. */
const STEP_RESAMPLES = 32;
/** Bars of the drawn distribution. */
const BARS = 40;
const SURVIVORS_SHOWN = 10;

export interface CheckedTrials {
  /** Daily returns, all of one length. */
  readonly returns: readonly Float64Array[];
  /** The place of the best trial in `returns`. */
  readonly best: number;
  readonly measure: Measure;
  readonly direction: "max" | "min";
  /** Taken off each day: the risk-free rate per day, or the benchmark's returns. */
  readonly less: number | Float64Array;
  readonly resamples: number;
  readonly seed: number;
  /** Places of the trials with which a guided search began, before it knew any result; absent: no trial was chosen by results. */
  readonly starts?: readonly number[];
  /** Mean length of the blocks; absent: blockDaysOf(). */
  readonly blockDays?: number;
}

/** The distribution of the best of trials without skill, as bars of equal width. */
export interface Distribution {
  readonly from: number;
  readonly to: number;
  readonly counts: readonly number[];
}

/** The best trial beside the best of the same trials without skill. Objectives are in their own unit. */
export interface RealityCheck {
  /** The best trial's objective, from its daily returns. */
  readonly best: number;
  /** The median of the best of the trials without skill. */
  readonly expected_best: number;
  /** White 2000: how probable a best trial like this one is without skill. */
  readonly p_value: number;
  /** Hansen 2005, consistent: the same, and poor trials do not count against the best. */
  readonly spa_p_value: number;
  readonly survivors: {
    readonly count: number;
    /** Places of the best ones in `returns`, best first. */
    readonly best: readonly number[];
  };
  readonly distribution: Distribution;
  /** The number of searches that a guided one counts as; 1 of trials that were not chosen by results. */
  readonly searches: number;
}

/**
 * Compares the best of many trials with the best of the same trials without skill.
 *
 * Each trial's column is centred, so that nothing but its mean is lost; days are resampled for all trials at once. A share of
 * n resamples is counted as (k + 1) / (n + 1), so that it is never 0.
 *
 * @param onStep Called every few milliseconds; an error that it throws ends the work.
 * @see H. White (2000), "A Reality Check for Data Snooping", Econometrica 68(5).
 * @see P. R. Hansen (2005), "A Test for Superior Predictive Ability", Journal of Business & Economic Statistics 23(4).
 * @see J. P. Romano, M. Wolf (2005), "Stepwise Multiple Testing as Formalized Data Snooping", Econometrica 73(4).
 */
export function checkReality(trials: CheckedTrials, onStep: () => void = () => {}): RealityCheck {
  const sign = trials.direction === "max" ? 1 : -1;
  const days = trials.returns[0]?.length ?? 0;
  const own = new Float64Array(trials.returns.length);
  const values = measureResamples(trials, own, sign, onStep);
  widen(values, trials, sign);
  const order = Array.from(own.keys()).sort((a, b) => own[b]! - own[a]! || a - b);
  const bests = bestOfEach(values, own.length).sort();
  const searches = countStarts(values, own.length, trials.starts ?? []);
  const best = own[trials.best]!;
  const unit = (value: number) => trials.measure.unit(sign * value) + 0;
  return {
    best: unit(best),
    expected_best: unit(quantile(bests, 0.5 ** (1 / searches))),
    p_value: amongSearches(shareAtLeast(bests, best), searches),
    spa_p_value: amongSearches(testSuperiority(own, values, { ...trials.measure, sign, days }), searches),
    survivors: stepDown(own, values, { order, searches }),
    distribution: drawBars(bestOfSearches(bests, searches).map(unit).sort()),
    searches,
  };
}

/**
 * The objectives of the centred trials in each resample, so that more is better: a row a resample.
 *
 * @param own Where to write the trials' own objectives.
 */
function measureResamples(
  { returns, measure, less, resamples, seed, blockDays }: CheckedTrials,
  own: Float64Array,
  sign: number,
  onStep: () => void,
): Float64Array {
  const trials = returns.length;
  const values = new Float64Array(resamples * trials);
  const drawn = drawResamples(resamples, returns[0]?.length ?? 0, seed, blockDays);
  const stretches = measure.kind === "path" ? drawn : drawn.map(toStretches);
  for (let from = 0; from < trials; from += TILE) {
    const tile = returns.slice(from, from + TILE).map((column, i) => {
      const prepared = toColumn(measure, column, less);
      own[from + i] = sign * measureColumn(measure, prepared);
      return centre(prepared);
    });
    const measured = measure.kind === "path" ? new Paths(tile, measure) : new PrefixSums(tile, measure);
    for (let resample = 0; resample < resamples; resample++) {
      if (resample % STEP_RESAMPLES === 0) onStep();
      measured.measure(stretches[resample]!, values, resample * trials + from, sign);
    }
  }
  return values;
}

/** Makes up for what resamples deviate too little. Without a value without skill, the mean takes no part in the objective. */
function widen(values: Float64Array, { returns, measure: { still }, blockDays }: CheckedTrials, sign: number): void {
  const days = returns[0]?.length ?? 0;
  if (still === null || days < 2) return;
  const [usual, factor] = [sign * still, wideningOf(days, blockDays)];
  for (let i = 0; i < values.length; i++) values[i] = usual + factor * (values[i]! - usual);
}

/** A few trials day by day. */
class Paths {
  readonly #columns: readonly Float64Array[];
  readonly #measure: Measure;
  readonly #walked = new Float64Array(2);

  constructor(columns: readonly Float64Array[], measure: Measure) {
    this.#columns = columns;
    this.#measure = measure;
  }

  /** Writes the objectives over days in their order. */
  measure(order: Int32Array, to: Float64Array, at: number, sign: number): void {
    for (const [k, column] of this.#columns.entries()) {
      walk(column, order, this.#walked);
      to[at + k] = sign * this.#measure.value(this.#walked[0]!, this.#walked[1]!, column.length);
    }
  }
}

/** Both sums of a few trials up to each day, side by side: a stretch of days is a difference. */
class PrefixSums {
  readonly #measure: Measure;
  readonly #width: number;
  readonly #days: number;
  readonly #first: Float64Array;
  readonly #second: Float64Array;
  readonly #totals = new Float64Array(2 * TILE);

  constructor(columns: readonly Float64Array[], measure: Measure) {
    this.#measure = measure;
    this.#width = columns.length;
    this.#days = columns[0]?.length ?? 0;
    this.#first = prefixSums(columns, measure.first);
    this.#second = prefixSums(columns, measure.second);
  }

  /** Writes the objectives over stretches of days. */
  measure(stretches: Int32Array, to: Float64Array, at: number, sign: number): void {
    const totals = this.#totals.fill(0);
    const [first, second, width] = [this.#first, this.#second, this.#width];
    for (let i = 0; i < stretches.length; i += 2) {
      const [start, end] = [stretches[i]! * width, stretches[i + 1]! * width];
      for (let k = 0; k < width; k++) {
        totals[k]! += first[end + k]! - first[start + k]!;
        totals[TILE + k]! += second[end + k]! - second[start + k]!;
      }
    }
    for (let k = 0; k < width; k++) to[at + k] = sign * this.#measure.value(totals[k]!, totals[TILE + k]!, this.#days);
  }
}

function prefixSums(columns: readonly Float64Array[], part: (x: number) => number): Float64Array {
  const width = columns.length;
  const sums = new Float64Array(((columns[0]?.length ?? 0) + 1) * width);
  for (const [k, column] of columns.entries()) {
    let sum = 0;
    for (let day = 0; day < column.length; day++) {
      sum += part(column[day]!);
      sums[(day + 1) * width + k] = sum;
    }
  }
  return sums;
}

function bestOfEach(values: Float64Array, trials: number): Float64Array {
  const bests = new Float64Array(values.length / trials).fill(-Infinity);
  for (let resample = 0, at = 0; resample < bests.length; resample++) {
    for (let i = 0; i < trials; i++, at++) if (values[at]! > bests[resample]!) bests[resample] = values[at]!;
  }
  return bests;
}

function shareAtLeast(values: Float64Array, bound: number): number {
  let count = 0;
  for (const value of values) if (value >= bound) count++;
  return (count + 1) / (values.length + 1);
}

/**
 * Hansen's test: each trial counts by its own deviation, and one that is poorer than `sqrt(2 ln ln days)` deviations keeps its
 * shortfall. Without a value without skill, the mean of the resamples stands for it.
 */
function testSuperiority(
  own: Float64Array,
  values: Float64Array,
  { still, sign, days }: Pick<Measure, "still"> & { readonly sign: number; readonly days: number },
): number {
  const trials = own.length;
  const count = values.length / trials;
  const poor = -Math.sqrt(2 * Math.log(Math.log(Math.max(3, days))));
  const bests = new Float64Array(count);
  const column = new Float64Array(count);
  let statistic = 0;
  for (let i = 0; i < trials; i++) {
    for (let resample = 0; resample < count; resample++) column[resample] = values[resample * trials + i]!;
    const deviation = standardDeviation(column);
    if (!(deviation > 0)) continue;
    const usual = still === null ? column.reduce((sum, each) => sum + each, 0) / count : sign * still;
    const score = (own[i]! - usual) / deviation;
    statistic = Math.max(statistic, score);
    const shift = score < poor ? score : 0;
    for (let resample = 0; resample < count; resample++) {
      bests[resample] = Math.max(bests[resample]!, (column[resample]! - usual) / deviation + shift);
    }
  }
  return shareAtLeast(bests, statistic);
}

/**
 * Romano and Wolf's step-down: a trial survives if it and all better ones stand out from the best of those that are left.
 *
 * @param order Places of the trials, the best first.
 */
function stepDown(
  own: Float64Array,
  values: Float64Array,
  { order, searches }: { readonly order: readonly number[]; readonly searches: number },
): RealityCheck["survivors"] {
  const trials = own.length;
  const count = values.length / trials;
  const reached = new Int32Array(trials);
  for (let resample = 0; resample < count; resample++) {
    let most = -Infinity;
    for (let rank = trials - 1; rank >= 0; rank--) {
      const place = order[rank]!;
      most = Math.max(most, values[resample * trials + place]!);
      if (most >= own[place]!) reached[rank]!++;
    }
  }
  const end = reached.findIndex((each) => amongSearches((each + 1) / (count + 1), searches) > LEVEL);
  const survivors = order.slice(0, end === -1 ? trials : end);
  return { count: survivors.length, best: survivors.slice(0, SURVIVORS_SHOWN) };
}

function drawBars(sorted: Float64Array): Distribution {
  const [from, to] = [sorted[0] ?? 0, sorted.at(-1) ?? 0];
  const counts = new Array<number>(BARS).fill(0);
  for (const value of sorted) {
    const bar = to > from ? Math.min(BARS - 1, Math.floor((value - from) / (to - from) * BARS)) : 0;
    counts[bar]!++;
  }
  return { from, to, counts };
}
