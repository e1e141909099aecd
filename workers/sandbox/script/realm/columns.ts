import type { NumberRule } from "../../contracts/indicators.ts";
import type { Layout } from "../../contracts/layout.ts";
import { makeAskedCandles, makeInputs } from "./inputs.ts";
import { type Memory, want } from "./memory.ts";
import { makeOwnSeries } from "./own_series.ts";
import { makePeeks } from "./peeks.ts";
import { nameValue } from "./world.ts";

/** A column that the host computes: an indicator's name, its inputs (numbers of columns, or constants), its numbers and its texts. */
export interface Request {
  readonly name: string;
  readonly inputs: readonly (number | { readonly constant: number })[];
  readonly numbers: readonly number[];
  readonly texts: readonly string[];
}

/** The candles and indicators of a realm: columns that grow as candles close, with NaN behind the newest one. */
export interface Columns {
  readonly candles: Readonly<Record<string, unknown>>;
  readonly requests: readonly Request[];
  /** Functions that ask for columns. */
  readonly globals: Readonly<Record<string, (...args: readonly unknown[]) => unknown>>;
  /**
   * Makes columns with the first rows of the candles whose bits are set, and lets requests come until `close`.
   *
   * @param inputs Names of the inputs; null: any name finds one.
   */
  open(rows: number, bits: number, inputs: readonly string[] | null): void;
  close(): void;
  /** Numbers of the columns that are shown, in the order of their windows from 1. */
  shown(): readonly number[];
  /** The memory of the n-th of them. */
  buffer(n: number): ArrayBuffer;
  /** Shows row `i` of each. */
  show(i: number): void;
  capacity(): number;
  /** True for a column of these. */
  owns(value: unknown): boolean;
}

/** @param newest The newest closed candle of the columns' market. */
export function makeColumns(layout: Layout, memory: Memory, newest = () => memory.i): Columns {
  const { indicators, candleColumns: names, columnsMax, periodMax } = layout;
  const candles: Record<string, unknown> = {};
  const numbers = new Map<unknown, number>();
  const requests: Request[] = [];
  const shower = makeShower(layout, memory);
  let [isOpen, capacity, made] = [false, 0, 0];
  const lookAt = (column: object, name: string) =>
    memory.guard?.look(column, "column", name, "a column has its values, by their numbers");
  const watch = makePeeks(memory.peeks, layout.peeksMax, newest, lookAt);
  const show = <Shown extends object>(shown: Shown, what: string): Shown => memory.guard?.show(shown, what) ?? shown;
  let isWatched = false;
  const add = (number: number): Float64Array<ArrayBuffer> => {
    const column = new Float64Array(capacity).fill(NaN);
    shower.add(number, column);
    const shown = isWatched ? watch(column) : column;
    numbers.set(shown, number);
    return shown;
  };
  const request = (request: Request, outputs: readonly string[]) => {
    requests.push(request);
    return outputs.map(() => {
      if (made === columnsMax) throw new RangeError(`a strategy can have at most ${columnsMax} columns`);
      return add(names.length + made++);
    });
  };
  const ask = (asked: Request, outputs: readonly string[]) => {
    const columns = request(asked, outputs.length === 0 ? [asked.name] : outputs);
    if (outputs.length === 0) return columns[0];
    return show(Object.fromEntries(outputs.map((output, n) => [output, columns[n]])), `${asked.name}()`);
  };
  /** A column of candles that are not the run's own. */
  const askOther = (name: string, numbers: readonly number[], texts: readonly string[]): Float64Array => {
    if (isOpen) return request({ name, inputs: [], numbers, texts }, [name])[0]!;
    want(layout, memory);
    return new Float64Array(capacity).fill(NaN);
  };
  let isNamed = (_column: number): boolean => false;
  const resample = (...[value, timeframe]: readonly unknown[]): object => {
    if (!isOpen) throw new Error("resample is for prepare: keep its candles in `this`, and read them in decide");
    if ((memory.guard?.behind(value) ?? value) !== candles) {
      throw new TypeError("resample takes the candles that prepare is given, and a timeframe");
    }
    const known = layout.timeframes.find((each) => each === timeframe);
    if (known !== undefined) {
      const longer = makeAskedCandles(names, isNamed, (column) => askOther("resample", [column], [known]));
      return show(longer, "resample()");
    }
    throw new RangeError(
      `resample: the timeframe must be one of ${layout.timeframes.join(", ")}, not ${nameValue(timeframe)}`,
    );
  };
  const ownSeries = makeOwnSeries();
  const globals = indicators.map((rule) => {
    const call = (...args: readonly unknown[]) => {
      const [own] = args;
      if (!isOpen) {
        const isOwn = Array.isArray(own) && rule.inputs.length === 1;
        const numbers = isOwn ? rule.numbers.map((each, n) => readRule(rule.name, each, args[n + 1], periodMax)) : [];
        const newest = isOwn ? ownSeries(rule.name, own, numbers) : null;
        if (newest !== null) return typeof newest === "number" ? newest : show(newest, `${rule.name}()`);
        throw new Error(`${rule.name} is for prepare: keep its column in \`this\`, and read it in decide`);
      }
      const inputs = rule.inputs.map((name, n) => readInput(`${rule.name}: ${name}`, args[n], numbers));
      const values = rule.numbers.map((number, n) =>
        readRule(rule.name, number, args[rule.inputs.length + n], periodMax)
      );
      const behind = rule.inputs.length + values.length;
      const texts = rule.texts.map((name, n) => readName(`${rule.name}: ${name}`, args[behind + n]));
      return ask({ name: rule.name, inputs, numbers: values, texts }, rule.outputs);
    };
    return [rule.name, call] as const;
  });
  return {
    candles,
    requests,
    globals: {
      ...Object.fromEntries(globals),
      crossesAbove,
      crossesBelow: (a, b, i) => crossesAbove(b, a, i),
      resample,
    },
    open(rows, bits, inputs) {
      capacity = rows;
      isOpen = true;
      isWatched = (bits & layout.peeksBit) !== 0;
      isNamed = (n) => (bits >>> n & 1) === 1;
      const areRead = (bits >>> names.length + 2 & 1) === 1;
      const value = makeInputs({
        names: inputs,
        candleColumns: names,
        isNamed: (n) => areRead && isNamed(n),
        ask: (input, column) => askOther("input", [input, column], []),
        show,
      });
      Object.defineProperty(candles, "inputs", { value });
      names.forEach((name, n) => {
        let column = (bits >>> n & 1) === 1 ? add(n) : null;
        const get = () => {
          // Behind `prepare` its rows are gone: the host begins again with all columns.
          if (column === null && !isOpen) want(layout, memory);
          return column ??= add(n);
        };
        // Reading a property costs less than calling a getter.
        Object.defineProperty(candles, name, { enumerable: true, ...(column === null ? { get } : { value: column }) });
      });
      Object.freeze(candles);
    },
    close() {
      isOpen = false;
    },
    shown: () => shower.numbers,
    buffer: (n) => shower.buffers[n]!,
    show: shower.show,
    capacity: () => capacity,
    owns: (value) => numbers.has(value),
  };
}

