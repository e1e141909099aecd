import type { RangeDays } from "../metrics/input.ts";
import {
  type Contributions,
  CORRELATED_MAX,
  type CorrelationMatrix,
  type HoldingFigures,
  type PortfolioResult,
  type PortfolioTrades,
  SAMPLES_MAX,
} from "./portfolio.ts";
import type { Positions } from "./positions.ts";
import type { Seat } from "./seat.ts";
import type { CloseRows } from "./timeline.ts";

// An answer has all of them.
const WEIGHTS_MAX = 50_000;

/** The holdings of an account at a mark. */
interface Sample {
  readonly row: number;
  /** Of the markets with a position, as listed. */
  markets: readonly number[];
  weights: readonly number[];
  /** By market, where it has changed. */
  readonly profits: Map<number, number>;
}

/** Gathers weights, profits and holdings as an account is marked. */
export class Sampler {
  readonly #rows: number;
  /** Of this many samples, one keeps its weights; all of them count for the figures of holdings. */
  readonly #keepOneIn: number;
  #samples = 0;
  readonly #kept: Sample[] = [];
  /** The newest profit of each market. */
  readonly #profits: Float64Array;
  #next = 0;
  #marksHeld = 0;
  #held = 0;
  #largest = 0;
  #herfindahl = 0;

  constructor(rows: number, markets: number) {
    this.#rows = rows;
    this.#keepOneIn = Math.ceil(SAMPLES_MAX * markets / WEIGHTS_MAX);
    this.#profits = new Float64Array(markets);
  }

