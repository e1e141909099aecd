/**
 * The rules of engine_rules.h in plain JavaScript over typed arrays, without a book, a ledger or any rule that the strategies of the
 * benches do not use. It parts V8's share of a ratio to C from the simulator's.
 *
 * The same is left out as in C, and resting orders, too. Columns are as long as the candles, and each run writes them again.
 */
import type { Candles } from "../engine/candles.ts";

const SIGNAL = 0;
const STOP_LOSS = 1;
const TAKE_PROFIT = 2;
const STILL_OPEN = 255;
const FILLED = 1;
const WORKING = 0;
const REJECTED = 4;
const NO_REASON = 0;
const TOO_SMALL = 1;
const NOTHING_TO_CLOSE = 4;
const RUN_ENDED = 11;

/** A run's costs and guards, as fractions; 0: none. */
export interface PlainRules {
  readonly fee: number;
  readonly stopLossLevel: number;
  readonly takeProfitLevel: number;
  /** False: nobody reads the trades' mae and mfe. */
  readonly keepsExcursions: boolean;
}

const numbers = (count: number) => new Float64Array(count);
const codes = (count: number) => new Uint8Array(count);

/** The columns of a result's trades, a row a candle at most. */
function tradeColumns(count: number) {
  return {
    quantity: numbers(count),
    entryTime: numbers(count),
    entryPrice: numbers(count),
    exitTime: numbers(count),
    exitPrice: numbers(count),
    fees: numbers(count),
    pnl: numbers(count),
    return: numbers(count),
    mae: numbers(count),
    mfe: numbers(count),
    candles: new Int32Array(count),
    side: new Int8Array(count),
    exitReason: codes(count),
    ambiguous: codes(count),
  };
}

/** The columns of a result's orders, a row a candle at most. */
function orderColumns(count: number) {
  return {
    time: numbers(count),
    quantity: numbers(count),
    limitPrice: numbers(count),
    stopPrice: numbers(count),
    filledQuantity: numbers(count),
    price: numbers(count),
    fillTime: numbers(count),
    side: new Int8Array(count),
    type: codes(count),
    status: codes(count),
    reason: codes(count),
  };
}

/** The account, its columns and the order that waits for the next open. */
export class PlainRun {
  readonly equity: Float64Array;
  readonly position: Float64Array;
  readonly trades: ReturnType<typeof tradeColumns>;
  readonly orders: ReturnType<typeof orderColumns>;
  tradesCount = 0;
  ordersCount = 0;
  readonly #candles: Candles;
  readonly #rules: PlainRules;
  readonly #isGuarded: boolean;
  #cash = NaN;
  #quantity = NaN;
  #entry = NaN;
  #entryFee = NaN;
  #stop = NaN;
  #target = NaN;
  #entered = 0;
  #isAmbiguous = 0;
  #waits = false;
  #side = 0;
  #closes = false;

  constructor(candles: Candles, rules: PlainRules) {
    const count = candles.close.length;
    this.#candles = candles;
    this.#rules = rules;
    this.#isGuarded = rules.stopLossLevel > 0 || rules.takeProfitLevel > 0;
    this.equity = numbers(count);
    this.position = numbers(count);
    this.trades = tradeColumns(count);
    this.orders = orderColumns(count);
  }

  /** Trades each cross of two averages from candle `first` on. */
  runAverages(balance: number, fast: Float64Array, slow: Float64Array, first: number): void {
    this.#begin(balance);
    const { equity, position } = this;
    const { close } = this.#candles;
    const isGuarded = this.#isGuarded;
    let cash = balance;
    let quantity = 0;
    let wasAbove = false;
    let wasBelow = false;
    for (let i = 0; i < close.length; i++) {
      if (this.#waits || isGuarded) {
        this.#act(i);
        cash = this.#cash;
        quantity = this.#quantity;
      }
      const value = cash + quantity * close[i]!;
      equity[i] = value;
      position[i] = quantity;
      if (!(value > 0)) break;
      const isAbove = fast[i]! > slow[i]!;
      const isBelow = fast[i]! < slow[i]!;
      if (i >= first && wasBelow && isAbove && quantity <= 0) this.#place(i, 1, false);
      else if (i >= first && wasAbove && isBelow && quantity >= 0) this.#place(i, -1, false);
      wasAbove = isAbove;
      wasBelow = isBelow;
    }
    this.#finish();
  }

