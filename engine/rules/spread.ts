/** Settings of execution.ts by these names. */
interface SpreadSettings {
  /** Fraction of price. */
  readonly spread: number;
  readonly spreadOn: (typeof SPREADS_ON)[number];
}

export const SPREADS_ON = ["both", "entry"] as const;

/**
 * The price after spread. Candles hold the middle, and every fill is worse than it: by half the spread at entry and exit
 * (`both`), or by all of it at the entry (`entry`). The candle's own price, without spread, triggers orders.
 *
 * @param side 1 for a buy, -1 for a sell.
 */
export function spreadPrice(execution: SpreadSettings, price: number, side: number, isEntry: boolean): number {
  if (execution.spreadOn === "both") return price * (1 + side * execution.spread / 2);
  return isEntry ? price * (1 + side * execution.spread) : price;
}
