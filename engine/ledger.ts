import type { Candles } from "./candles.ts";
import { Extremes } from "./extremes.ts";
import * as open from "./open_trades.ts";
import type { OrderLog } from "./order_log.ts";
import type { Account } from "./strategy.ts";
import { lotsLeft } from "./rules/lots.ts";
import { TradeLog, type TradeRow } from "./trade_log.ts";
import { STILL_OPEN } from "./trades.ts";

// Where the account's numbers stand.
const CASH = 0;
const EQUITY = 1;
const QUANTITY = 2;
const ENTRY_PRICE = 3;
const FEES_PAID = 4;
const TRADED_VALUE = 5;
const OPEN_COST = 6;
const NUMBERS = 7;

/** Cash, what is open, and what was closed. Every fill passes through `enter` or `exit`: money is moved nowhere else. */
export class Ledger implements Account {
  // Not plain fields: each new value of a field with a fraction would be a new object.
  readonly #numbers = new Float64Array(NUMBERS);
  /** 1 while long, -1 while short, 0 while flat. */
  side = 0;
  readonly open = new open.OpenTrades();
  readonly log = new TradeLog();
  /** Units held at each candle's close, from the first candle of the range. */
  readonly position: Float64Array;
  #recorded = 0;
  readonly #extremes: Extremes;
  // One row, reused: a run with a million trades leaves no garbage.
  readonly #row: TradeRow = {
    number: 0,
    side: 1,
    quantity: NaN,
    entryIndex: 0,
    entryPrice: NaN,
    exitIndex: 0,
    exitPrice: NaN,
    fees: NaN,
    pnl: NaN,
    mae: NaN,
    mfe: NaN,
    reason: 0,
    ambiguous: 0,
    tag: null,
  };

  readonly #orders: OrderLog;

  constructor(
    readonly candles: Candles,
    readonly firstIndex: number,
    readonly initialBalance: number,
    orders: OrderLog,
    readonly quantityStep: number,
  ) {
    this.#orders = orders;
    this.cash = initialBalance;
    this.equity = initialBalance;
    this.entryPrice = NaN;
    this.position = new Float64Array(candles.close.length - firstIndex);
    this.#extremes = new Extremes(candles.high, candles.low);
  }

  get cash(): number {
    return this.#numbers[CASH]!;
  }

  set cash(value: number) {
    this.#numbers[CASH] = value;
  }

  get equity(): number {
    return this.#numbers[EQUITY]!;
  }

  set equity(value: number) {
    this.#numbers[EQUITY] = value;
  }

  get quantity(): number {
    return this.#numbers[QUANTITY]!;
  }

  private set quantity(value: number) {
    this.#numbers[QUANTITY] = value;
  }

  get entryPrice(): number {
    return this.#numbers[ENTRY_PRICE]!;
  }

  private set entryPrice(value: number) {
    this.#numbers[ENTRY_PRICE] = value;
  }

  get feesPaid(): number {
    return this.#numbers[FEES_PAID]!;
  }

  private set feesPaid(value: number) {
    this.#numbers[FEES_PAID] = value;
  }

  get tradedValue(): number {
    return this.#numbers[TRADED_VALUE]!;
  }

  private set tradedValue(value: number) {
    this.#numbers[TRADED_VALUE] = value;
  }

  // Sum of quantity x entry price over what is open.
  get #openCost(): number {
    return this.#numbers[OPEN_COST]!;
  }

  set #openCost(value: number) {
    this.#numbers[OPEN_COST] = value;
  }

  /**
   * Opens a trade, or adds to the youngest one when the same order opened it, and returns its row.
   *
   * @param kind How the price was reached (open_trades.ts). @param price Costs of spread and slippage included.
   */
  enter(i: number, kind: number, side: number, units: number, price: number, fee: number, order: number): number {
    this.#recordUntil(i);
    this.cash -= side * units * price + fee;
    this.feesPaid += fee;
    this.tradedValue += units * price;
    this.quantity = side * lotsLeft(Math.abs(this.quantity) + units, this.quantityStep);
    this.side = side;
    this.#openCost += units * price;
    const last = this.open.count - 1;
    let row = last;
    if (last >= 0 && this.open.get(last, open.ORDER) === order) {
      const before = this.open.get(last, open.QUANTITY);
      const cost = before * this.open.get(last, open.PRICE) + units * price;
      this.open.set(last, open.QUANTITY, lotsLeft(before + units, this.quantityStep));
      this.open.set(last, open.PRICE, cost / (before + units));
      this.open.set(last, open.FEES, this.open.get(last, open.FEES) + fee);
    } else {
      row = this.open.open(i, kind, units, price, fee, order);
    }
    this.#updateEntryPrice();
    return row;
  }

  /**
   * Closes units of an open trade: all of it (and its row goes), or a part, which becomes a trade of its own in the log.
   *
   * @param kind AT_OPEN, AT_CLOSE, or anything else for inside the candle. @param reason Index into EXIT_REASONS.
   */
  exit(row: number, i: number, kind: number, units: number, price: number, fee: number, reason: number): void {
    this.#recordUntil(i);
    const held = this.open.get(row, open.QUANTITY);
    const side = this.side;
    this.cash += side * units * price - fee;
    this.feesPaid += fee;
    this.tradedValue += units * price;
    this.#logExit(row, i, kind, units, price, fee, reason);
    this.#openCost -= units * this.open.get(row, open.PRICE);
    if (units >= held) this.open.remove(row);
    else {
      const kept = 1 - units / held;
      this.open.set(row, open.QUANTITY, lotsLeft(held - units, this.quantityStep));
      this.open.set(row, open.FEES, this.open.get(row, open.FEES) * kept);
      this.open.set(row, open.FINANCING, this.open.get(row, open.FINANCING) * kept);
    }
    // Flat is exactly flat: a sum of fractions would leave dust behind.
    if (this.open.count === 0) {
      this.quantity = 0;
      this.side = 0;
    } else this.quantity = side * lotsLeft(Math.abs(this.quantity) - units, this.quantityStep);
    this.#updateEntryPrice();
  }

  /** Pays (or receives, when positive) financing on one trade. */
  finance(row: number, money: number): void {
    this.cash += money;
    this.open.set(row, open.FINANCING, this.open.get(row, open.FINANCING) + money);
  }

  /** Lists what is open as open trades, marked at the last close, and completes the position column. */
  finish(): void {
    const last = this.candles.close.length - 1;
    this.#recordUntil(last + 1);
    const close = this.candles.close[last]!;
    for (let row = 0; row < this.open.count; row++) {
      this.#logExit(row, last, open.AT_CLOSE, this.open.get(row, open.QUANTITY), close, 0, STILL_OPEN);
    }
  }

  #recordUntil(i: number): void {
    const end = i - this.firstIndex;
    const { position, quantity } = this;
    // A loop, since most stretches are short, and fill() costs as much as fifty of them.
    if (quantity !== 0) { for (let k = this.#recorded; k < end; k++) position[k] = quantity; }
    this.#recorded = Math.max(this.#recorded, end);
  }

  #updateEntryPrice(): void {
    if (this.open.count === 1) {
      this.#openCost = this.open.get(0, open.QUANTITY) * this.open.get(0, open.PRICE);
    }
    if (this.open.count === 0) this.#openCost = 0;
    this.entryPrice = this.open.count === 1 ? this.open.get(0, open.PRICE) : this.#openCost / Math.abs(this.quantity);
  }

  #logExit(row: number, i: number, kind: number, units: number, price: number, fee: number, reason: number): void {
    const trades = this.open;
    const share = units / trades.get(row, open.QUANTITY);
    const to = this.#row;
    to.number = trades.get(row, open.NUMBER);
    to.side = this.side;
    to.quantity = units;
    to.entryIndex = trades.get(row, open.ENTRY_INDEX);
    to.entryPrice = trades.get(row, open.PRICE);
    to.exitIndex = i;
    to.exitPrice = reason === STILL_OPEN ? NaN : price;
    to.fees = trades.get(row, open.FEES) * share + fee;
    to.pnl = this.side * units * (price - to.entryPrice) - to.fees + trades.get(row, open.FINANCING) * share;
    to.reason = reason;
    to.ambiguous = trades.get(row, open.AMBIGUOUS);
    to.tag = this.#orders.tags[trades.get(row, open.ORDER)] ?? null;
    this.#measureExcursions(to, trades.get(row, open.ENTRY_KIND), kind, price);
    this.log.append(to);
  }

  /**
   * Largest loss and gain on the way, fractions of the entry price, both at least 0. Of the entry and exit candles only
   * what is known to lie between entry and exit counts: all of a candle that was entered at its open or left at its close;
   * its close, and the extreme in whose direction the entry was reached, after an entry inside; its open, before an exit
   * inside or at the open; and the exit price itself.
   */
  #measureExcursions(to: TradeRow, entryKind: number, exitKind: number, exitPrice: number): void {
    const { candles } = this;
    const { entryIndex, exitIndex, entryPrice, side } = to;
    const wholeEntry = entryKind === open.AT_OPEN && (exitIndex > entryIndex || exitKind === open.AT_CLOSE);
    const wholeExit = exitKind === open.AT_CLOSE && exitIndex > entryIndex;
    const from = wholeEntry ? entryIndex : entryIndex + 1;
    const until = wholeExit || (wholeEntry && exitIndex === entryIndex) ? exitIndex : exitIndex - 1;
    this.#extremes.over(from, until);
    let high = Math.max(exitPrice, this.#extremes.high);
    let low = Math.min(exitPrice, this.#extremes.low);
    if (exitIndex > entryIndex) {
      high = Math.max(high, candles.open[exitIndex]!);
      low = Math.min(low, candles.open[exitIndex]!);
    }
    const inside = entryKind === open.FROM_BELOW || entryKind === open.FROM_ABOVE;
    if (inside && (exitIndex > entryIndex || exitKind === open.AT_CLOSE)) {
      const close = candles.close[entryIndex]!;
      high = Math.max(high, entryKind === open.FROM_BELOW ? candles.high[entryIndex]! : close);
      low = Math.min(low, entryKind === open.FROM_ABOVE ? candles.low[entryIndex]! : close);
    }
    const best = side > 0 ? high - entryPrice : entryPrice - low;
    const worst = side > 0 ? entryPrice - low : high - entryPrice;
    to.mfe = Math.max(0, best) / entryPrice;
    to.mae = Math.max(0, worst) / entryPrice;
  }
}
