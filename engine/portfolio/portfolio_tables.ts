import type { RangeDays } from "../metrics/input.ts";
import type { Contributions, CorrelationMatrix, HoldingFigures, PortfolioTrades, WeightRows } from "./portfolio.ts";
import type { Seat } from "./seat.ts";
import type { CloseRows } from "./timeline.ts";

/** Marks whose weights are kept, and markets whose correlations are. */
const SAMPLES_MAX = 500;
const CORRELATED_MAX = 50;

/** Gathers weights and holdings as an account is marked. */
export class Sampler {
  readonly #rows: number;
  readonly #sampled: number[] = [];
  readonly #marks: number[] = [];
  readonly #markets: number[] = [];
  readonly #weights: number[] = [];
  #next = 0;
  #marksHeld = 0;
  #held = 0;
  #largest = 0;
  #herfindahl = 0;

  constructor(rows: number) {
    this.#rows = rows;
  }

  /** Notes the positions of a row. A row that is marked again replaces its weights. */
  mark(row: number, held: readonly Seat[], equity: number): void {
    if (row !== Math.floor(this.#next) && row !== this.#rows - 1) return;
    this.#count(held, equity);
    while (this.#marks.at(-1) === row) for (const column of [this.#marks, this.#markets, this.#weights]) column.pop();
    if (this.#sampled.at(-1) !== row) this.#sampled.push(row);
    for (const { index, value } of held) {
      this.#marks.push(row);
      this.#markets.push(index);
      this.#weights.push(value / equity);
    }
    while (Math.floor(this.#next) <= row) this.#next += Math.max(1, this.#rows / (SAMPLES_MAX - 1));
  }

  finish(): WeightRows {
    return {
      mark: Int32Array.from(this.#marks),
      market: Uint16Array.from(this.#markets),
      weight: Float64Array.from(this.#weights),
      marks: Int32Array.from(this.#sampled),
    };
  }

  get holdings(): HoldingFigures | null {
    const marks = this.#marksHeld;
    if (marks === 0) return null;
    return { mean: this.#held / marks, largestWeight: this.#largest, herfindahl: this.#herfindahl / marks };
  }

  #count(held: readonly Seat[], equity: number): void {
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
  const returns = chosen.map((seat) => dailyReturns(seat, closes[seat.index]!, ends));
  // Where no day is missing, a correlation is a product of columns that are standardised once.
  const whole = returns.map((column) =>
    column.some((value, day) => day > 0 && Number.isNaN(value)) ? null : standardise(column)
  );
  const length = chosen.length;
  const values = new Float64Array(length * length).fill(1);
  for (let a = 0; a < length; a++) {
    for (let b = 0; b < a; b++) {
      const [x, y] = [whole[a], whole[b]];
      const found = x && y ? multiply(x, y) : correlate(returns[a]!, returns[b]!);
      values[a * length + b] = values[b * length + a] = found;
    }
  }
  return { markets: Uint16Array.from(chosen, ({ index }) => index), values };
}

/** A market's own returns by day; NaN on days without a candle and on the first. */
function dailyReturns(seat: Seat, closes: CloseRows, ends: Int32Array): Float64Array {
  const { close } = seat.candles;
  const returns = new Float64Array(ends.length).fill(NaN);
  for (let day = 0, before = -1; day < ends.length; day++) {
    const i = closes.newestIn(ends[day]! - 1, seat.last);
    if (before >= seat.firstIndex && i > before) returns[day] = close[i]! / close[before]! - 1;
    before = i;
  }
  return returns;
}

/** The column less its mean, in units of its length: its product with itself is 1. The first day has no return. */
function standardise(returns: Float64Array): Float64Array {
  const column = returns.subarray(1);
  const mean = column.reduce((sum, value) => sum + value, 0) / column.length;
  const centred = column.map((value) => value - mean);
  const norm = Math.sqrt(multiply(centred, centred));
  return centred.map((value) => value / norm);
}

function multiply(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k]! * b[k]!;
  return sum;
}

/** Pearson's correlation over the days on which both have a return; NaN with fewer than two, or without movement. */
function correlate(a: Float64Array, b: Float64Array): number {
  const days = a.map((_, day) => day).filter((day) => !Number.isNaN(a[day]! + b[day]!));
  if (days.length < 2) return NaN;
  const columnOf = (returns: Float64Array) => standardise(Float64Array.of(NaN, ...days.map((day) => returns[day]!)));
  return multiply(columnOf(a), columnOf(b));
}
