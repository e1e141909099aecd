/** Other candles in a module's memory: what it asked for in `init`, shown as each of them closes. */
import type { Candles } from "../../../engine/candles.ts";
import { alignInput, type InputCandles, INPUTS_MAX } from "../../../engine/inputs.ts";
import type { Series } from "../candle_series.ts";
import { INPUT, INPUT_BYTES } from "../contracts/abi.ts";
import { CANDLE_COLUMNS } from "../contracts/layout.ts";
import { roundCapacity } from "../player.ts";
import { readLongerMs, resampleCandles } from "../resampled_candles.ts";
import { sampleInput } from "../sample_candles.ts";

/** Candles that a module has asked for: an input of the run, or longer ones of its own. */
interface AskedCandles {
  readonly name: string;
  readonly isResampled: boolean;
}

/** The candles that a module has asked for, in the order of its table. Messages of errors are ends of sentences. */
export class AskedInputs {
  readonly #asked: AskedCandles[] = [];
  readonly #series: Series;
  #isOpen = true;

  constructor(series: Series) {
    this.#series = series;
  }

  get #inputs(): readonly InputCandles[] {
    return this.#series.inputs ?? [];
  }

  /** Inputs that the run names; beside made-up candles any name finds one. */
  get count(): number {
    return this.#series.isTrial ? INPUTS_MAX : this.#inputs.length;
  }

  /** An input's place in the table. @throws {RangeError} When there is none of that name, or it is too late. */
  ask(name: string): number {
    return this.#add({ name, isResampled: false }, () => {
      const isThere = this.#series.isTrial || this.#inputs.some((input) => input.name === name);
      if (isThere && this.#asked.filter(({ isResampled }) => !isResampled).length < INPUTS_MAX) return;
      const has = this.#inputs.length === 0
        ? "it has none"
        : `it has ${this.#inputs.map((each) => each.name).join(", ")}`;
      throw new RangeError(`the run has no input ${name}: ${has}; parameters.inputs names them`);
    });
  }

  /** The place of longer candles, which are made of the run's own. @throws {RangeError} When there are none, or it is too late. */
  resample(timeframe: string): number {
    const { isTrial, timeframeMs } = this.#series;
    // Every run of made-up candles may be of shorter ones.
    return this.#add({ name: timeframe, isResampled: true }, () => readLongerMs(timeframe, isTrial ? 1 : timeframeMs));
  }

  #add(asked: AskedCandles, check: () => void): number {
    if (!this.#isOpen) {
      const what = asked.isResampled ? "candles of" : "the input";
      throw new RangeError(`it asks for ${what} ${asked.name} after init`);
    }
    const { name, isResampled } = asked;
    const known = this.#asked.findIndex((each) => each.name === name && each.isResampled === isResampled);
    if (known >= 0) return known;
    check();
    return this.#asked.push(asked) - 1;
  }

  /** Ends the asking: memory for what was asked is made once. */
  close(): void {
    this.#isOpen = false;
  }

  /** The candles that were asked for, beside these of the run. @param inputs Of their market; absent: those of the run. */
  take(candles: Candles, inputs = this.#inputs): readonly InputCandles[] {
    const { isTrial, timeframeMs } = this.#series;
    return this.#asked.map(({ name, isResampled }) => {
      if (isTrial) return sampleInput(candles);
      if (isResampled) return resampleCandles(candles, name, timeframeMs);
      return inputs.find((input) => input.name === name)!;
    });
  }
}

/** Bytes of the table of inputs with their columns. */
export function inputsBytes(inputs: readonly InputCandles[]): number {
  return inputs.reduce((sum, { candles }) => sum + INPUT_BYTES + CANDLE_COLUMNS.length * columnBytes(candles), 0);
}

function columnBytes({ time }: Candles): number {
  return 8 * roundCapacity(time.length);
}

export class GuestInputs {
  readonly #inputs: readonly InputCandles[];
  /** The newest row of each input at each own candle. */
  readonly #rows: readonly Int32Array[];
  readonly #memory: WebAssembly.Memory;
  readonly #table: number;
  readonly #columns: readonly number[];
  readonly #shown: number[];

  /** @param table Address of the table, behind which the columns are; `inputsBytes` of the guest's memory. */
  constructor(inputs: readonly InputCandles[], candles: Candles, memory: WebAssembly.Memory, table: number) {
    this.#inputs = inputs;
    this.#rows = inputs.map((input) => alignInput(input, candles.time));
    this.#memory = memory;
    this.#table = table;
    this.#shown = inputs.map(() => 0);
    let at = table + inputs.length * INPUT_BYTES;
    this.#columns = inputs.map(({ candles }) => {
      const begin = at;
      at += CANDLE_COLUMNS.length * columnBytes(candles);
      return begin;
    });
    const words = new Int32Array(memory.buffer);
    inputs.forEach(({ candles }, n) => {
      const row = (table + n * INPUT_BYTES) / 4;
      const addresses = CANDLE_COLUMNS.map((_, column) => this.#columns[n]! + column * columnBytes(candles));
      words.set(addresses, row + INPUT.columns / 4);
      words[row + INPUT.count / 4] = 0;
      words[row + INPUT.columnsCapacity / 4] = columnBytes(candles) / 8;
    });
  }

  /** Shows what had closed by the close of candle `i`. @returns The next candle at which something is new; `until` where nothing is before. */
  show(i: number, until: number): number {
    let next = until;
    for (const [n, rows] of this.#rows.entries()) {
      const count = rows[i]! + 1;
      if (count > this.#shown[n]!) this.#write(n, count);
      let change = i + 1;
      while (change < next && rows[change]! + 1 === count) change++;
      next = change;
    }
    return next;
  }

  #write(n: number, count: number): void {
    const { candles } = this.#inputs[n]!;
    const shown = this.#shown[n]!;
    const { buffer } = this.#memory;
    CANDLE_COLUMNS.forEach((name, column) => {
      const at = this.#columns[n]! + column * columnBytes(candles) + 8 * shown;
      new Float64Array(buffer, at, count - shown).set(candles[name].subarray(shown, count));
    });
    new Int32Array(buffer, this.#table + n * INPUT_BYTES + INPUT.count, 1)[0] = count;
    this.#shown[n] = count;
  }
}
