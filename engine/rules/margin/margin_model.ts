/** A market's position, and the rest of its account. Passed as one object, so that V8 allocates none for each number (fill.ts). */
export interface Holding {
  /** Money of the account outside of this market: cash, and the value of positions in others. */
  readonly cash: number;
  /** Units, signed. */
  readonly quantity: number;
  /** Initial margin of the positions in other markets. */
  readonly marginElsewhere: number;
  /** Like `cash`, but with the other positions at the worst prices of their candles, and their maintenance margin there. */
  readonly worstCash: number;
  readonly maintenanceElsewhere: number;
}

/** How much money positions tie up, and when the broker closes them. Values and margins are money. */
export interface MarginModel {
  /** The initial margin of positions. @param value Of all of them, without signs. */
  initialOf(value: number): number;
  /**
   * Free equity: equity less the initial margin of the open units of all markets, not below 0.
   *
   * @param quantity Open units, signed. @param price The price that values them.
   */
  freeOf(equity: number, quantity: number, price: number, elsewhere: Pick<Holding, "marginElsewhere">): number;
  /** Buying power: the value of the positions that free equity may open. */
  buyingPowerOf(free: number): number;
  /** The maintenance margin of a position. */
  maintenanceOf(quantity: number, price: number): number;
  /** True if a position of this many units may be called at some price. */
  mayCall(quantity: number): boolean;
  /**
   * True if a margin call is due for a market with a position: equity with this market at this price is below the maintenance
   * margin of all positions.
   */
  isCalled(holding: Holding, price: number): boolean;
  /**
   * The price beyond which a margin call is due in an account with one market: below it for a long, above it for a short.
   * NaN when none can be.
   */
  callPriceOf(holding: Pick<Holding, "cash" | "quantity">): number;
}
