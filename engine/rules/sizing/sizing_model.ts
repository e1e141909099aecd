import type { CommissionModel } from "../commission/commission_model.ts";
import type { Lots } from "../lots.ts";
import type { MarginModel } from "../margin/margin_model.ts";

export const FRACTIONS_OF = ["equity", "free_margin"] as const;
export const SIZING_FEES = ["order", "one_lot"] as const;

/** The rules that a size depends on. */
export interface SizingRules {
  readonly execution: {
    readonly fractionOf: (typeof FRACTIONS_OF)[number];
    readonly sizingFee: (typeof SIZING_FEES)[number];
  };
  readonly lots: Lots;
  readonly commission: CommissionModel;
  readonly margin: MarginModel;
}

/** The account and order that a size is computed from. One object serves a whole run, as a fill does (fill.ts). */
export class SizingInput {
  /** Equity of the account, after the trades that the order closes first. */
  equity = NaN;
  /** Equity less the margin of the trades that stay open; not below 0. A reducing order ties up no margin. */
  freeMargin = NaN;
  /** True if the order may only reduce: the position limits it, and buying power does not. */
  reduces = false;
  /** In the model's unit. */
  size = NaN;
  /** The order's expected fill price with spread and slippage, and without them. */
  price = NaN;
  raw = NaN;
  /** Distance from `price` to the order's stop; NaN when it has none on its losing side. */
  riskPerUnit = NaN;
}

/**
 * Units of an order, in whole lots; 0 for less than one lot, NaN for risk sizing without a usable stop.
 *
 * A reducing order is sized as if the open trades tied up no margin, and buying power does not limit it: a fully invested
 * account can still close units worth a fraction of its equity.
 */
export type SizingModel = (by: SizingInput, rules: SizingRules) => number;

/** Money that limits an order. */
export function buyingPowerOf(by: SizingInput, { margin }: SizingRules): number {
  return by.reduces ? Infinity : margin.buyingPowerOf(by.freeMargin);
}
