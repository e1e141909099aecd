import type { Measure } from "./luck/measures.ts";

/** Blocks that the days are cut into; half of them choose, the other half judge: 12,870 ways. */
export const BLOCKS = 16;
export const HALF_BLOCKS = BLOCKS / 2;
export const SUBSETS = 2 ** HALF_BLOCKS;

/** The totals of trials over each subset of half of the blocks, all trials of a subset side by side. */
export interface Totals {
  readonly first: Float64Array;
  /** The second total of days of one's own and of another's that follow them. */
  secondOf(at: number, next: Totals, nextAt: number): number;
  addBlock(column: Float64Array, start: number, end: number, to: number): void;
  /** Joins two subsets, of which the first one's days come first. */
  join(a: number, b: number, to: number, count: number): void;
}

/** Totals that are sums of the days. */
export class SumTotals implements Totals {
  readonly first: Float64Array;
  readonly second: Float64Array;
  readonly #measure: Measure;

  constructor(trials: number, measure: Measure) {
    this.first = new Float64Array(SUBSETS * trials);
    this.second = new Float64Array(SUBSETS * trials);
    this.#measure = measure;
  }

  secondOf(at: number, next: SumTotals, nextAt: number): number {
    return this.second[at]! + next.second[nextAt]!;
  }

  addBlock(column: Float64Array, start: number, end: number, to: number): void {
    for (let day = start; day < end; day++) {
      this.first[to]! += this.#measure.first(column[day]!);
      this.second[to]! += this.#measure.second(column[day]!);
    }
  }

  join(a: number, b: number, to: number, count: number): void {
    for (let i = 0; i < count; i++) {
      this.first[to + i] = this.first[a + i]! + this.first[b + i]!;
      this.second[to + i] = this.second[a + i]! + this.second[b + i]!;
    }
  }
}

/** Growth, its highest and lowest point from its beginning on, and its largest fall. */
export class PathTotals implements Totals {
  readonly first: Float64Array;
  readonly #peak: Float64Array;
  readonly #low: Float64Array;
  readonly #fall: Float64Array;

  constructor(trials: number) {
    const allocate = () => new Float64Array(SUBSETS * trials);
    [this.first, this.#peak, this.#low, this.#fall] = [allocate(), allocate(), allocate(), allocate()];
  }

  secondOf(at: number, next: PathTotals, nextAt: number): number {
    const across = this.#peak[at]! - this.first[at]! - next.#low[nextAt]!;
    return Math.max(this.#fall[at]!, next.#fall[nextAt]!, across);
  }

  addBlock(column: Float64Array, start: number, end: number, to: number): void {
    for (let day = start; day < end; day++) {
      const growth = this.first[to]! + column[day]!;
      this.first[to] = growth;
      this.#peak[to] = Math.max(this.#peak[to]!, growth);
      this.#low[to] = Math.min(this.#low[to]!, growth);
      this.#fall[to] = Math.max(this.#fall[to]!, this.#peak[to]! - growth);
    }
  }

  join(a: number, b: number, to: number, count: number): void {
    for (let i = 0; i < count; i++) {
      const growth = this.first[a + i]!;
      this.#fall[to + i] = this.secondOf(a + i, this, b + i);
      this.first[to + i] = growth + this.first[b + i]!;
      this.#peak[to + i] = Math.max(this.#peak[a + i]!, growth + this.#peak[b + i]!);
      this.#low[to + i] = Math.min(this.#low[a + i]!, growth + this.#low[b + i]!);
    }
  }
}