  /** Trades an RSI from 30 and 70 back to 50, from candle 15 on. */
  runStrength(balance: number, rsi: Float64Array): void {
    this.#begin(balance);
    const { equity, position } = this;
    const { close } = this.#candles;
    for (let i = 0; i < close.length; i++) {
      if (this.#waits || this.#isGuarded) this.#act(i);
      const quantity = this.#quantity;
      const value = this.#cash + quantity * close[i]!;
      equity[i] = value;
      position[i] = quantity;
      if (!(value > 0)) break;
      if (i < 15) continue;
      const now = rsi[i]!;
      const before = rsi[i - 1]!;
      if (quantity <= 0 && before >= 30 && now < 30) this.#place(i, 1, false);
      else if (quantity >= 0 && before <= 70 && now > 70) this.#place(i, -1, false);
      else if ((quantity > 0 && now >= 50) || (quantity < 0 && now <= 50)) this.#place(i, quantity > 0 ? -1 : 1, true);
    }
    this.#finish();
  }

  /** All columns in the order in which C writes them. */
  columns(): (Float64Array | Int32Array | Int8Array | Uint8Array)[] {
    const cut = (
      columns: Readonly<Record<string, Float64Array | Int32Array | Int8Array | Uint8Array>>,
      count: number,
    ) => Object.values(columns).map((column) => column.subarray(0, count));
    return [this.equity, this.position, ...cut(this.trades, this.tradesCount), ...cut(this.orders, this.ordersCount)];
  }

  #begin(balance: number): void {
    this.#cash = balance;
    this.#quantity = 0;
    this.#waits = false;
    this.tradesCount = this.ordersCount = 0;
  }

  #finish(): void {
    const last = this.equity.length - 1;
    if (this.#quantity !== 0) this.#list(last, this.#candles.close[last]!, 0, STILL_OPEN);
  }

  #act(i: number): void {
    if (this.#waits) this.#fill(i, this.#candles.open[i]!);
    if (this.#isGuarded && this.#quantity !== 0) this.#walk(i);
  }

  #place(i: number, side: number, closes: boolean): void {
    const { orders } = this;
    const row = this.ordersCount++;
    orders.time[row] = this.#candles.time[i]!;
    orders.side[row] = side;
    orders.type[row] = 0;
    orders.status[row] = WORKING;
    orders.reason[row] = RUN_ENDED;
    orders.limitPrice[row] = orders.stopPrice[row] = orders.quantity[row] = NaN;
    orders.price[row] = orders.fillTime[row] = NaN;
    orders.filledQuantity[row] = 0;
    this.#waits = true;
    this.#side = side;
    this.#closes = closes;
  }

