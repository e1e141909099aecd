import type { Execution } from "../execution.ts";

/**
 * The price after spread. Candles hold the middle; every fill, whatever its order type, is worse than it: by half the
 * spread at entry and at exit (`both`), or by all of it at the entry and nothing at the exit (`entry`). What triggers an
 * order is the candle's own price, without spread.
 *
 * @param side 1 for a buy, -1 for a sell.
 */
export function spreadPrice(execution: Execution, price: number, side: number, isEntry: boolean): number {
  if (execution.spreadOn === "both") return price * (1 + side * execution.spread / 2);
  return isEntry ? price * (1 + side * execution.spread) : price;
}
