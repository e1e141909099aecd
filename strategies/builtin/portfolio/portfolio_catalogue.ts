import { equalWeight } from "./equal_weight.ts";
import { fixedWeights } from "./fixed_weights.ts";
import { inverseVolatility } from "./inverse_volatility.ts";
import { minimumVariance } from "./minimum_variance.ts";
import { momentumRotation } from "./momentum_rotation.ts";
import { pairs } from "./pairs.ts";
import type { PortfolioBuiltin } from "./portfolio_builtin.ts";

/** Every built-in portfolio strategy, in the order of the catalogue. */
export const PORTFOLIO_BUILTINS: readonly PortfolioBuiltin[] = [
  equalWeight,
  fixedWeights,
  inverseVolatility,
  minimumVariance,
  momentumRotation,
  pairs,
];

/** The built-in portfolio strategy of this slug, or undefined. */
export function findPortfolioBuiltin(slug: string): PortfolioBuiltin | undefined {
  return PORTFOLIO_BUILTINS.find((builtin) => builtin.slug === slug);
}
