/** Values the positions of a portfolio. All is in columns by market, so that sums over all markets read no objects. */
export class Valuation {
  /** Units held, negative when short. */
  readonly quantity: Float64Array;
  /** The worth of one unit of the market's currency, in the account's currency. */
  readonly rate: Float64Array;
  /** The price that values the position, and its value there in the account's currency. */
  readonly mark: Float64Array;
  readonly value: Float64Array;

  constructor(markets: number) {
    this.quantity = new Float64Array(markets);
    this.rate = new Float64Array(markets).fill(1);
    this.mark = new Float64Array(markets).fill(NaN);
    this.value = new Float64Array(markets);
  }
}