  #fill(i: number, price: number): void {
    const side = this.#side;
    const { fee, stopLossLevel, takeProfitLevel } = this.#rules;
    if (this.#quantity * side < 0) this.#leave(i, price, SIGNAL);
    else if (this.#closes) return this.#end(REJECTED, NOTHING_TO_CLOSE);
    if (this.#closes) return this.#noteFill(i, this.trades.quantity[this.tradesCount - 1]!, price);
    const units = Math.floor(this.#cash / (price * (1 + fee)) / 1e-8 * (1 + 2 ** -50)) / 1e8;
    this.orders.quantity[this.ordersCount - 1] = units;
    if (!(units > 0)) return this.#end(REJECTED, TOO_SMALL);
    this.#entryFee = units * price * fee;
    this.#cash -= side * units * price + this.#entryFee;
    this.#quantity = side * units;
    this.#entry = price;
    this.#entered = i;
    this.#isAmbiguous = 0;
    this.#stop = stopLossLevel > 0 ? price * (1 - side * stopLossLevel) : NaN;
    this.#target = takeProfitLevel > 0 ? price * (1 + side * takeProfitLevel) : NaN;
    this.#noteFill(i, units, price);
  }

  #noteFill(i: number, units: number, price: number): void {
    const row = this.ordersCount - 1;
    this.orders.filledQuantity[row] = units;
    this.orders.price[row] = price;
    this.orders.fillTime[row] = this.#candles.time[i]!;
    this.#end(FILLED, NO_REASON);
  }

  #end(status: number, reason: number): void {
    const row = this.ordersCount - 1;
    this.orders.status[row] = status;
    this.orders.reason[row] = reason;
    this.#waits = false;
  }

  /** Closes the trade where candle `i` passes its stop or target; the stop comes first. */
  #walk(i: number): void {
    const { open, high, low } = this.#candles;
    const at = open[i]!;
    const isLong = this.#quantity > 0;
    const stop = this.#stop;
    const target = this.#target;
    if (isLong ? at <= stop : at >= stop) return this.#leave(i, at, STOP_LOSS);
    if (isLong ? at >= target : at <= target) return this.#leave(i, at, TAKE_PROFIT);
    const isStopped = isLong ? low[i]! <= stop : high[i]! >= stop;
    const isReached = isLong ? high[i]! >= target : low[i]! <= target;
    if (isStopped && isReached) this.#isAmbiguous = 1;
    if (isStopped) this.#leave(i, stop, STOP_LOSS);
    else if (isReached) this.#leave(i, target, TAKE_PROFIT);
  }

  #leave(i: number, price: number, reason: number): void {
    const fee = Math.abs(this.#quantity) * price * this.#rules.fee;
    this.#list(i, price, fee, reason);
    this.#cash += this.#quantity * price - fee;
    this.#quantity = 0;
  }

  #list(i: number, price: number, fee: number, reason: number): void {
    const { trades } = this;
    const { time } = this.#candles;
    const side = this.#quantity > 0 ? 1 : -1;
    const held = Math.abs(this.#quantity);
    const entry = this.#entry;
    const fees = this.#entryFee + fee;
    const pnl = side * held * (price - entry) - fees;
    const row = this.tradesCount++;
    const isOpen = reason === STILL_OPEN;
    trades.side[row] = side;
    trades.quantity[row] = held;
    trades.entryTime[row] = time[this.#entered]!;
    trades.entryPrice[row] = entry;
    trades.exitTime[row] = isOpen ? NaN : time[i]!;
    trades.exitPrice[row] = isOpen ? NaN : price;
    trades.fees[row] = fees;
    trades.pnl[row] = pnl;
    trades.return[row] = pnl / (entry * held);
    trades.candles[row] = i - this.#entered;
    trades.exitReason[row] = reason;
    trades.ambiguous[row] = this.#isAmbiguous;
    if (this.#rules.keepsExcursions) this.#measure(row, i, price, isOpen ? 1 : 0);
  }

  /** Largest loss and gain on the way; of all of candle `i` where the trade is still open at its close. */
  #measure(row: number, i: number, price: number, atClose: number): void {
    const { open, high, low } = this.#candles;
    const entry = this.#entry;
    let highest = price;
    let lowest = price;
    for (let k = this.#entered; k < i + atClose; k++) {
      if (high[k]! > highest) highest = high[k]!;
      if (low[k]! < lowest) lowest = low[k]!;
    }
    if (i > this.#entered) {
      if (open[i]! > highest) highest = open[i]!;
      if (open[i]! < lowest) lowest = open[i]!;
    }
    const isLong = this.#quantity > 0;
    this.trades.mfe[row] = Math.max(0, isLong ? highest - entry : entry - lowest) / entry;
    this.trades.mae[row] = Math.max(0, isLong ? entry - lowest : highest - entry) / entry;
  }
}
