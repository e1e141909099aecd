import type { Candles } from "./candles.ts";
import { Excursions } from "./excursions.ts";
import { AT_CLOSE, Fill } from "./fill.ts";
import { NumberedList } from "./numbered_list.ts";
import { OpenTrade } from "./open_trade.ts";
import type { Lots } from "./rules/lots.ts";
import type { Account } from "./strategy.ts";
import { STILL_OPEN } from "./trade_columns.ts";
import type { TradeLog } from "./trade_log.ts";
import { TradeWatch } from "./trade_watch.ts";
import type { TradingAccount } from "./trading_account.ts";

/** The parts that the ledgers of one account share, and the market's place among them. */
interface Shared {
  readonly account: TradingAccount;
  readonly log: TradeLog;
  /** The market's index. */
  readonly market: number;
  /** False: the trades' mae and mfe are NaN. */
  readonly keepsDetails: boolean;
}

/**
 * The position in one market: its open trades, and the account as a strategy for this market sees it, in the market's currency. Money
 * moves in `enter`, `exit` and `finance`, and in the account's `earn` and `end`, and nowhere else.
 */
export class Ledger implements Account {
  // Numbers with a fraction start as NaN (see open_trade.ts).
  /** Units held, negative when short: whole lots. */
  quantity = NaN;
  entryPrice = NaN;
  /** The worth of one unit of the market's currency in the account's, and the reverse. */
  rate = NaN;
  #inverse = NaN;
  /** Money that the market has given the account less what it has taken, in the account's currency. */
  flow = NaN;
  /** Sum of quantity x entry price over the open trades. */
  #openCost = NaN;
  /** 1 while long, -1 while short, 0 while flat. */
  side = 0;
  /** False while no position may be opened or enlarged: the instrument is no member. */
  isMember = true;
  /** True if an open trade may have a stop, a target or a time limit. */
  hasGuards = false;
  /** True if open trades have changed since the alarms were set. */
  isChanged = false;
  /** Open trades, oldest first, all on one side. */
  readonly open = new NumberedList(() => new OpenTrade());
  readonly account: TradingAccount;
  readonly log: TradeLog;
  readonly market: number;
  readonly #candles: Candles;
  readonly #lots: Lots;
  /** Null: nobody reads them. */
  readonly #excursions: Excursions | null;
  #watch: TradeWatch | null = null;

  constructor(candles: Candles, lots: Lots, { account, log, market, keepsDetails }: Shared) {
    this.#candles = candles;
    this.#lots = lots;
    this.account = account;
    this.log = log;
    this.market = market;
    this.#excursions = keepsDetails ? new Excursions(candles) : null;
    this.quantity = 0;
    this.rate = 1;
    this.#inverse = 1;
    this.flow = 0;
    this.#openCost = 0;
  }

  /** The account's money outside of this market, the value of positions in others included. */
  get cash(): number {
    const { account } = this;
    return (account.cash + account.elsewhere) * this.#inverse;
  }

  /** cash + quantity x close, at the last mark. */
  get equity(): number {
    return this.account.equity * this.#inverse;
  }

  get initialBalance(): number {
    return this.account.initialBalance * this.#inverse;
  }

  /** Trades opened so far, in all markets. */
  get opened(): number {
    return this.account.opened;
  }

  /** Initial margin of the positions in other markets. */
  get marginElsewhere(): number {
    return this.account.marginElsewhere * this.#inverse;
  }

  /** Like `cash`, but the other positions count at the worst prices of their candles. */
  get worstCash(): number {
    const { account } = this;
    return (account.cash + account.worstElsewhere) * this.#inverse;
  }

  get maintenanceElsewhere(): number {
    return this.account.maintenanceElsewhere * this.#inverse;
  }

  /** Sets what one unit of the market's currency is worth from now on. */
  convertAt(rate: number): void {
    this.rate = rate;
    this.#inverse = 1 / rate;
  }

