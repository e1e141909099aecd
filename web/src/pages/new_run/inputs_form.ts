/** The part of the form that names other candles for the strategy to read. */
import type { Backtest } from "../../api.ts";
import { isRecord } from "../../parts/parameter_fields.ts";

/** Inputs of a run, at most. */
export const INPUTS_MAX = 16;

/** An input as typed; an empty text is that of the run. */
export interface InputForm {
  name: string;
  timeframe: string;
  symbol: string;
  exchange: string;
}

/** The input with which a new one begins: days, beside whatever the run has. */
export function newInput(inputs: readonly InputForm[]): InputForm {
  const names = new Set(inputs.map(({ name }) => name));
  const free = ["daily", ...Array.from({ length: INPUTS_MAX }, (_, n) => `input${n + 1}`)].find((name) =>
    !names.has(name)
  );
  return { name: free ?? "", timeframe: "1d", symbol: "", exchange: "" };
}

/** The values with which the form begins. */
export function startInputs(parameters: Backtest["parameters"] | undefined): InputForm[] {
  const inputs = parameters?.["inputs"];
  if (!isRecord(inputs)) return [];
  const text = (value: unknown) => typeof value === "string" ? value : "";
  return Object.entries(inputs).map(([name, input]) => {
    const { timeframe, symbol, exchange } = isRecord(input) ? input : {};
    return { name, timeframe: text(timeframe), symbol: text(symbol), exchange: text(exchange) };
  });
}

/** The key of `parameters` that the fields stand for; none without inputs. */
export function toInputs(inputs: readonly InputForm[]) {
  if (inputs.length === 0) return {};
  const rows = inputs.map(({ name, ...own }) => {
    const given = Object.entries(own).map(([key, typed]) => [key, typed.trim()] as const).filter(([, typed]) =>
      typed !== ""
    );
    return [name.trim(), Object.fromEntries(given)] as const;
  });
  return { inputs: Object.fromEntries(rows) };
}

/** The field that a refusal is about. @param path Behind `/parameters/inputs`: a name, and a key of it. */
export function inputFieldAt([name, key]: readonly string[], inputs: readonly InputForm[]) {
  const at = inputs.findIndex((input) => input.name.trim() === name);
  const field = key === "timeframe" || key === "symbol" || key === "exchange" ? key : "name";
  return `inputs.${Math.max(0, at)}.${field}` as const;
}
