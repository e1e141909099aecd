/** The values by which a portfolio strategy decides, for a chart. */

/** Markets whose own values are drawn, in the order of the run; levels and extremes are drawn of all. */
const DRAWN_MARKETS = 8;
/** Nobody sees more decimals on a chart, and short ones take a quarter of the bytes. */
const DECIMALS = 6;

/** A line of a chart: its name is unique, and the lines of a pane are drawn together. */
export interface DecisionLine {
  readonly name: string;
  readonly pane: string;
  /** Values are rounded to so many decimals; absent: 6. */
  readonly decimals?: number;
}

/** Receives the values by which a strategy decides. */
export interface DecisionPlots {
  /** Names the lines, the important ones first. A second call ends the record: later simulations repeat the first one. */
  begin(lines: readonly DecisionLine[]): void;
  /** Adds a decision. @param now Its instant. @param values A value a line; NaN where there is none. */
  add(now: number, values: readonly number[]): void;
}

/** Lines of one pane. */
export function linesIn(pane: string, names: readonly string[], decimals = DECIMALS): readonly DecisionLine[] {
  return names.map((name) => ({ name, pane, decimals }));
}

/** A line for each of the first markets, in a pane of the values' name. */
export function marketLines(markets: readonly { readonly id: string }[], value: string): readonly DecisionLine[] {
  return linesIn(value, markets.slice(0, DRAWN_MARKETS).map(({ id }) => `${id} ${value}`));
}

/** The values of the first markets. @param ofAll A value a market of the run. */
export function marketValues(ofAll: Float64Array): readonly number[] {
  return [...ofAll.subarray(0, DRAWN_MARKETS)];
}

/** Keeps the decisions of a run's first simulation. */
export class DecisionRecord implements DecisionPlots {
  readonly #linesMax: number;
  #lines: readonly DecisionLine[] | null = null;
  /** Of each line: the parts of 1 to which its values are rounded. */
  #parts: readonly number[] = [];
  #isOpen = false;
  #instants = new Float64Array(0);
  /** One decision after the other. */
  #values = new Float64Array(0);
  #count = 0;

  /** @param linesMax The first lines, which alone take memory. */
  constructor(linesMax: number) {
    this.#linesMax = linesMax;
  }

  begin(lines: readonly DecisionLine[]): void {
    this.#isOpen = this.#lines === null;
    this.#lines ??= lines.slice(0, this.#linesMax);
    this.#parts = this.#lines.map(({ decimals = DECIMALS }) => 10 ** decimals);
  }

  add(now: number, values: readonly number[]): void {
    if (!this.#isOpen) return;
    const width = this.#parts.length;
    if (this.#count === this.#instants.length) {
      const room = Math.max(64, 2 * this.#count);
      this.#instants = grow(this.#instants, room);
      this.#values = grow(this.#values, room * width);
    }
    this.#instants[this.#count] = now;
    for (let n = 0; n < width; n++) {
      const parts = this.#parts[n]!;
      // No -0: it is no short decimal.
      this.#values[this.#count * width + n] = Math.round(values[n]! * parts) / parts + 0;
    }
    this.#count++;
  }

  /**
   * The lines over marks: a value holds until the next decision, and is NaN before the first one.
   *
   * @param instants Of the marks, ascending. @param most Lines to give at most, the first ones.
   */
  draw(
    instants: Float64Array,
    most: number,
  ): readonly (Pick<DecisionLine, "name" | "pane"> & { readonly values: Float64Array })[] {
    const lines = this.#lines ?? [];
    const columns = lines.slice(0, most).map(({ name, pane }) => ({
      name,
      pane,
      values: new Float64Array(instants.length),
    }));
    let next = 0;
    for (let row = 0; row < instants.length; row++) {
      while (next < this.#count && this.#instants[next]! <= instants[row]!) next++;
      const at = (next - 1) * lines.length;
      for (let n = 0; n < columns.length; n++) columns[n]!.values[row] = next === 0 ? NaN : this.#values[at + n]!;
    }
    return columns;
  }
}

function grow(values: Float64Array, length: number): Float64Array<ArrayBuffer> {
  const grown = new Float64Array(length);
  grown.set(values);
  return grown;
}
