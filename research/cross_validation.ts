import { median } from "./numbers/quantiles.ts";
import { BLOCKS, HALF_BLOCKS, PathTotals, SUBSETS, SumTotals, type Totals } from "./block_totals.ts";
import { type Measure, toColumn } from "./luck/measures.ts";

/** Blocks of fewer days have no usable deviation. */
const BLOCK_DAYS_MIN = 2;

/** Why nothing can be counted. */
interface NoFigure {
  readonly reason: string;
}

const ONE_TRIAL = "fewer than two trials";
const FEW_DAYS = `fewer than ${BLOCKS * BLOCK_DAYS_MIN} daily returns`;

/** One of the equal parts of the splits, numbered from 0: threads count them side by side. */
export interface SplitsPart {
  readonly part: number;
  readonly parts: number;
}

interface SplitTrials {
  /** A column of daily returns for each trial, all of one length. */
  readonly returns: readonly Float64Array[];
  readonly measure: Measure;
  readonly direction: "max" | "min";
  /** A day's risk-free rate. */
  readonly riskFree: number;
}

/** A value for each split of a part: a half that chooses, and then its complement. */
export interface Splits {
  /** The objective of the best trial of one half, there and in the other half. */
  readonly chosen: Float64Array;
  readonly judged: Float64Array;
  /** The chosen trial's rank in the other half, as a share of one more than there are trials; 1 is best. Equal trials share their ranks. */
  readonly ranks: Float64Array;
  /** Growth of its account in the other half, a logarithm. */
  readonly growths: Float64Array;
}

export interface SplitFigures {
  /** The share of splits in which the best trial of one half is at or below the median in the other. */
  readonly overfitting_probability: number;
  /** The share in which it loses money there. */
  readonly loss_probability: number;
  /** Slope of a line through the objectives of the splits: in the other half over the half that chose. */
  readonly degradation_slope: number | NoFigure;
  readonly median_rank: number;
}

const NO_SLOPE = { reason: "the objective of the best trial is the same in all splits" };

/** The figures of the splits of all parts, in their order. */
export function measureSplits(parts: readonly (Splits | NoFigure)[]): SplitFigures | NoFigure {
  const splits = joinSplits(parts);
  if ("reason" in splits) return splits;
  const { chosen, judged, ranks, growths } = splits;
  const count = ranks.length;
  const [x, y] = [meanOf(chosen), meanOf(judged)];
  let [products, squares] = [0, 0];
  for (let i = 0; i < count; i++) {
    products += (chosen[i]! - x) * (judged[i]! - y);
    squares += (chosen[i]! - x) ** 2;
  }
  return {
    overfitting_probability: ranks.filter((rank) => rank <= 1 / 2).length / count,
    loss_probability: growths.filter((growth) => growth < 0).length / count,
    degradation_slope: squares > 0 ? products / squares : NO_SLOPE,
    median_rank: median(ranks),
  };
}

/** The splits of all parts in the order of one part alone, so that their sums do not depend on the parts. */
export function joinSplits(parts: readonly (Splits | NoFigure)[]): Splits | NoFigure {
  const done: Splits[] = [];
  for (const part of parts) {
    if ("reason" in part) return part;
    done.push(part);
  }
  const join = (pick: (splits: Splits) => Float64Array) => {
    const all = new Float64Array(done.reduce((sum, each) => sum + pick(each).length, 0));
    for (const [part, each] of done.entries()) {
      const values = pick(each);
      // A half and its complement stand side by side.
      for (let i = 0; i < values.length; i++) all[2 * (done.length * (i >> 1) + part) + (i & 1)] = values[i]!;
    }
    return all;
  };
  return {
    chosen: join(({ chosen }) => chosen),
    judged: join(({ judged }) => judged),
    ranks: join(({ ranks }) => ranks),
    growths: join(({ growths }) => growths),
  };
}

function meanOf(values: Float64Array): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

/**
 * Looks up the best trial of each half of the blocks in the other half. Blocks are equal but for a day.
 *
 * @param onStep Called thousands of times; an error that it throws ends the work.
 * @see D. H. Bailey, J. M. Borwein, M. López de Prado, Q. J. Zhu (2017), "The Probability of Backtest Overfitting",
 *   Journal of Computational Finance 20(4): combinatorially symmetric cross-validation.
 */
