import type { Candles } from "../candles.ts";
import type { Ledger } from "../ledger.ts";
import type { Market } from "../market.ts";
import type { MarginModel } from "../rules/margin/margin_model.ts";
import type { MarketView, Membership, PortfolioMarket, RankedStrategy } from "./portfolio.ts";
import type { CloseRows } from "./timeline.ts";
import type { Valuation } from "./valuation.ts";

/** A market's place in a portfolio: how far it has come, what it is worth, and what is asked of it. */
export class Seat implements MarketView {
  readonly index: number;
  readonly id: string;
  readonly symbol: string;
  readonly exchange: string;
  readonly candles: Candles;
  readonly market: Market;
  readonly ledger: Ledger;
  readonly closes: CloseRows;
  readonly firstIndex: number;
  /** The market's last candle. */
  readonly last: number;
  /** Row of the currencies; -1: the account's. */
  readonly currency: number;
  readonly isDelisted: boolean;
  /** The strategy of this market alone; null where one strategy decides on all. */
  readonly strategy: RankedStrategy | null;
  readonly #valuation: Valuation;
  readonly #opens: Float64Array;
  readonly #memberships: readonly Membership[] | null;
  /** The newest candle that has closed, and the newest that has begun. */
  i: number;
  opened: number;
  hasClosed = false;
  isMember = true;
  /** True if something happened, or may still happen, in the candle that has begun. */
  isDue = false;
  /** True while its candle closes, for margin calls: it may have been at its worst price when the others were. */
  isAtWorst = false;
  /** True if it is among the positions of the portfolio. */
  isHeld = false;
  /** True if its position has a maintenance margin. */
  isCallable = false;
  /** The candle of the strategy's next decision, and the quantity that it was told for. */
  next = 0;
  quantityTold = 0;
  // Numbers with a fraction start as NaN (see open_trade.ts).
  /** The worst value of the position in its candle, and its maintenance margin there, in the account's currency. */
  worstValue = NaN;
  worstMaintenance = NaN;
  weight = NaN;
  /** Interest on borrowed money that its trades pay at the next open, in the account's currency. */
  loan = NaN;
  /** The weight that its next open brings it to; NaN: none. The rest of the target's terms. */
  target = NaN;
  minTrade = NaN;
  tag: string | null = null;
  /** Number of the order of its last target; -1: none. */
  targetOrder = -1;
  /** Money of the target's increase. */
  budget = NaN;
  /** Marks with a position. */
  marksHeld = 0;

  constructor(
    input: PortfolioMarket,
    market: Market,
    { closes, strategy, valuation }: {
      readonly closes: CloseRows;
      readonly strategy: RankedStrategy | null;
      readonly valuation: Valuation;
    },
  ) {
    const { candles, firstIndex, hours = null, memberships = null, isDelisted = false, currency = null } = input;
    this.index = market.index;
    this.id = input.id;
    this.symbol = input.symbol;
    this.exchange = input.exchange;
    this.candles = candles;
    this.market = market;
    this.ledger = market.ledger;
    this.closes = closes;
    this.firstIndex = firstIndex;
    this.last = candles.close.length - 1;
    this.currency = currency ?? -1;
    this.isDelisted = isDelisted;
    this.strategy = strategy;
    this.#valuation = valuation;
    this.#opens = hours === null ? candles.time : hours.opens;
    this.#memberships = memberships;
    this.i = firstIndex - 1;
    this.opened = firstIndex - 1;
    this.worstValue =
      this.worstMaintenance =
      this.weight =
      this.loan =
        0;
  }

  get quantity(): number {
    return this.ledger.quantity;
  }

  get entryPrice(): number {
    return this.ledger.entryPrice;
  }

  /** The price that values the position. */
  get mark(): number {
    return this.#valuation.mark[this.index]!;
  }

  /** The value of the position at its mark, in the account's currency. */
  get value(): number {
    return this.#valuation.value[this.index]!;
  }

  /** The market's newest close. A first candle, which has only begun, counts by its open. */
  get lastClose(): number {
    const { open, close } = this.candles;
    return this.i >= 0 ? close[this.i]! : open[0]!;
  }

  /** True if it has a position, working orders or a target, so that each of its candles counts. */
  get isActive(): boolean {
    return this.quantity !== 0 || this.market.book.workingOrders > 0 || !Number.isNaN(this.target);
  }

  /** The instant at which candle `i` begins. */
  openOf(i: number): number {
    return this.#opens[i]!;
  }

  /** The row before whose close candle `i` begins, after the decisions of the row before. */
  openRowOf(i: number, instant: Float64Array): number {
    const open = this.#opens[i]!;
    let row = this.closes.rowOf(i);
    while (row > 0 && instant[row - 1]! > open) row--;
    return row;
  }

  isMemberAt(instant: number): boolean {
    return this.#memberships === null ||
      this.#memberships.some(({ from, until }) => from <= instant && instant < until);
  }

  /**
   * Brings an idle market to a row: its newest closed candle, and the newest that has begun before the row's instant.
   *
   * @param isAligned True if none has begun (Timeline).
   */
  follow(row: number, instant: number, isAligned: boolean): void {
    const { last } = this;
    this.i = this.closes.newestIn(row, last);
    this.opened = !isAligned && this.i < last && this.#opens[this.i + 1]! < instant ? this.i + 1 : this.i;
  }

  /** Takes over the candles that have closed up to a row, in which nothing has happened. */
  see(row: number): void {
    const { closes, last } = this;
    let { i } = this;
    if (this.opened > i) return;
    if (closes.hasGaps) { while (i < last && closes.rowOf(i + 1) <= row) i++; }
    else i = Math.max(i, closes.newestIn(row, last));
    this.i = this.opened = i;
  }

  /** The instant at which its candle began that closes in a row; null where none does. It may sleep, or have been walked already. */
  openClosingIn(row: number): number | null {
    this.see(row - 1);
    const { opened, last, closes } = this;
    for (let i = opened; i <= Math.min(last, opened + 1); i++) if (closes.rowOf(i) === row) return this.openOf(i);
    return null;
  }

  /** Values the position at a price. */
  valueAt(price: number): void {
    const { mark, value } = this.#valuation;
    const { quantity, rate } = this.ledger;
    mark[this.index] = price;
    value[this.index] = quantity * price * rate;
  }

  /** Values the position at the worst price of the candle that closes, or at its mark. */
  valueAtWorst(margin: MarginModel): void {
    const { quantity, rate } = this.ledger;
    const { low, high } = this.candles;
    const price = !this.isAtWorst ? this.mark : quantity > 0 ? low[this.opened]! : high[this.opened]!;
    this.worstValue = quantity * price * rate;
    this.worstMaintenance = margin.maintenanceOf(quantity, price) * rate;
  }
}
