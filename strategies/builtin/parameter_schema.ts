import { newDraft, type OrderDraft } from "../../engine/strategy.ts";
import type { DecisionRules, ParameterProperty, ParameterSchema } from "./builtin.ts";

export type Parameters = Readonly<Record<string, unknown>>;

/** The longest window of a built-in strategy, in candles. */
const PERIOD_CANDLES_MAX = 10_000;

/** The schema of a window length in candles. */
export function periodProperty(description: string, candles: number, candlesMin = 1): ParameterProperty {
  return { type: "integer", description, default: candles, minimum: candlesMin, maximum: PERIOD_CANDLES_MAX };
}

/** The schema of a level of an oscillator between 0 and 100. */
export function levelProperty(description: string, level: number): ParameterProperty {
  return { type: "number", description, default: level, minimum: 0, maximum: 100 };
}

/** The schema of a number above 0. */
export function positiveProperty(description: string, value: number, most: number): ParameterProperty {
  return { type: "number", description, default: value, exclusiveMinimum: 0, maximum: most };
}

/** The sides that a strategy may take. */
export const DIRECTION: ParameterProperty = {
  type: "string",
  description: "both: long and short positions; long: leaves the market instead of going short",
  default: "both",
  enum: ["both", "long"],
};

export const TAKE_PROFIT_LEVEL: ParameterProperty = {
  type: "number",
  description: "Take profit this far from the entry price, as a fraction of it (0.05 is 5%); 0: none",
  default: 0,
  minimum: 0,
  maximum: 100,
};

const STOP_LOSS_LEVEL: ParameterProperty = {
  type: "number",
  description: "Stop loss this far from the entry price, as a fraction of it (0.02 is 2%); 0: none",
  default: 0,
  minimum: 0,
  maximum: 1,
};

/** The schema of these parameters and no others. */
export function schemaOf(properties: ParameterSchema["properties"]): ParameterSchema {
  return { type: "object", properties, additionalProperties: false };
}

/** The same, and of the parameters that readShorts() and entryDraft() read. */
export function entrySchema(own: ParameterSchema["properties"]): ParameterSchema {
  const entry = { direction: DIRECTION, takeProfitLevel: TAKE_PROFIT_LEVEL, stopLossLevel: STOP_LOSS_LEVEL };
  return schemaOf({ ...own, ...entry });
}

/**
 * Reads a numeric parameter. Its schema was checked and defaults are filled in, so anything else is a bug of ours.
 *
 * @throws {TypeError} When it is absent or no number.
 */
export function readNumber(parameters: Parameters, name: string): number {
  const value = parameters[name];
  if (typeof value === "number") return value;
  throw new TypeError(`Cannot read the parameter ${name} as a number: it is ${JSON.stringify(value)}`);
}

/** True if the strategy may go short: its direction and the account allow it. */
export function readShorts(parameters: Parameters, { allowShort }: DecisionRules): boolean {
  return allowShort && parameters["direction"] === "both";
}

/** A market entry with the stop loss and take profit of the parameters; a level of 0 is none. */
export function entryDraft(parameters: Parameters): OrderDraft {
  return {
    ...newDraft(),
    takeProfitFraction: levelOf(parameters["takeProfitLevel"]),
    stopLossFraction: levelOf(parameters["stopLossLevel"]),
  };
}

function levelOf(level: unknown): number {
  return typeof level === "number" && level > 0 ? level : NaN;
}