/** Shows columns row by row, from their windows. */
export function makeShower({ windowsMax, windowRows }: Layout, { windows }: Memory) {
  const none = new Float64Array(0);
  // Filled, so that a script's setters of Array.prototype are not called: a number of a window must be ours.
  const shown = Array.from({ length: windowsMax }, () => none);
  const numbers: number[] = [];
  const buffers: ArrayBuffer[] = [];
  let count = 0;
  return {
    numbers,
    buffers,
    add(number: number, column: Float64Array<ArrayBuffer>): void {
      shown[count++] = column;
      numbers.push(number);
      buffers.push(column.buffer);
    },
    show(i: number): void {
      const row = i & (windowRows - 1);
      for (let n = 0; n < count; n++) shown[n]![i] = windows[(n + 1) * windowRows + row]!;
    },
  };
}

export function readInput(
  what: string,
  value: unknown,
  numbers: ReadonlyMap<unknown, number>,
): Request["inputs"][number] {
  const number = numbers.get(value);
  if (number !== undefined) return number;
  if (typeof value === "number" && Number.isFinite(value)) return { constant: value };
  const kind = Array.isArray(value) ? "an array: one of your own belongs into decide" : typeof value;
  throw new TypeError(`${what} must be a column of candles or of an indicator, or a number, not ${kind}`);
}

export function readName(what: string, value: unknown): string {
  if (typeof value === "string" && value.length >= 1 && value.length <= 64) return value;
  throw new TypeError(`${what} must be a text of 1 to 64 characters, not ${nameValue(value)}`);
}

export function readRule(
  indicator: string,
  { name, isPeriod }: NumberRule,
  value: unknown,
  periodMax: number,
): number {
  const isPeriodOf = (candles: number) => Number.isInteger(candles) && candles >= 1 && candles <= periodMax;
  if (typeof value === "number" && (isPeriod ? isPeriodOf(value) : Number.isFinite(value))) return value;
  const rule = isPeriod ? `a whole number of candles from 1 to ${periodMax}` : "a finite number";
  throw new RangeError(`${indicator}: ${name} must be ${rule}, not ${nameValue(value)}`);
}

/** True if `a` is above `b` at candle `i`, and was below when they last differed. */
export function crossesAbove(a: unknown, b: unknown, i: unknown): boolean {
  const areColumns = a instanceof Float64Array && b instanceof Float64Array || Array.isArray(a) && Array.isArray(b);
  if (!areColumns || typeof i !== "number") {
    throw new TypeError("a cross takes two columns, or two arrays of your own, and the number of a row");
  }
  if (!(a[i]! > b[i]!)) return false;
  let before = i - 1;
  while (before >= 0 && a[before] === b[before]) before--;
  return before >= 0 && a[before]! < b[before]!;
}