  /** Opens a trade, or adds to the youngest one if the same order opened it. Returns that trade. */
  enter(fill: Fill, side: number, order: number): OpenTrade {
    const { open } = this;
    const { units, price, fee } = fill;
    const value = units * price;
    const { account, rate } = this;
    this.isChanged = true;
    const cost = (side * units * price + fee) * rate;
    account.cash -= cost;
    this.flow -= cost;
    account.feesPaid += fee * rate;
    account.tradedValue += value * rate;
    if (this.side === 0) account.positions++;
    this.quantity = side * this.#lots.settle(Math.abs(this.quantity) + units);
    this.side = side;
    this.#openCost += value;
    let trade = open.count === 0 ? null : open.at(open.count - 1);
    if (trade !== null && trade.order === order) {
      const before = trade.quantity;
      const whole = before * trade.price + value;
      trade.quantity = this.#lots.settle(before + units);
      trade.rate = (before * trade.price * trade.rate + value * rate) / whole;
      trade.price = whole / (before + units);
      trade.fees += fee * rate;
    } else {
      trade = open.append();
      trade.begin(account.opened++, fill, order, rate);
    }
    this.#updateEntryPrice();
    this.#watch?.enter(trade, fill, side);
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
    const { account, rate } = this;
    this.isChanged = true;
    const proceeds = (side * units * price - fee) * rate;
    account.cash += proceeds;
    this.flow += proceeds;
    account.feesPaid += fee * rate;
    account.tradedValue += units * price * rate;
    this.#list(trade, fill, reason);
    this.#watch?.exit(trade, fill, side, reason);
    this.#openCost -= units * trade.price;
    const left = this.#lots.minus(held, units);
    if (left === 0) this.open.remove(trade);
    else {
      const kept = 1 - units / held;
      trade.quantity = left;
      trade.fees *= kept;
      trade.financing *= kept;
    }
    // Flat is exactly 0: a sum of fractions would leave dust.
    if (this.open.count === 0) {
      this.quantity = 0;
      this.side = 0;
      account.positions--;
    } else this.quantity = side * this.#lots.minus(Math.abs(this.quantity), units);
    this.#updateEntryPrice();
  }

  /** Pays (or receives, when positive) financing on one trade. */
  finance(trade: OpenTrade, money: number): void {
    const worth = money * this.rate;
    this.account.cash += worth;
    this.flow += worth;
    trade.financing += worth;
  }

  /** The watch of its trades, from now on. @param tagOf The tag of an order. */
  watch(tagOf: (order: number) => string | null): TradeWatch {
    const { log, market } = this;
    return this.#watch ??= new TradeWatch({ market, candles: this.#candles, tagOf, lastClosed: () => log.last() });
  }

  /** Sets the stop loss and take profit of an open trade; null keeps one. False when there is no such trade. */
  protect(number: number, stopLoss: number | null, takeProfit: number | null): boolean {
    const trade = this.open.find(number);
    if (trade === null) return false;
    if (stopLoss !== null) trade.stopLoss = stopLoss;
    if (takeProfit !== null) trade.takeProfit = takeProfit;
    this.hasGuards ||= trade.isGuarded;
    this.isChanged = true;
    return true;
  }

  /** Lists the open trades in the log, marked at the last close. */
  finish(): void {
    const last = this.#candles.close.length - 1;
    const mark = new Fill();
    mark.at(last, AT_CLOSE, this.#candles.close[last]!, false);
    mark.price = mark.raw;
    mark.fee = 0;
    for (let row = 0; row < this.open.count; row++) {
      const trade = this.open.at(row);
      mark.units = trade.quantity;
      this.#list(trade, mark, STILL_OPEN);
    }
  }

  #list(trade: OpenTrade, fill: Fill, reason: number): void {
    this.#excursions?.measure(trade, this.side, fill);
    this.log.append(this, trade, fill, reason, this.#excursions);
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
}
