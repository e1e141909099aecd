import type { Builtin } from "../builtin.ts";
import { BUILTINS } from "../catalogue.ts";
import { PORTFOLIO_BUILTINS } from "../portfolio/portfolio_catalogue.ts";

/** A built-in strategy as the catalogue describes it. */
export type BuiltinDescription = Omit<Builtin, "create" | "lines" | "reasons"> & {
  readonly decides_on: "market" | "markets";
};

/** Every entry of the catalogue that is built in: strategies of one market, then those of a portfolio. */
export const BUILTIN_DESCRIPTIONS: readonly BuiltinDescription[] = [
  ...BUILTINS.map((builtin) => ({ ...builtin, decides_on: "market" as const })),
  ...PORTFOLIO_BUILTINS.map(({ slug, name, description, parameter_schema }) => ({
    slug,
    name,
    description,
    default_frequency: "DAILY" as const,
    min_candles: 1,
    lookback_candles: 0,
    parameter_schema,
    decides_on: "markets" as const,
  })),
];

/** The entry of this slug, or undefined. */
export function findDescription(slug: string): BuiltinDescription | undefined {
  return BUILTIN_DESCRIPTIONS.find((description) => description.slug === slug);
}
