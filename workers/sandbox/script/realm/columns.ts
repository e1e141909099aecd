import type { NumberRule } from "../indicators.ts";
import type { Layout } from "../layout.ts";
import type { Memory } from "./memory.ts";

/** A column that the host computes: an indicator's name, its inputs (numbers of columns, or constants) and its numbers. */
export interface Request {
  readonly name: string;
  readonly inputs: readonly (number | { readonly constant: number })[];
  readonly numbers: readonly number[];
}

/** The candles and indicators of a realm: columns that grow as candles close, with NaN behind the newest one. */
export interface Columns {
  readonly candles: Readonly<Record<string, Float64Array>>;
  readonly requests: readonly Request[];
  /** Memory of the requests' columns, in their order. */
  readonly buffers: readonly ArrayBuffer[];
  /** Functions that ask for columns. */
  readonly globals: Readonly<Record<string, (...args: readonly unknown[]) => unknown>>;
  /** Makes the candles' columns, and lets requests come until `close`. */
  open(): void;
  close(): void;
  capacity(): number;
}

export function makeColumns({ indicators, frame, columnsMax }: Layout, memory: Memory): Columns {
  const names = ["time", "open", "high", "low", "close", "volume"];
  const candles: Record<string, Float64Array> = {};
  const numbers = new Map<unknown, number>();
  const requests: Request[] = [];
  const buffers: ArrayBuffer[] = [];
  let [isOpen, capacity] = [false, 0];
  const ask = (name: string, inputs: Request["inputs"], values: readonly number[], outputs: readonly string[]) => {
    requests.push({ name, inputs, numbers: values });
    const made = (outputs.length === 0 ? [name] : outputs).map(() => {
      if (buffers.length === columnsMax) throw new RangeError(`a strategy can have at most ${columnsMax} columns`);
      const column = new Float64Array(capacity).fill(NaN);
      buffers.push(column.buffer);
      // The candles have the first numbers.
      numbers.set(column, names.length + buffers.length - 1);
      return column;
    });
    return outputs.length === 0 ? made[0] : Object.fromEntries(outputs.map((output, n) => [output, made[n]]));
  };
  const globals = indicators.map((rule) => {
    const call = (...args: readonly unknown[]) => {
      if (!isOpen) throw new Error(`${rule.name} is for prepare: keep its column in \`this\`, and read it in decide`);
      const inputs = rule.inputs.map((name, n) => readInput(`${rule.name}: ${name}`, args[n], numbers));
      const values = rule.numbers.map((number, n) => readRule(rule.name, number, args[rule.inputs.length + n]));
      return ask(rule.name, inputs, values, rule.outputs);
    };
    return [rule.name, call] as const;
  });
  return {
    candles,
    requests,
    buffers,
    globals: { ...Object.fromEntries(globals), crossesAbove, crossesBelow: (a, b, i) => crossesAbove(b, a, i) },
    open() {
      const first = memory.words[(frame.columns >>> 2) + 0]!;
      capacity = (memory.words[(frame.columns >>> 2) + 1]! - first) / 8;
      names.forEach((name, n) => {
        const column = new Float64Array(memory.doubles.buffer, first + n * capacity * 8, capacity).fill(NaN);
        candles[name] = column;
        numbers.set(column, n);
      });
      Object.freeze(candles);
      isOpen = true;
    },
    close() {
      isOpen = false;
    },
    capacity: () => capacity,
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
  throw new TypeError(`${what} must be a column of candles or of an indicator, or a number, not ${typeof value}`);
}

export function readRule(indicator: string, { name, isPeriod }: NumberRule, value: unknown): number {
  const fits = typeof value === "number" && (isPeriod ? Number.isInteger(value) && value >= 1 : Number.isFinite(value));
  if (fits) return value;
  const rule = isPeriod ? "a whole number of candles, at least 1" : "a finite number";
  throw new RangeError(`${indicator}: ${name} must be ${rule}, not ${String(value)}`);
}

/** True if `a` is above `b` at candle `i`, and was below when they last differed. */
export function crossesAbove(a: unknown, b: unknown, i: unknown): boolean {
  if (!(a instanceof Float64Array) || !(b instanceof Float64Array) || typeof i !== "number") {
    throw new TypeError("a cross takes two columns and the number of a candle");
  }
  if (!(a[i]! > b[i]!)) return false;
  let before = i - 1;
  while (before >= 0 && a[before] === b[before]) before--;
  return before >= 0 && a[before]! < b[before]!;
}
