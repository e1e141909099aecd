import { type Execution, PROFILE_DEFAULTS } from "../../engine/execution.ts";
import type { Candles } from "../../engine/candles.ts";
import type { BandColumns } from "../../engine/indicators/bollinger.ts";
import type { TradingDayColumns } from "../../engine/metrics/input.ts";
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

/** The words that tell a reader why a trade of a built-in strategy was made or left; null where it never does so by an order. */
export interface Reasons {
  readonly long: string;
  readonly short: string | null;
  readonly exit_long: string | null;
  readonly exit_short: string | null;
}

/** A line that a strategy decides by: over the candles in the pane `price`, else with the lines of its pane below them. */
export interface Line {
  readonly name: string;
  readonly pane: string;
  /** A value a candle; NaN where there is none. */
  readonly values: Float64Array;
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
  readonly parameter_schema: ParameterSchema;
  readonly reasons: Reasons;
  /**
   * Creates the strategy for one run.
   *
   * @param parameters Checked against parameter_schema, defaults filled in.
   * @param rules Absent: DEFAULT_RULES.
   * @throws {RangeError} When parameters contradict each other in a way that the schema cannot say.
   */
  create(parameters: Readonly<Record<string, unknown>>, rules?: DecisionRules): BuiltinStrategy;
  /**
   * The lines that it decides by, for a chart; absent: it has none. Their names and panes do not depend on the candles, which may be
   * none.
   *
   * @param parameters As for `create`. @param days The market's trading days; null: days of UTC.
   */
  lines?(
    parameters: Readonly<Record<string, unknown>>,
    candles: Candles,
    days: TradingDayColumns | null,
  ): readonly Line[];
}

/** A line over the candles. */
export function priceLine(name: string, values: Float64Array): Line {
  return { name, pane: "price", values };
}

/** Bands over the candles. */
export function bandLines({ upper, middle, lower }: BandColumns): readonly Line[] {
  return [priceLine("upper band", upper), priceLine("middle band", middle), priceLine("lower band", lower)];
}

/** A level of an oscillator, as a line in its pane. @param count Candles. */
export function levelLine(name: string, pane: string, level: number, count: number): Line {
  return { name, pane, values: new Float64Array(count).fill(level) };
}
