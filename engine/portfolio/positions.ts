import type { Execution } from "../execution.ts";
import type { TradingAccount } from "../trading_account.ts";
import { Currencies } from "./currencies.ts";
import type { RateColumns } from "./portfolio.ts";
import type { Seat } from "./seat.ts";

/** The positions of a portfolio by market, and their sums, which each market needs to know of the others. */
export class Positions {
  /** The markets with a position, as listed. */
  readonly held: Seat[] = [];
  readonly #account: TradingAccount;
  readonly #execution: Execution;
  readonly #currencies: Currencies;
  // Numbers with a fraction start as NaN (see open_trade.ts).
  #value = NaN;
  #margin = NaN;
  #maintenance = NaN;
  #worst = NaN;
  #worstMaintenance = NaN;

  constructor(account: TradingAccount, execution: Execution, currencies: readonly RateColumns[]) {
    this.#account = account;
    this.#execution = execution;
    this.#currencies = new Currencies(currencies);
    this.#value =
      this.#margin =
      this.#maintenance =
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

  /** Equity less the initial margin of all positions; not below 0. */
  get freeMargin(): number {
    return Math.max(0, this.equity - this.#margin);
  }

  /** Adds the values of the markets up. The caller has valued each. */
  sum(): void {
    let [value, margin, maintenance] = [0, 0, 0];
    for (const seat of this.held) {
      value += seat.value;
      margin += seat.margin;
      maintenance += seat.maintenance;
    }
    this.#value = value;
    this.#margin = margin;
    this.#maintenance = maintenance;
    this.#worst = value;
    this.#worstMaintenance = maintenance;
  }

  /** Values every position at its last close. A market's first candle, which has only begun, counts by its open. */
  sumAtLastCloses(instant: number): void {
    for (const seat of this.held) {
      this.convert(seat, instant);
      this.valueAtLastClose(seat);
      seat.isAtWorst = false;
      seat.valueAtWorst(this.#execution);
    }
    this.sum();
  }

  valueAtLastClose(seat: Seat): void {
    const { candles: { open, close }, i } = seat;
    seat.valueAt(i >= 0 ? close[i]! : open[0]!, this.#execution);
  }

  convert(seat: Seat, instant: number): void {
    if (seat.currency >= 0) seat.market.ledger.convertAt(this.#currencies.rateAt(seat.currency, instant));
  }

  /**
   * Values the positions for margin calls: those whose candle closes at its worst price, the others at their last closes.
   *
   * @returns False where no position has a maintenance margin: nothing is valued then.
   */
  valueAtWorst(instant: number, closing: readonly Seat[]): boolean {
    const { held } = this;
    const { marginCall, leverage } = this.#execution;
    if (!marginCall || held.length === 0) return false;
    if (leverage <= 1 && held.every(({ quantity }) => quantity > 0)) return false;
    this.sumAtLastCloses(instant);
    let [value, maintenance] = [0, 0];
    for (const seat of closing) seat.isAtWorst = true;
    for (const seat of held) {
      seat.valueAtWorst(this.#execution);
      value += seat.worstValue;
      maintenance += seat.worstMaintenance;
    }
    this.#worst = value;
    this.#worstMaintenance = maintenance;
    return true;
  }

  /** Tells a market what the account holds in the others. */
  bind(seat: Seat): void {
    const account = this.#account;
    account.elsewhere = this.#value - seat.value;
    account.marginElsewhere = this.#margin - seat.margin;
    account.worstElsewhere = this.#worst - seat.worstValue;
    account.maintenanceElsewhere = this.#worstMaintenance - seat.worstMaintenance;
  }

  /** Values a market anew after its fills, at its mark. */
  refresh(seat: Seat): void {
    this.#value -= seat.value;
    this.#margin -= seat.margin;
    this.#maintenance -= seat.maintenance;
    this.#worst -= seat.worstValue;
    this.#worstMaintenance -= seat.worstMaintenance;
    seat.valueAt(seat.mark, this.#execution);
    seat.valueAtWorst(this.#execution);
    this.#value += seat.value;
    this.#margin += seat.margin;
    this.#maintenance += seat.maintenance;
    this.#worst += seat.worstValue;
    this.#worstMaintenance += seat.worstMaintenance;
    this.#list(seat);
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
