import type { Candles } from "./candles.ts";
import { Excursions } from "./excursions.ts";
import { Fill } from "./fill.ts";
import { NumberedList } from "./numbered_list.ts";
import { AT_CLOSE, OpenTrade } from "./open_trades.ts";
import type { Lots } from "./rules/lots.ts";
import type { Account } from "./strategy.ts";
import { TradeLog } from "./trade_log.ts";
import { STILL_OPEN } from "./trade_columns.ts";

/** Cash, what is open, and what was closed. Every fill passes through `enter` or `exit`: money is moved nowhere else. */
export class Ledger implements Account {
  // Numbers with a fraction begin as NaN, for the reason that open_trades.ts has.
  cash = NaN;
  equity = NaN;
  /** Units held, negative when short: whole lots. */
  quantity = NaN;
  entryPrice = NaN;
  feesPaid = NaN;
  tradedValue = NaN;
  /** Sum of quantity x entry price over what is open. */
  #openCost = NaN;
  /** 1 while long, -1 while short, 0 while flat. */
  side = 0;
  /** The trades that are open, oldest first, all on one side. */
  readonly open = new NumberedList(() => new OpenTrade());
  /** Trades that were ever opened. */
  opened = 0;
  readonly log = new TradeLog();
  readonly initialBalance: number;
  readonly #candles: Candles;
  readonly #lots: Lots;
  readonly #excursions: Excursions;

  constructor(candles: Candles, initialBalance: number, lots: Lots) {
    this.initialBalance = initialBalance;
    this.#candles = candles;
    this.#lots = lots;
    this.#excursions = new Excursions(candles);
    this.cash = initialBalance;
    this.equity = initialBalance;
    this.quantity = 0;
    this.feesPaid = 0;
    this.tradedValue = 0;
    this.#openCost = 0;
  }

  /** Opens a trade, or adds to the youngest one when the same order opened it, and returns it. */
  enter(fill: Fill, side: number, order: number): OpenTrade {
    const { open } = this;
    const { units, price, fee } = fill;
    const value = units * price;
    this.cash -= side * units * price + fee;
    this.feesPaid += fee;
    this.tradedValue += value;
    this.quantity = side * this.#lots.settle(Math.abs(this.quantity) + units);
    this.side = side;
    this.#openCost += value;
    let trade = open.count === 0 ? null : open.at(open.count - 1);
    if (trade !== null && trade.order === order) {
      const before = trade.quantity;
      const cost = before * trade.price + value;
      trade.quantity = this.#lots.settle(before + units);
      trade.price = cost / (before + units);
      trade.fees += fee;
    } else {
      trade = open.append();
      trade.begin(this.opened++, fill, order);
    }
    this.#updateEntryPrice();
    return trade;
  }

  /**
   * Closes units of an open trade: all of it, or a part, which becomes a trade of its own in the log.
   *
   * @param reason Index into EXIT_REASONS.
   */
  exit(trade: OpenTrade, fill: Fill, reason: number): void {
    const { units, price, fee } = fill;
    const held = trade.quantity;
    const side = this.side;
    this.cash += side * units * price - fee;
    this.feesPaid += fee;
    this.tradedValue += units * price;
    this.#logExit(trade, fill, reason);
    this.#openCost -= units * trade.price;
    const left = this.#lots.minus(held, units);
    if (left === 0) this.open.remove(trade);
    else {
      const kept = 1 - units / held;
      trade.quantity = left;
      trade.fees *= kept;
      trade.financing *= kept;
    }
    // Flat is exactly flat: a sum of fractions would leave dust behind.
    if (this.open.count === 0) {
      this.quantity = 0;
      this.side = 0;
    } else this.quantity = side * this.#lots.minus(Math.abs(this.quantity), units);
    this.#updateEntryPrice();
  }

  /** Pays (or receives, when positive) financing on one trade. */
  finance(trade: OpenTrade, money: number): void {
    this.cash += money;
    trade.financing += money;
  }

  /** Lists what is open as open trades, marked at the last close. */
  finish(): void {
    const last = this.#candles.close.length - 1;
    const mark = new Fill();
    mark.at(last, AT_CLOSE, this.#candles.close[last]!, false);
    mark.price = mark.raw;
    mark.fee = 0;
    for (let row = 0; row < this.open.count; row++) {
      const trade = this.open.at(row);
      mark.units = trade.quantity;
      this.#logExit(trade, mark, STILL_OPEN);
    }
  }

  #updateEntryPrice(): void {
    const { open } = this;
    if (open.count === 1) {
      const only = open.at(0);
      this.#openCost = only.quantity * only.price;
      this.entryPrice = only.price;
      return;
    }
    if (open.count === 0) this.#openCost = 0;
    this.entryPrice = this.#openCost / Math.abs(this.quantity);
  }

  #logExit(trade: OpenTrade, fill: Fill, reason: number): void {
    this.#excursions.measure(trade, this.side, fill);
    this.log.append(trade, this.side, fill, reason, this.#excursions);
  }
}
