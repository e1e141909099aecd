import { type Period, PERIODS, type PortfolioStrategy } from "../../../engine/portfolio/portfolio.ts";
import type { ParameterProperty, ParameterSchema, Reasons } from "../builtin.ts";
import { type Parameters, positiveProperty, readNumber } from "../parameter_schema.ts";
import type { DecisionPlots } from "./decision_lines.ts";

/** Parameters name an instrument that is not among those of the run. */
export class MarketsRefused extends Error {
  override readonly name = "MarketsRefused";

  constructor(readonly parameter: string, message: string) {
    super(message);
  }
}

/** A built-in strategy for a portfolio: its catalogue entry and its constructor. */
export interface PortfolioBuiltin {
  readonly slug: string;
  readonly name: string;
  /** Tells a trader the strategy's rules. */
  readonly description: string;
  readonly parameter_schema: ParameterSchema;
  readonly reasons: Reasons;
  /** The fewest and the most instruments that it can hold. */
  readonly instruments: { readonly min: number; readonly max: number | null };
  /**
   * Creates the strategy for one run.
   *
   * @param parameters Checked against parameter_schema, defaults filled in.
   * @param plots Receives what it decides by; absent: nobody looks.
   * @throws {RangeError} When parameters contradict each other in a way that the schema cannot say.
   */
  create(parameters: Parameters, plots?: DecisionPlots): PortfolioStrategy;
  /** Absent: its parameters name no instruments. @throws {MarketsRefused} When they name others than these. */
  requireMarkets?(parameters: Parameters, markets: readonly { readonly id: string; readonly symbol: string }[]): void;
}

/** The reasons of a strategy without short positions, which restores a weight. @param weight As in "its equal part". */
export function weightReasons(weight: string): Reasons {
  return {
    ...{ long: `less was held than ${weight}`, exit_long: `more was held than ${weight}` },
    ...{ short: null, exit_short: null },
  };
}

/** How often a strategy rebalances. */
export function everyProperty(period: Period): ParameterProperty {
  return {
    type: "string",
    description: "Asked at the first close of each of these periods",
    default: period,
    enum: [...PERIODS],
  };
}

export const MIN_TRADE: ParameterProperty = {
  type: "number",
  description: "Smaller differences from a weight are left, as a fraction of equity (0.01 is 1%)",
  default: 0,
  minimum: 0,
  maximum: 1,
};

export const EXPOSURE: ParameterProperty = positiveProperty(
  "Sum of all weights, as a fraction of equity; above 1 needs leverage",
  1,
  10,
);

/** @throws {TypeError} When the checked parameter is none of the periods: a bug of ours. */
export function readEvery(parameters: Parameters): Period {
  const found = PERIODS.find((period) => period === parameters["every"]);
  if (found === undefined) throw new TypeError(`Cannot read every: it is ${JSON.stringify(parameters["every"])}`);
  return found;
}

export function readMinTrade(parameters: Parameters): number {
  return readNumber(parameters, "minTrade");
}
