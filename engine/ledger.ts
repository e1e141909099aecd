import { BalanceLog } from "./balance_log.ts";
import type { BufferPool } from "./buffer_pool.ts";
import type { Candles } from "./candles.ts";
import { AT_CLOSE, Fill } from "./fill.ts";
import { NumberedList } from "./numbered_list.ts";
import { OpenTrade } from "./open_trade.ts";
import type { Lots } from "./rules/lots.ts";
import type { Account } from "./strategy.ts";
import { STILL_OPEN } from "./trade_columns.ts";
import { TradeLog } from "./trade_log.ts";

/** Cash, open trades and closed trades. Money moves in `enter`, `exit`, `finance`, `earn` and `writeOff`, and nowhere else. */
export class Ledger implements Account {
  // Numbers with a fraction start as NaN (see open_trade.ts).
  cash = NaN;
  equity = NaN;
  /** Units held, negative when short: whole lots. */
  quantity = NaN;
  entryPrice = NaN;
  feesPaid = NaN;
  tradedValue = NaN;
  /** Money that cash has earned. */
  interest = NaN;
  /** Sum of quantity x entry price over the open trades. */
  #openCost = NaN;
  /** 1 while long, -1 while short, 0 while flat. */
  side = 0;
  /** True if an open trade may have a stop, a target or a time limit. */
  hasGuards = false;
  /** True if open trades have changed since the alarms were set. */
  isChanged = false;
  /** Open trades, oldest first, all on one side. */
  readonly open = new NumberedList(() => new OpenTrade());
  /** Trades opened so far. */
  opened = 0;
  readonly log: TradeLog;
  readonly balances: BalanceLog;
  readonly initialBalance: number;
  readonly #candles: Candles;
  readonly #lots: Lots;

  /** @param keepsDetails False: the trades' mae and mfe are NaN, and the balances are empty. */
  constructor(
    candles: Candles,
    initialBalance: number,
    lots: Lots,
    { pool, keepsDetails }: { readonly pool: BufferPool | null; readonly keepsDetails: boolean },
  ) {
    this.initialBalance = initialBalance;
    this.#candles = candles;
    this.#lots = lots;
    this.log = new TradeLog(candles, pool, keepsDetails);
    this.balances = new BalanceLog(initialBalance, pool, keepsDetails);
    this.cash = initialBalance;
    this.equity = initialBalance;
    this.quantity = 0;
    this.feesPaid = 0;
    this.tradedValue = 0;
    this.interest = 0;
    this.#openCost = 0;
  }

  /** Opens a trade, or adds to the youngest one if the same order opened it. Returns that trade. */
  enter(fill: Fill, side: number, order: number): OpenTrade {
    const { open } = this;
    const { units, price, fee } = fill;
    const value = units * price;
    this.isChanged = true;
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
    this.isChanged = true;
    this.cash += side * units * price - fee;
    this.feesPaid += fee;
    this.tradedValue += units * price;
    this.log.append(trade, this.side, fill, reason);
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
    } else this.quantity = side * this.#lots.minus(Math.abs(this.quantity), units);
    this.#updateEntryPrice();
  }

  /** Pays (or receives, when positive) financing on one trade. */
  finance(trade: OpenTrade, money: number): void {
    this.cash += money;
    trade.financing += money;
  }

  /** Receives interest on cash, which belongs to no trade. */
  earn(money: number): void {
    this.cash += money;
    this.interest += money;
  }

  /** Sets the stop loss and take profit of an open trade; false when there is no such trade. */
  protect(number: number, stopLoss: number, takeProfit: number): boolean {
    const trade = this.open.find(number);
    if (trade === null) return false;
    trade.stopLoss = stopLoss;
    trade.takeProfit = takeProfit;
    this.hasGuards ||= trade.isGuarded;
    this.isChanged = true;
    return true;
  }

  /**
   * Sets cash and equity to 0 after everything was closed at a loss beyond the account. The broker bears the excess: it is
   * credited to the last `trades` rows of the log, in proportion to their quantities.
   *
   * @param row Of the run's equity.
   */
  writeOff(row: number, trades: number): void {
    this.log.credit(trades, -this.cash);
    this.cash = 0;
    this.equity = 0;
    this.balances.mark(row, this.cash, this.quantity);
  }

  /** Values the account at the close of a row of the run's equity. */
  mark(row: number, close: number): number {
    const { cash, quantity } = this;
    this.balances.mark(row, cash, quantity);
    return this.equity = cash + quantity * close;
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
      this.log.append(trade, this.side, mark, STILL_OPEN);
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
}
