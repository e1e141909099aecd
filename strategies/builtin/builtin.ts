import type { Strategy } from "../../engine/strategy.ts";

/** A parameter as JSON Schema describes it. */
export interface ParameterProperty {
  readonly type: "integer" | "number" | "string" | "boolean";
  readonly description: string;
  readonly default: number | string | boolean;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
}

/** A strategy's parameters as a JSON Schema: every one has a default and bounds, and no other is taken. */
export interface ParameterSchema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, ParameterProperty>>;
  readonly additionalProperties: false;
}

/** A built-in, made for one run. */
export interface BuiltinStrategy extends Strategy {
  /**
   * Candles that it is to be shown before its range begins, as far as they are held, so that it decides the same wherever
   * that is; absent: its warm-up.
   */
  readonly lookback?: number;
}

/** A built-in strategy: its catalogue entry, and how to make one. */
export interface Builtin {
  readonly slug: string;
  readonly name: string;
  /** For a trader: what it does and when. */
  readonly description: string;
  readonly default_frequency: "MINUTE" | "HOURLY" | "DAILY" | "WEEKLY";
  readonly min_candles: number;
  readonly lookback_candles: number;
  readonly default_config: Readonly<Record<string, number | string | boolean>>;
  readonly parameter_schema: ParameterSchema;
  /**
   * A strategy for one run.
   *
   * @param parameters Checked against parameter_schema, defaults filled in.
   * @throws {RangeError} When parameters contradict each other in a way that the schema cannot say.
   */
  create(parameters: Readonly<Record<string, unknown>>): BuiltinStrategy;
}
