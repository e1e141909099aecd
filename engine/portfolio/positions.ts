import type { MarginModel } from "../rules/margin/margin_model.ts";
import type { TradingAccount } from "../trading_account.ts";
import { Currencies } from "./currencies.ts";
import type { RateColumns } from "./portfolio.ts";
import { PriceWindow } from "./price_window.ts";
import type { Seat } from "./seat.ts";
import type { Valuation } from "./valuation.ts";

/** The rules and columns that value a portfolio's positions. */
interface PositionParts {
  readonly account: TradingAccount;
  readonly margin: MarginModel;
  /** False: no position can be called, and worst prices are not looked at. */
  readonly mayCall: boolean;
  readonly currencies: readonly RateColumns[];
  readonly valuation: Valuation;
}

/** The positions of a portfolio by market, and their sums, which each market needs to know of the others. */
export class Positions {
  /** The markets with a position, as listed. */
  readonly held: Seat[] = [];
  /** Markets without a position that had fills since the reader of this set last emptied it. */
  readonly ended = new Set<Seat>();
  readonly #account: TradingAccount;
  readonly #margin: MarginModel;
  readonly #mayCall: boolean;
  readonly #currencies: Currencies;
  readonly #hasCurrencies: boolean;
  readonly #valuation: Valuation;
  readonly #prices: PriceWindow;
  /** The indexes of `held`. */
  readonly #indexes: Int32Array;
  /** Positions that a margin call may close. */
  #callable = 0;
  /** Marks so far. */
  #marks = 0;
  // Numbers with a fraction start as NaN (see open_trade.ts).
  #value = NaN;
  #gross = NaN;
  #worst = NaN;
  #worstMaintenance = NaN;

  constructor({ account, margin, mayCall, currencies, valuation }: PositionParts) {
    const markets = valuation.value.length;
    this.#account = account;
    this.#margin = margin;
    this.#mayCall = mayCall;
    this.#currencies = new Currencies(currencies);
    this.#hasCurrencies = currencies.length > 0;
    this.#valuation = valuation;
    this.#prices = new PriceWindow(markets, mayCall);
    this.#indexes = new Int32Array(markets);
    this.#value =
      this.#gross =
      this.#worst =
      this.#worstMaintenance =
        0;
  }

  /** Cash and all positions at their marks. */
  get equity(): number {
    return this.#account.cash + this.#value;
  }

  /** Value of all positions, negative for more short than long. */
  get value(): number {
    return this.#value;
  }

  /** The same without regard to sides. */
  get gross(): number {
    return this.#gross;
  }

