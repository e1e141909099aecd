import type { MarginModel } from "../rules/margin/margin_model.ts";
import type { TradingAccount } from "../trading_account.ts";
import { Currencies } from "./currencies.ts";
import type { RateColumns } from "./portfolio.ts";
import type { Seat } from "./seat.ts";

/** The positions of a portfolio by market, and their sums, which each market needs to know of the others. */
export class Positions {
  /** The markets with a position, as listed. */
  readonly held: Seat[] = [];
  readonly #account: TradingAccount;
  readonly #margin: MarginModel;
  readonly #currencies: Currencies;
  readonly #hasCurrencies: boolean;
  // Numbers with a fraction start as NaN (see open_trade.ts).
  #value = NaN;
  #gross = NaN;
  #worst = NaN;
  #worstMaintenance = NaN;

  constructor(account: TradingAccount, margin: MarginModel, currencies: readonly RateColumns[]) {
    this.#account = account;
    this.#margin = margin;
    this.#currencies = new Currencies(currencies);
    this.#hasCurrencies = currencies.length > 0;
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
    return this.held.some(({ quantity }) => this.#margin.mayCall(quantity));
  }

  /** True if equity at the worst prices is below the maintenance margin at them. */
  get isCalled(): boolean {
    return this.#account.cash + this.#worst < this.#worstMaintenance;
  }

  /** Values all positions at the closes of a row, and counts it as held. */
  mark(row: number, instant: number): void {
    let [value, gross] = [0, 0];
    for (const seat of this.held) {
      seat.see(row);
      seat.marksHeld++;
      if (this.#hasCurrencies) this.convert(seat, instant);
      seat.valueAt(lastClose(seat));
      value += seat.value;
      gross += Math.abs(seat.value);
    }
    this.#value = value;
    this.#gross = gross;
    this.#worst = value;
    this.#worstMaintenance = 0;
  }

  /** Values positions at the open of their candle if that is at this instant, the others at their last closes. */
  sumAtOpens(instant: number): void {
    for (const seat of this.held) {
      const next = seat.i + 1;
      if (this.#hasCurrencies) this.convert(seat, instant);
      const opens = next <= seat.last && seat.openOf(next) === instant;
      seat.valueAt(opens ? seat.candles.open[next]! : lastClose(seat));
    }
    this.#sum();
  }

  sumAtLastCloses(instant: number): void {
    for (const seat of this.held) {
      if (this.#hasCurrencies) this.convert(seat, instant);
      seat.valueAt(lastClose(seat));
    }
    this.#sum();
  }

  /** As sumAtLastCloses, before the candles close: a rate whose candle closes with them is not known yet. */
  sumInside(instant: number, closing: readonly Seat[]): void {
    if (this.#hasCurrencies) { for (const seat of closing) seat.isInside = true; }
    for (const seat of this.held) {
      this.convertInside(seat, instant);
      seat.valueAt(lastClose(seat));
    }
    this.#sum();
  }

  /** As sumInside, and for margin calls at the worst prices of the candles that close. */
  sumAtWorst(instant: number, closing: readonly Seat[]): void {
    this.sumInside(instant, closing);
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
    account.elsewhere = this.#value - seat.value;
    account.marginElsewhere = this.#margin.initialOf(this.#gross - Math.abs(seat.value));
    account.worstElsewhere = this.#worst - seat.worstValue;
    account.maintenanceElsewhere = this.#worstMaintenance - seat.worstMaintenance;
  }

  /** Values a market anew after its fills, at its mark. */
  refresh(seat: Seat): void {
    this.#value -= seat.value;
    this.#gross -= Math.abs(seat.value);
    this.#worst -= seat.worstValue;
    this.#worstMaintenance -= seat.worstMaintenance;
    seat.valueAt(seat.mark);
    seat.valueAtWorst(this.#margin);
    this.#value += seat.value;
    this.#gross += Math.abs(seat.value);
    this.#worst += seat.worstValue;
    this.#worstMaintenance += seat.worstMaintenance;
    this.#list(seat);
  }

  /** Converts by the last rate before a market's candle began, or, where none closes at this instant, before this instant. */
  convertInside(seat: Seat, instant: number): void {
    if (seat.currency >= 0) this.convert(seat, seat.isInside ? seat.openOf(seat.opened) : instant - 1);
  }

  convert(seat: Seat, instant: number): void {
    if (seat.currency >= 0) seat.ledger.convertAt(this.#currencies.rateAt(seat.currency, instant));
  }

  #sum(): void {
    let [value, gross, maintenance] = [0, 0, 0];
    for (const seat of this.held) {
      value += seat.value;
      gross += Math.abs(seat.value);
      seat.isAtWorst = false;
      seat.valueAtWorst(this.#margin);
      maintenance += seat.worstMaintenance;
    }
    this.#value = value;
    this.#gross = gross;
    this.#worst = value;
    this.#worstMaintenance = maintenance;
  }

  /** Lists a market that has a position now, and takes away one that has none. */
  #list(seat: Seat): void {
    const isHeld = seat.quantity !== 0;
    if (isHeld === seat.isHeld) return;
    seat.isHeld = isHeld;
    const { held } = this;
    if (!isHeld) held.splice(held.indexOf(seat), 1);
    else {
      const place = held.findIndex(({ index }) => index > seat.index);
      held.splice(place < 0 ? held.length : place, 0, seat);
    }
  }
}

/** A market's first candle, which has only begun, counts by its open. */
function lastClose({ candles: { open, close }, i }: Seat): number {
  return i >= 0 ? close[i]! : open[0]!;
}
