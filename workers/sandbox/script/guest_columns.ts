import type { Candles } from "../../../engine/candles.ts";
import { alignColumn, alignInput, type InputCandles } from "../../../engine/inputs.ts";
import type { TradingDayColumns } from "../../../engine/metrics/input.ts";
import { RunError } from "../../common/outcome.ts";
import { computeIndicator } from "../contracts/indicators.ts";
import { CANDLE_COLUMNS, COLUMNS_MAX } from "../contracts/layout.ts";
import { resampleCandles } from "../resampled_candles.ts";
import { sampleInput } from "../sample_candles.ts";
import { brokenRealm, clean, readColumn, type ReadRequest } from "./realm_answers.ts";

/** The run's own candles, among the candles of columns. */
const OWN = -1;

/** A column as the host has it: of the run's own candles, or of those of an input. */
interface HostColumn {
  readonly values: Float64Array;
  /** Number of the input; OWN. */
  readonly of: number;
}

/**
 * The columns that a script asks for, by their numbers: candles first. Indicators of an input's columns are computed by its own candles, and
 * aligned with those of the run where the script sees them. Of columns of different candles, aligned ones are computed.
 */
export class GuestColumns {
  readonly #candles: Candles;
  readonly #days: TradingDayColumns | null;
  /** Inputs of the run, then the longer candles that the script makes of its own. */
  readonly #inputs: InputCandles[];
  readonly #ownMs: number | null;
  readonly #made = new Map<string, number>();
  readonly #columns: HostColumn[];
  readonly #rows: (Int32Array | undefined)[] = [];

  /** @param ownMs Length of the candles; null for made-up ones, of which any timeframe makes the same longer ones. */
  constructor(
    candles: Candles,
    { days, inputs, ownMs }: {
      readonly days: TradingDayColumns | null;
      readonly inputs: readonly InputCandles[];
      readonly ownMs: number | null;
    },
  ) {
    this.#candles = candles;
    this.#days = days;
    this.#inputs = [...inputs];
    this.#ownMs = ownMs;
    this.#columns = CANDLE_COLUMNS.map((name) => ({ values: candles[name], of: OWN }));
  }

  /** Computes what a realm asks for. @throws {RunError} When there is no such indicator, or it does not take these numbers. */
  add(request: ReadRequest): void {
    const { name, numbers } = request;
    if (name === "input") this.#addInput(numbers);
    else if (name === "resample") this.#addInput([this.#resample(request.texts[0] ?? ""), ...numbers]);
    else {
      const of = this.#findCandles(request);
      const days = of === OWN ? this.#days : this.#inputs[of]!.tradingDays;
      this.#columns.push(...this.#compute(request, of, days).map((values) => ({ values, of })));
    }
    if (this.#columns.length - CANDLE_COLUMNS.length > COLUMNS_MAX) throw brokenRealm("it asks for too many columns");
  }

  /** A column as the script sees it: a value a candle of the run. @throws {RunError} When there is none of that number. */
  show(number: unknown): Float64Array {
    const column = typeof number === "number" ? this.#columns[number] : undefined;
    if (column === undefined) throw brokenRealm("it asks for no column");
    return column.of === OWN ? column.values : alignColumn(column.values, this.#rowsOf(column.of));
  }

  /** The number of the longer candles of a timeframe. @throws {RunError} */
  #resample(timeframe: string): number {
    const made = this.#made.get(timeframe);
    if (made !== undefined) return made;
    const number = this.#inputs.length;
    this.#inputs.push(
      this.#tryTo(() =>
        this.#ownMs === null ? sampleInput(this.#candles) : resampleCandles(this.#candles, timeframe, this.#ownMs)
      ),
    );
    this.#made.set(timeframe, number);
    return number;
  }

  #addInput([input, column]: readonly number[]): void {
    const name = CANDLE_COLUMNS[column ?? -1];
    const candles = this.#inputs[input ?? -1]?.candles;
    if (name === undefined || candles === undefined) throw brokenRealm("it asks for no input");
    this.#columns.push({ values: candles[name], of: input! });
  }

  /** The candles of an indicator: those of its columns where they are the same, else the run's own. */
  #findCandles({ inputs }: ReadRequest): number {
    const all = new Set(inputs.flatMap((input) => typeof input === "number" ? [this.#columns[input]?.of ?? OWN] : []));
    const [first = OWN] = all;
    return all.size === 1 ? first : OWN;
  }

  #compute({ name, inputs, numbers, texts }: ReadRequest, of: number, days: TradingDayColumns | null) {
    const { length } = of === OWN ? this.#candles.time : this.#inputs[of]!.candles.time;
    const read = inputs.map((input) => {
      const column = typeof input === "number" ? this.#columns[input] : undefined;
      if (column === undefined) return readColumn(input, [], length);
      return column.of === of ? column.values : this.show(input);
    });
    return this.#tryTo(() => computeIndicator(name, read, numbers, days, texts));
  }

  #tryTo<Value>(make: () => Value): Value {
    try {
      return make();
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new RunError("STRATEGY_FAILED", `Cannot prepare: ${clean(error.message)}`);
    }
  }

  #rowsOf(input: number): Int32Array {
    return this.#rows[input] ??= alignInput(this.#inputs[input]!, this.#candles.time);
  }
}