  /** Notes the positions of a row, and what the markets have given so far. The last row may be marked again, and replaces its weights. */
  mark(row: number, positions: Positions): void {
    const isLast = row === this.#rows - 1;
    if (row !== Math.floor(this.#next) && !isLast) return;
    this.#count(positions);
    if (this.#samples++ % this.#keepOneIn === 0 || isLast) this.#keep(row, positions);
    while (Math.floor(this.#next) <= row) this.#next += Math.max(1, this.#rows / (SAMPLES_MAX - 1));
  }

  #keep(row: number, { held, ended, equity }: Positions): void {
    let sample = this.#kept.at(-1);
    if (sample === undefined || sample.row !== row) {
      sample = { row, markets: [], weights: [], profits: new Map() };
      this.#kept.push(sample);
    }
    sample.markets = held.map(({ index }) => index);
    sample.weights = held.map(({ value }) => value / equity);
    for (const seat of ended) this.#keepProfit(seat, sample);
    for (const seat of held) this.#keepProfit(seat, sample);
    ended.clear();
  }

  #keepProfit({ index, ledger, isHeld, value }: Seat, { profits }: Sample): void {
    const profit = isHeld ? ledger.flow + value : ledger.flow;
    if (profit === this.#profits[index]) return;
    this.#profits[index] = profit;
    profits.set(index, profit);
  }

  finish(): Pick<PortfolioResult, "weights" | "profits"> {
    const kept = this.#kept;
    const weights = rowsOf(kept, ({ markets }) => markets, ({ weights }, k) => weights[k]!);
    const changed = ({ profits }: Sample) => [...profits.keys()].sort((a, b) => a - b);
    const profits = rowsOf(kept, changed, ({ profits }, _k, market) => profits.get(market)!);
    return {
      weights: {
        mark: weights.mark,
        market: weights.market,
        weight: weights.values,
        marks: Int32Array.from(kept, ({ row }) => row),
      },
      profits: { mark: profits.mark, market: profits.market, profit: profits.values },
    };
  }

  get holdings(): HoldingFigures | null {
    const marks = this.#marksHeld;
    if (marks === 0) return null;
    return { mean: this.#held / marks, largestWeight: this.#largest, herfindahl: this.#herfindahl / marks };
  }

  #count({ held, equity }: Positions): void {
    if (held.length === 0) return;
    let [gross, squares] = [0, 0];
    for (const { value } of held) {
      gross += Math.abs(value);
      squares += value * value;
      this.#largest = Math.max(this.#largest, Math.abs(value) / equity);
    }
    this.#marksHeld++;
    this.#held += held.length;
    this.#herfindahl += squares / (gross * gross);
  }
}

/** The values of samples as rows: one for each market of each sample. */
function rowsOf(
  samples: readonly Sample[],
  marketsOf: (sample: Sample) => readonly number[],
  valueOf: (sample: Sample, k: number, market: number) => number,
) {
  const markets = samples.map(marketsOf);
  const count = markets.reduce((sum, { length }) => sum + length, 0);
  const rows = { mark: new Int32Array(count), market: new Uint16Array(count), values: new Float64Array(count) };
  let at = 0;
  samples.forEach((sample, n) => {
    for (const [k, market] of markets[n]!.entries()) {
      rows.mark[at] = sample.row;
      rows.market[at] = market;
      rows.values[at++] = valueOf(sample, k, market);
    }
  });
  return rows;
}

/** Adds the trades up by market. */
export function contributionsOf({ count, market, pnl, fees }: PortfolioTrades, seats: readonly Seat[]): Contributions {
  const length = seats.length;
  const sums = {
    pnl: new Float64Array(length),
    fees: new Float64Array(length),
    trades: new Int32Array(length),
    marksHeld: Int32Array.from(seats, ({ marksHeld }) => marksHeld),
    share: new Float64Array(length),
  };
  for (let k = 0; k < count; k++) {
    const of = market[k]!;
    sums.pnl[of]! += pnl[k]!;
    sums.fees[of]! += fees[k]!;
    sums.trades[of]!++;
  }
  const total = sums.pnl.reduce((sum, money) => sum + money, 0);
  for (let of = 0; of < length; of++) sums.share[of] = total === 0 ? NaN : sums.pnl[of]! / total;
  return sums;
}

/** The correlations of the markets that were held for the longest. */
export function correlationOf(
  seats: readonly Seat[],
  closes: readonly CloseRows[],
  { ends }: RangeDays,
): CorrelationMatrix {
  const chosen = seats.filter(({ marksHeld }) => marksHeld > 0)
    .sort((a, b) => b.marksHeld - a.marksHeld || a.index - b.index).slice(0, CORRELATED_MAX)
    .sort((a, b) => a.index - b.index);
  const length = chosen.length;
  const days = Math.max(0, ends.length - 1);
  const matrix = new Float64Array(length * days);
  const columns = chosen.map((_, n) => matrix.subarray(n * days, (n + 1) * days));
  // If no day is missing, a correlation is a product of columns that are standardised once.
  const isWhole = chosen.map((seat, n) => readReturns(seat, closes[seat.index]!, ends, columns[n]!));
  const values = new Float64Array(length * length).fill(1);
  for (let a = 0; a < length; a++) {
    if (isWhole[a]) standardise(columns[a]!);
    for (let b = 0; b < a; b++) {
      const found = isWhole[a] && isWhole[b] ? multiply(columns[a]!, columns[b]!) : correlate(columns[a]!, columns[b]!);
      values[a * length + b] = values[b * length + a] = found;
    }
  }
  return { markets: Uint16Array.from(chosen, ({ index }) => index), values };
}

/** Reads a market's own returns from the second day on; NaN on days without a candle. False if there is such a day. */
function readReturns(seat: Seat, closes: CloseRows, ends: Int32Array, returns: Float64Array): boolean {
  const { close } = seat.candles;
  let before = closes.newestIn((ends[0] ?? 0) - 1, seat.last);
  let isWhole = true;
  for (let day = 1; day < ends.length; day++) {
    const i = closes.newestIn(ends[day]! - 1, seat.last);
    const has = before >= seat.firstIndex && i > before;
    returns[day - 1] = has ? close[i]! / close[before]! - 1 : NaN;
    if (!has) isWhole = false;
    before = i;
  }
  return isWhole;
}

/** Gives a column the mean 0 and, multiplied by itself, the product 1. NaN without movement. */
function standardise(column: Float64Array): void {
  let sum = 0;
  for (let k = 0; k < column.length; k++) sum += column[k]!;
  const mean = sum / column.length;
  for (let k = 0; k < column.length; k++) column[k]! -= mean;
  const norm = Math.sqrt(multiply(column, column));
  for (let k = 0; k < column.length; k++) column[k]! /= norm;
}

function multiply(a: Float64Array, b: Float64Array): number {
  const { length } = a;
  const whole = length - length % 4;
  // Four sums do not wait for each other. A bound that is known before the loop makes it several times faster.
  let first = 0;
  let second = 0;
  let third = 0;
  let fourth = 0;
  for (let k = 0; k < whole; k += 4) {
    first += a[k]! * b[k]!;
    second += a[k + 1]! * b[k + 1]!;
    third += a[k + 2]! * b[k + 2]!;
    fourth += a[k + 3]! * b[k + 3]!;
  }
  for (let k = whole; k < length; k++) first += a[k]! * b[k]!;
  return first + second + (third + fourth);
}

/** Pearson's correlation over the days on which both have a return; NaN with fewer than two, or without movement. */
function correlate(a: Float64Array, b: Float64Array): number {
  const days = Array.from(a.keys()).filter((day) => !Number.isNaN(a[day]! + b[day]!));
  if (days.length < 2) return NaN;
  const x = Float64Array.from(days, (day) => a[day]!);
  const y = Float64Array.from(days, (day) => b[day]!);
  standardise(x);
  standardise(y);
  return multiply(x, y);
}
