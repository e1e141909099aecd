import type { Alarms } from "./alarms.ts";
import { BalanceLog } from "./balance_log.ts";
import type { Book } from "./book.ts";
import { type BufferPool, takeDoubles } from "./buffer_pool.ts";
import type { Candles } from "./candles.ts";
import type { Execution } from "./execution.ts";
import type { Ledger } from "./ledger.ts";
import { Market } from "./market.ts";
import { OrderLog } from "./order_log.ts";
import { cashInterestOf, hasFinancing, marginInterestOf } from "./rules/financing.ts";
import { rulesOf } from "./rules_of_run.ts";
import { MARGIN_CALL } from "./trade_columns.ts";
import { TradeLog } from "./trade_log.ts";
import { TradingAccount } from "./trading_account.ts";

/** The inputs of a simulation; run.ts explains each. */
export interface SimulationInput {
  readonly candles: Candles;
  readonly firstIndex: number;
  readonly initialBalance: number;
  readonly execution: Execution;
  readonly timeframeMs: number | null;
  /** Candles of a finer timeframe, where there are some: the inside of a candle is replayed on them. */
  readonly finer: Candles | null;
  readonly pool?: BufferPool | null;
  readonly keepsDetails?: boolean;
}

/**
 * An account with one market, driven candle by candle: `advance(i)`, then orders through `book`, then `settle(i)`; and
 * `finish()` after the last candle. The caller passes every candle in order from firstIndex; `rest` takes many at once.
 * portfolio_simulation.ts drives many markets.
 *
 * The state has five owners: the account (money), the market's ledger (trades) and book (working orders), the order log and the
 * columns of equity and position here. Every other part reads these and passes fills to them.
 */
export class Simulation {
  readonly account: TradingAccount;
  readonly market: Market;
  readonly ledger: Ledger;
  readonly book: Book;
  readonly orders: OrderLog;
  readonly balances: BalanceLog;
  /** Equity at each candle's close, from firstIndex. */
  readonly equity: Float64Array;
  /** Units held at each candle's close, negative when short. */
  readonly position: Float64Array;
  readonly #candles: Candles;
  readonly #alarms: Alarms;
  readonly #execution: Execution;
  readonly #firstIndex: number;
  readonly #hasFinancing: boolean;

  constructor(input: SimulationInput) {
    const { candles, execution, firstIndex, pool = null, keepsDetails = true } = input;
    const rows = candles.close.length - firstIndex;
    this.#candles = candles;
    this.#execution = execution;
    this.#firstIndex = firstIndex;
    this.#hasFinancing = hasFinancing(execution);
    this.equity = takeDoubles(pool, rows);
    this.position = takeDoubles(pool, rows);
    const times = [candles.time];
    const orders = new OrderLog(times, pool);
    const trades = new TradeLog(times, pool);
    const account = new TradingAccount(input.initialBalance);
    this.account = account;
    this.orders = orders;
    this.balances = new BalanceLog(input.initialBalance, pool, keepsDetails);
    this.market = new Market({ ...input, index: 0, rules: rulesOf(execution), account, orders, trades, keepsDetails });
    this.#alarms = this.market.alarms;
    this.ledger = this.market.ledger;
    this.book = this.market.book;
  }

  /**
   * Takes candles from `i` on and before `until`, as long as nothing happens in them and the account only needs a mark.
   *
   * @returns The first candle that is left for `advance`.
   */
  rest(i: number, until: number): number {
    const { account, ledger, equity, position } = this;
    const { low, high, close } = this.#candles;
    const alarms = this.#alarms;
    const firstIndex = this.#firstIndex;
    const { cash } = account;
    const { quantity } = ledger;
    const { below, above } = alarms;
    const end = Math.min(until, alarms.index, close.length);
    const isWatched = alarms.watchesPrices;
    const from = i;
    for (; i < end && !(isWatched && (low[i]! <= below || high[i]! >= above)); i++) {
      const value = cash + quantity * close[i]!;
      // `advance` handles ruin.
      if (!(value > 0)) break;
      equity[i - firstIndex] = value;
      position[i - firstIndex] = quantity;
    }
    if (i > from) account.equity = equity[i - 1 - firstIndex]!;
    return i;
  }

  /** Brings the account from the last candle's close to this one's; false when nothing is left and the run is over. */
  advance(i: number): boolean {
    this.book.index = i;
    // market.isDue(), in place: it is asked at each candle.
    if (i >= this.#alarms.index || this.#alarms.ringsIn(this.#candles, i)) {
      if (this.#hasFinancing) this.#finance(i);
      this.market.simulate(i);
      return this.#mark(i);
    }
    return this.#value(i);
  }

  /** Takes over the decisions at the close of candle `i`. Returns as `advance` does. */
  settle(i: number): boolean {
    const { market } = this;
    if (!market.isChanged) return true;
    if (market.fillAtClose(i)) {
      if (!this.#mark(i)) return false;
      market.setAlarms(i);
    } else market.rearm(i);
    return true;
  }

  /** Closes the open trades if closeAtEnd says so, and completes the logs. */
  finish(): void {
    if (this.#execution.closeAtEnd !== "none" && this.ledger.open.count > 0) {
      this.market.closeAtEnd();
      this.#mark(this.market.candles.close.length - 1);
    }
    this.ledger.finish();
  }

  /** Notes the balances after what has happened up to the close, and values the account; false when nothing is left. */
  #mark(i: number): boolean {
    this.balances.mark(i - this.#firstIndex, this.account.cash, this.ledger.quantity);
    return this.#value(i);
  }

  /** Values the account at the close; false when nothing is left. */
  #value(i: number): boolean {
    const { account } = this;
    const { quantity } = this.ledger;
    const row = i - this.#firstIndex;
    const equity = account.cash + quantity * this.#candles.close[i]!;
    account.equity = equity;
    this.equity[row] = equity;
    this.position[row] = quantity;
    return equity > 0 || this.#ruin(i);
  }

  #finance(i: number): void {
    if (i === this.#firstIndex) return;
    const { account, ledger } = this;
    const { time, close } = this.market.candles;
    const [before, from, to] = [close[i - 1]!, time[i - 1]!, time[i]!];
    const { cash } = account;
    const shortValue = ledger.side < 0 ? -ledger.quantity * before : 0;
    this.market.finance(i, marginInterestOf(this.#execution, cash, from, to));
    account.earn(cashInterestOf(this.#execution, cash, shortValue, from, to));
  }

  /** Ends the run with equity 0: closes everything at the close, and writes off the loss beyond the account. */
  #ruin(i: number): boolean {
    const { account, ledger } = this;
    if (Number.isNaN(account.equity)) throw new TypeError(`Cannot value the account at candle ${i}: equity is NaN`);
    const before = ledger.log.count;
    this.market.closeAll(i, MARGIN_CALL);
    const row = i - this.#firstIndex;
    account.end(i, ledger.log, Math.max(1, ledger.log.count - before));
    this.balances.mark(row, account.cash, ledger.quantity);
    this.equity.fill(0, row);
    this.position.fill(0, row);
    this.market.forgetChanges();
    return false;
  }
}