  /** Equity less the initial margin of all positions; not below 0. */
  get freeMargin(): number {
    return Math.max(0, this.equity - this.#margin.initialOf(this.#gross));
  }

  /** True if a position has a maintenance margin. */
  get hasMargin(): boolean {
    return this.#callable > 0;
  }

  /** True if equity at the worst prices is below the maintenance margin at them. */
  get isCalled(): boolean {
    return this.#account.cash + this.#worst < this.#worstMaintenance;
  }

  /** True if the worst prices of the candles that close in a row may call the account, as it was marked before. */
  mayBeCalledIn(row: number): boolean {
    // The window has prices in the currencies of the markets, and no rates at which to convert them.
    if (this.#hasCurrencies) return true;
    const { quantity, rate } = this.#valuation;
    const window = this.#prices;
    window.reach(row, this.held);
    const place = window.placeOf(row);
    let [value, maintenance] = [0, 0];
    for (const { index } of this.held) {
      const units = quantity[index]!;
      const price = (units > 0 ? window.low : window.high)[place + index * window.stride]!;
      value += units * price * rate[index]!;
      maintenance += this.#margin.maintenanceOf(units, price) * rate[index]!;
    }
    return this.#account.cash + value < maintenance;
  }

  /** Values all positions at the closes of a row, and counts it as held. */
  mark(row: number, instant: number): void {
    this.#marks++;
    if (this.#hasCurrencies) this.#convertHeld(instant);
    this.#sumAt(this.#prices.close, row);
    this.#worst = this.#value;
    this.#worstMaintenance = 0;
  }

  /** Values positions at the open of their candle if that is at this instant, the others at their last closes. @param row See `mark`. */
  sumAtOpens(row: number, instant: number, isAligned: boolean): void {
    if (this.#hasCurrencies) this.#convertHeld(instant);
    if (isAligned) this.#sumAt(this.#prices.open, row);
    else {
      const { mark } = this.#valuation;
      for (const seat of this.held) {
        seat.see(row - 1);
        const next = seat.i + 1;
        const opens = next <= seat.last && seat.openOf(next) === instant;
        mark[seat.index] = opens ? seat.candles.open[next]! : seat.lastClose;
      }
      this.#sum();
    }
    this.#sumWorst();
  }

  sumAtLastCloses(row: number, instant: number): void {
    if (this.#hasCurrencies) this.#convertHeld(instant);
    this.#sumAt(this.#prices.close, row);
    this.#sumWorst();
  }

  /**
   * Like sumAtLastCloses of the row before, while the candles of a row close: a rate that comes with their closes is not known yet.
   *
   * @param ahead Markets of the row that count by their new close already.
   */
  sumInside(row: number, instant: number, ahead: readonly Seat[] = []): void {
    if (this.#hasCurrencies) { for (const seat of this.held) this.convertInside(seat, row, instant); }
    this.#sumAt(this.#prices.close, row - 1);
    if (ahead.length > 0) {
      for (const seat of ahead) this.#valuation.mark[seat.index] = seat.lastClose;
      this.#sum();
    }
    this.#sumWorst();
  }

  /** Like sumInside, and for margin calls at the worst prices of the candles that close. */
  sumAtWorst(row: number, instant: number, closing: readonly Seat[]): void {
    this.sumInside(row, instant);
    let [value, maintenance] = [0, 0];
    for (const seat of closing) seat.isAtWorst = true;
    for (const seat of this.held) {
      seat.valueAtWorst(this.#margin);
      value += seat.worstValue;
      maintenance += seat.worstMaintenance;
    }
    this.#worst = value;
    this.#worstMaintenance = maintenance;
  }

  /** Tells a market what the account holds in the others. */
  bind(seat: Seat): void {
    const account = this.#account;
    const { value } = seat;
    account.elsewhere = this.#value - value;
    account.marginElsewhere = this.#margin.initialOf(this.#gross - Math.abs(value));
    account.worstElsewhere = this.#worst - seat.worstValue;
    account.maintenanceElsewhere = this.#worstMaintenance - seat.worstMaintenance;
  }

  /** Values a market anew after its fills, at its mark. */
  refresh(seat: Seat): void {
    const before = seat.value;
    this.#worst -= seat.worstValue;
    this.#worstMaintenance -= seat.worstMaintenance;
    seat.valueAt(seat.mark);
    seat.valueAtWorst(this.#margin);
    const { value } = seat;
    this.#value = this.#value - before + value;
    this.#gross = this.#gross - Math.abs(before) + Math.abs(value);
    this.#worst += seat.worstValue;
    this.#worstMaintenance += seat.worstMaintenance;
    this.#list(seat);
  }

  /** Converts by the last rate before the market's candle began that closes in a row or, where none does, before the row's instant. */
  convertInside(seat: Seat, row: number, instant: number): void {
    if (seat.currency >= 0) this.convert(seat, seat.openClosingIn(row) ?? instant - 1);
  }

  convert(seat: Seat, instant: number): void {
    if (seat.currency < 0) return;
    const rate = this.#currencies.rateAt(seat.currency, instant);
    seat.ledger.convertAt(rate);
    this.#valuation.rate[seat.index] = rate;
  }

  /** Counts the marks of the positions that are still held. */
  finish(): void {
    for (const seat of this.held) seat.marksHeld += this.#marks;
  }

  #convertHeld(instant: number): void {
    for (const seat of this.held) this.convert(seat, instant);
  }

  /** Values the positions at a row of a column of the window. */
  #sumAt(prices: Float64Array, row: number): void {
    const window = this.#prices;
    window.reach(row, this.held);
    const { quantity, rate, mark, value: values } = this.#valuation;
    const indexes = this.#indexes;
    const { stride } = window;
    const place = window.placeOf(row);
    const { length } = this.held;
    let [value, gross] = [0, 0];
    for (let n = 0; n < length; n++) {
      const index = indexes[n]!;
      const price = prices[place + index * stride]!;
      const worth = quantity[index]! * price * rate[index]!;
      mark[index] = price;
      values[index] = worth;
      value += worth;
      gross += Math.abs(worth);
    }
    this.#value = value;
    this.#gross = gross;
  }

  /** Values the positions at their marks. */
  #sum(): void {
    const { quantity, rate, mark, value: values } = this.#valuation;
    const indexes = this.#indexes;
    const { length } = this.held;
    let [value, gross] = [0, 0];
    for (let n = 0; n < length; n++) {
      const index = indexes[n]!;
      const worth = quantity[index]! * mark[index]! * rate[index]!;
      values[index] = worth;
      value += worth;
      gross += Math.abs(worth);
    }
    this.#value = value;
    this.#gross = gross;
  }

  /** Outside of the inside of candles, positions are at their marks. */
  #sumWorst(): void {
    this.#worst = this.#value;
    this.#worstMaintenance = 0;
    if (!this.#mayCall) return;
    let maintenance = 0;
    for (const seat of this.held) {
      seat.isAtWorst = false;
      seat.valueAtWorst(this.#margin);
      maintenance += seat.worstMaintenance;
    }
    this.#worstMaintenance = maintenance;
  }

  /** Lists a market that has a position now, and takes away one that has none. */
  #list(seat: Seat): void {
    const { quantity, index } = seat;
    this.#valuation.quantity[index] = quantity;
    const isCallable = this.#margin.mayCall(quantity);
    if (isCallable !== seat.isCallable) {
      seat.isCallable = isCallable;
      this.#callable += isCallable ? 1 : -1;
    }
    const isHeld = quantity !== 0;
    if (!isHeld) this.ended.add(seat);
    if (isHeld === seat.isHeld) return;
    seat.isHeld = isHeld;
    const { held } = this;
    if (isHeld) {
      const place = held.findIndex((other) => other.index > index);
      held.splice(place < 0 ? held.length : place, 0, seat);
      this.#prices.add(seat);
      seat.marksHeld -= this.#marks;
    } else {
      held.splice(held.indexOf(seat), 1);
      seat.marksHeld += this.#marks;
    }
    for (let n = 0; n < held.length; n++) this.#indexes[n] = held[n]!.index;
  }
}