export function splitTrials(
  input: SplitTrials,
  { part, parts }: SplitsPart,
  onStep: () => void = () => {},
): Splits | NoFigure {
  const trials = input.returns.length;
  const days = input.returns[0]?.length ?? 0;
  if (trials < 2) return { reason: ONE_TRIAL };
  if (days < BLOCKS * BLOCK_DAYS_MIN) return { reason: FEW_DAYS };
  const scores = new HalfScores(input, days);
  const found = { chosen: [] as number[], judged: [] as number[], ranks: [] as number[], growths: [] as number[] };
  const one = new Float64Array(trials);
  const other = new Float64Array(trials);
  const sign = input.direction === "max" ? 1 : -1;
  const unit = (score: number) => input.measure.unit(sign * score) + 0;
  const look = (choosing: Float64Array, judging: Float64Array, judgingBlocks: number) => {
    const best = placeOfMost(choosing);
    found.chosen.push(unit(choosing[best]!));
    found.judged.push(unit(judging[best]!));
    found.ranks.push(rankOf(judging, best));
    found.growths.push(scores.growthOf(best, judgingBlocks));
  };
  const all = 2 ** BLOCKS - 1;
  let halves = 0;
  // A half and its complement are two splits with the roles exchanged.
  for (let half = 0; half < 2 ** (BLOCKS - 1); half++) {
    if (countBits(half) !== HALF_BLOCKS || halves++ % parts !== part) continue;
    onStep();
    scores.write(half, one);
    scores.write(all - half, other);
    look(one, other, all - half);
    look(other, one, half);
  }
  const toColumns = (values: readonly number[]) => Float64Array.from(values);
  return {
    chosen: toColumns(found.chosen),
    judged: toColumns(found.judged),
    ranks: toColumns(found.ranks),
    growths: toColumns(found.growths),
  };
}

/** The totals of each subset of half of the blocks, all trials of a subset side by side. */
class HalfScores {
  readonly #measure: Measure;
  readonly #sign: number;
  readonly #trials: number;
  readonly #lengths: Float64Array;
  readonly #halves: readonly [Totals, Totals];
  /** A row a block. */
  readonly #growths: Float64Array;

  constructor({ returns, measure, direction, riskFree }: SplitTrials, days: number) {
    const starts = Array.from({ length: BLOCKS + 1 }, (_, i) => Math.floor(i * days / BLOCKS));
    const trials = returns.length;
    this.#measure = measure;
    this.#sign = direction === "max" ? 1 : -1;
    this.#trials = trials;
    this.#lengths = Float64Array.from({ length: BLOCKS }, (_, i) => starts[i + 1]! - starts[i]!);
    this.#growths = new Float64Array(BLOCKS * trials);
    const makeTotals = () => measure.kind === "path" ? new PathTotals(trials) : new SumTotals(trials, measure);
    this.#halves = [makeTotals(), makeTotals()];
    for (const [i, own] of returns.entries()) {
      const column = toColumn(measure, own, riskFree);
      for (let block = 0; block < BLOCKS; block++) {
        const [start, end] = [starts[block]!, starts[block + 1]!];
        const at = (1 << (block % HALF_BLOCKS)) * trials + i;
        this.#halves[block < HALF_BLOCKS ? 0 : 1].addBlock(column, start, end, at);
        for (let day = start; day < end; day++) {
          this.#growths[block * trials + i]! += Math.log1p(Math.max(-1, own[day]!));
        }
      }
    }
    for (const totals of this.#halves) {
      for (let subset = 1; subset < SUBSETS; subset++) {
        // The earliest block first: the order matters to paths.
        const first = subset & -subset;
        if (first !== subset) totals.join(first * trials, (subset - first) * trials, subset * trials, trials);
      }
    }
  }

  /** Writes each trial's objective over some of the blocks, so that more is better. */
  write(blocks: number, to: Float64Array): void {
    const [low, high] = this.#halves;
    const [lowAt, highAt] = [(blocks & (SUBSETS - 1)) * this.#trials, (blocks >> HALF_BLOCKS) * this.#trials];
    let days = 0;
    for (let i = 0; i < BLOCKS; i++) if ((blocks >> i) & 1) days += this.#lengths[i]!;
    for (let i = 0; i < to.length; i++) {
      const first = low.first[lowAt + i]! + high.first[highAt + i]!;
      const second = low.secondOf(lowAt + i, high, highAt + i);
      to[i] = this.#sign * this.#measure.value(first, second, days);
    }
  }

  growthOf(trial: number, blocks: number): number {
    let growth = 0;
    for (let i = 0; i < BLOCKS; i++) if ((blocks >> i) & 1) growth += this.#growths[i * this.#trials + trial]!;
    return growth;
  }
}

/** The first trial with the largest score. */
function placeOfMost(scores: Float64Array): number {
  let best = 0;
  for (let i = 1; i < scores.length; i++) if (scores[i]! > scores[best]!) best = i;
  return best;
}

function rankOf(scores: Float64Array, trial: number): number {
  const own = scores[trial]!;
  // Twice the rank less one: those below count twice, equal ones once. Sums of comparisons need no branches.
  let rank = 0;
  for (let i = 0; i < scores.length; i++) rank += Number(scores[i]! < own) + Number(scores[i]! <= own);
  return (rank + 1) / 2 / (scores.length + 1);
}

function countBits(number: number): number {
  let count = 0;
  for (let left = number; left > 0; left &= left - 1) count++;
  return count;
}
