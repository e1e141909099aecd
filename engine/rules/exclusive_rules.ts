/** The effect of an entry on the trades and orders that are there before it. */
export interface ExclusiveRule {
  /** True: when it is placed, all working orders are cancelled and all open trades are closed. */
  readonly replacesAll: boolean;
  /** True: before it is filled, the trades of the other side are closed, and its entries that wait for volume are cancelled. */
  readonly replacesOpposite: boolean;
}

export const EXCLUSIVES = ["opposite", "any", "off"] as const;

/** Where neither is replaced, orders net against the oldest trades. */
export const EXCLUSIVE_RULES: Readonly<Record<(typeof EXCLUSIVES)[number], ExclusiveRule>> = {
  opposite: { replacesAll: false, replacesOpposite: true },
  any: { replacesAll: true, replacesOpposite: false },
  off: { replacesAll: false, replacesOpposite: false },
};
