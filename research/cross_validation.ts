import { type Measured, RETURN_NOISE } from "../engine/metrics/measured.ts";

/** The days are cut into so many blocks; half of them choose, the other half judge: 12,870 ways. */
export const BLOCKS = 16;
const HALF_BLOCKS = BLOCKS / 2;
/** The subsets of half of the blocks. */
const SUBSETS = 2 ** HALF_BLOCKS;
/** Blocks of fewer days have no usable deviation. */
const BLOCK_DAYS_MIN = 2;

/** Why nothing can be counted. */
interface NoFigure {
  readonly reason: string;
}

const ONE_TRIAL = "fewer than two trials";
const FEW_DAYS = `fewer than ${BLOCKS * BLOCK_DAYS_MIN} daily returns`;

/** One of so many equal parts of the splits, numbered from 0: threads count them side by side. */
export interface SplitsPart {
  readonly part: number;
  readonly parts: number;
}

/** Splits, and those in which the best trial of one half fails in the other. */
export interface CountedSplits {
  readonly failures: number;
  readonly splits: number;
}

/** The probability of overfitting from all parts of the splits. */
export function overfittingProbability(counted: readonly (CountedSplits | NoFigure)[]): Measured {
  let [failures, splits] = [0, 0];
  for (const each of counted) {
    if ("reason" in each) return each;
    failures += each.failures;
    splits += each.splits;
  }
  return failures / splits;
}

/**
 * Counts for the probability of backtest overfitting: the share of the splits in which the trial with the best Sharpe ratio in one half
 * of the blocks is at or below the median in the other half. Blocks are equal but for a day; a trial without movement
 * has a ratio of 0; equal trials share their ranks.
 *
 * @param returns A column of daily returns for each trial, all of one length.
 * @param riskFree A day's, which is taken off each of them.
 * @param onStep Called thousands of times; an error that it throws ends the work.
 * @see D. H. Bailey, J. M. Borwein, M. López de Prado, Q. J. Zhu (2017), "The Probability of Backtest Overfitting",
 *   Journal of Computational Finance 20(4): combinatorially symmetric cross-validation.
 */
export function countSplits(
  returns: readonly Float64Array[],
  riskFree: number,
  { part, parts }: SplitsPart,
  onStep: () => void = () => {},
): CountedSplits | NoFigure {
  const trials = returns.length;
  const days = returns[0]?.length ?? 0;
  if (trials < 2) return { reason: ONE_TRIAL };
  if (days < BLOCKS * BLOCK_DAYS_MIN) return { reason: FEW_DAYS };
  const starts = Array.from({ length: BLOCKS + 1 }, (_, i) => Math.floor(i * days / BLOCKS));
  const lengths = Float64Array.from({ length: BLOCKS }, (_, i) => starts[i + 1]! - starts[i]!);
  const low = new HalfSums({ returns, riskFree }, starts, 0);
  const high = new HalfSums({ returns, riskFree }, starts, HALF_BLOCKS);
  const chosen = new Float64Array(trials);
  const judged = new Float64Array(trials);
  const all = 2 ** BLOCKS - 1;
  let halves = 0;
  let splits = 0;
  let failures = 0;
  // A half and its complement are two splits with the roles exchanged.
  for (let half = 0; half < 2 ** (BLOCKS - 1); half++) {
    if (countBits(half) !== HALF_BLOCKS || halves++ % parts !== part) continue;
    onStep();
    const bestChosen = writeScores(low, high, half, countDays(half, lengths), chosen);
    const bestJudged = writeScores(low, high, all - half, countDays(all - half, lengths), judged);
    if (isAtMostMedian(judged, bestChosen)) failures++;
    if (isAtMostMedian(chosen, bestJudged)) failures++;
    splits += 2;
  }
  return { failures, splits };
}

interface Excess {
  readonly returns: readonly Float64Array[];
  readonly riskFree: number;
}

/** Sums of returns and of their squares over each subset of half of the blocks, all trials of a subset side by side. */
class HalfSums {
  readonly sums: Float64Array;
  readonly squares: Float64Array;

  constructor(excess: Excess, starts: readonly number[], firstBlock: number) {
    const trials = excess.returns.length;
    this.sums = new Float64Array(SUBSETS * trials);
    this.squares = new Float64Array(SUBSETS * trials);
    for (let block = 0; block < HALF_BLOCKS; block++) {
      const [start, end] = [starts[firstBlock + block]!, starts[firstBlock + block + 1]!];
      this.#sumBlock(excess, start, end, (1 << block) * trials);
    }
    for (let subset = 1; subset < SUBSETS; subset++) {
      const one = subset & -subset;
      if (one === subset) continue;
      for (let i = 0; i < trials; i++) {
        const [to, a, b] = [subset * trials + i, one * trials + i, (subset - one) * trials + i];
        this.sums[to] = this.sums[a]! + this.sums[b]!;
        this.squares[to] = this.squares[a]! + this.squares[b]!;
      }
    }
  }

  #sumBlock({ returns, riskFree }: Excess, start: number, end: number, to: number): void {
    for (const [i, column] of returns.entries()) {
      let [sum, squares] = [0, 0];
      for (let day = start; day < end; day++) {
        const value = column[day]! - riskFree;
        sum += value;
        squares += value * value;
      }
      this.sums[to + i] = sum;
      this.squares[to + i] = squares;
    }
  }
}

/**
 * Scores each trial over some of the blocks: the scores are in the order of the Sharpe ratios, and equal where those are.
 *
 * For n days with the sum S and the squares' sum Q, the ratio's square is (n - 1) / n x S² / (nQ - S²), which rises with S² / Q.
 *
 * @returns The first trial with the largest score.
 */
function writeScores(low: HalfSums, high: HalfSums, blocks: number, days: number, to: Float64Array): number {
  const trials = to.length;
  const lowAt = (blocks & (SUBSETS - 1)) * trials;
  const highAt = (blocks >> HALF_BLOCKS) * trials;
  const { sums: lowSums, squares: lowSquares } = low;
  const { sums: highSums, squares: highSquares } = high;
  // Of n (n - 1) times the variance. The subtraction leaves rounding of the squares' size where no return differs.
  const spreadMin = days * (days - 1) * RETURN_NOISE * RETURN_NOISE;
  const rounding = days * (days - 1) * Number.EPSILON;
  let best = 0;
  let most = -Infinity;
  for (let i = 0; i < trials; i++) {
    const sum = lowSums[lowAt + i]! + highSums[highAt + i]!;
    const squares = lowSquares[lowAt + i]! + highSquares[highAt + i]!;
    const spread = days * squares - sum * sum;
    const score = spread > Math.max(spreadMin, squares * rounding) ? sum * Math.abs(sum) / squares : 0;
    to[i] = score;
    if (score > most) {
      most = score;
      best = i;
    }
  }
  return best;
}

/** True if the rank of a trial, as a share of one more than there are, is at most a half; equal ones share their ranks. */
function isAtMostMedian(scores: Float64Array, trial: number): boolean {
  const own = scores[trial]!;
  // Twice the rank less one: those below count twice, equal ones once. Sums of comparisons need no branches.
  let rank = 0;
  for (let i = 0; i < scores.length; i++) rank += Number(scores[i]! < own) + Number(scores[i]! <= own);
  return rank <= scores.length;
}

function countDays(blocks: number, lengths: Float64Array): number {
  let days = 0;
  for (let i = 0; i < BLOCKS; i++) if ((blocks >> i) & 1) days += lengths[i]!;
  return days;
}

function countBits(number: number): number {
  let count = 0;
  for (let left = number; left > 0; left &= left - 1) count++;
  return count;
}
