import { type Execution, PROFILE_DEFAULTS } from "../../engine/execution.ts";
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

/** A strategy's parameters as a JSON Schema: each has a default and bounds, and unknown ones are refused. */
export interface ParameterSchema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, ParameterProperty>>;
  readonly additionalProperties: false;
}

/** A built-in strategy, created for one run. */
export interface BuiltinStrategy extends Strategy {
  /**
   * Candles before the range that the strategy should see, as far as the archive has them, so that its decisions do not
   * depend on the start of the range; absent: its warm-up.
   */
  readonly lookback?: number;
}

/** The settings of a run that change a built-in strategy's decisions. */
export type DecisionRules = Pick<Execution, "crossThroughTouch" | "exclusive" | "allowShort">;

/** The rules of a run without settings. */
export const DEFAULT_RULES: DecisionRules = PROFILE_DEFAULTS.hindcast;

/** A built-in strategy: its catalogue entry and its constructor. */
export interface Builtin {
  readonly slug: string;
  readonly name: string;
  /** Tells a trader the strategy's rules. */
  readonly description: string;
  readonly default_frequency: "MINUTE" | "HOURLY" | "DAILY" | "WEEKLY";
  readonly min_candles: number;
  readonly lookback_candles: number;
  readonly default_config: Readonly<Record<string, number | string | boolean>>;
  readonly parameter_schema: ParameterSchema;
  /**
   * Creates the strategy for one run.
   *
   * @param parameters Checked against parameter_schema, defaults filled in.
   * @param rules Absent: DEFAULT_RULES.
   * @throws {RangeError} When parameters contradict each other in a way that the schema cannot say.
   */
  create(parameters: Readonly<Record<string, unknown>>, rules?: DecisionRules): BuiltinStrategy;
}
