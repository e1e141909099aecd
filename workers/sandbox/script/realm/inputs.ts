import { nameValue } from "./world.ts";

/** Asks for a column of the candles of the n-th input. */
type AskInput = (input: number, column: number) => Float64Array;

/** The facts about a realm's inputs from which their columns are made. */
interface OpenedInputs {
  /** Null for made-up candles: any name finds an input. */
  readonly names: readonly string[] | null;
  readonly candleColumns: readonly string[];
  /** True for a column that the script's text names. */
  readonly isNamed: (column: number) => boolean;
  /** Asks for a column, or lets the run begin again where it is too late to. */
  readonly ask: AskInput;
  /** Shows the candles of an input, so that reads of members which they do not have may be noticed. */
  readonly show: (candles: object, what: string) => object;
}

/** The columns of candles that are no run's own: those that the script's text names are asked for, and others where it reads them. */
export function makeAskedCandles(
  columns: readonly string[],
  isNamed: (column: number) => boolean,
  ask: (column: number) => Float64Array,
): object {
  const candles = {};
  columns.forEach((name, n) => {
    let column = isNamed(n) ? ask(n) : null;
    const get = () => column ??= ask(n);
    Object.defineProperty(candles, name, { enumerable: true, ...(column === null ? { get } : { value: column }) });
  });
  return Object.freeze(candles);
}

/** The inputs of a realm by their names. Each has the columns of candles, which are asked for where the script names them or reads them. */
export function makeInputs({ names, candleColumns, isNamed, ask, show }: OpenedInputs): object {
  const make = (input: number, name: string) =>
    show(makeAskedCandles(candleColumns, isNamed, (column) => ask(input, column)), name);
  const inputs: Record<string | symbol, object> = Object.create(null);
  names?.forEach((name, n) => void (inputs[name] = make(n, `inputs.${name}`)));
  const sample = names === null ? make(0, "an input's candles") : null;
  const get = (_: object, name: string | symbol): unknown => {
    if (typeof name === "symbol" || name in inputs) return inputs[name];
    if (names === null) return sample;
    const has = names.length === 0 ? "it has none" : `it has ${names.join(", ")}`;
    throw new Error(`the run has no input ${nameValue(name)}: ${has}; parameters.inputs names them`);
  };
  return new Proxy(Object.freeze(inputs), { get });
}
