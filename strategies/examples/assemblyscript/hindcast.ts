// Strategies in AssemblyScript: version 1 of strategies/ABI.md, which explains every field. A strategy extends Strategy, is named
// in play(), and exports abi_version, alloc, init and on_candle from here.

// ---- The memory that Hindcast shares ----

/** 0 in a price, distance or fraction means none. */
@unmanaged
export class Order {
  action: i32;
  side: i32;
  type: i32;
  sizeBy: i32;
  size: f64;
  limitPrice: f64;
  stopPrice: f64;
  stopLoss: f64;
  takeProfit: f64;
  stopLossFraction: f64;
  takeProfitFraction: f64;
  trailDistance: f64;
  trailFraction: f64;
  candlesMax: u32;
  timeStopCandles: u32;
  flags: u32;
  target: i32;
  tag: u32;
  tagLength: u32;

  /** Stops of the trade that it opens, as fractions of its entry price. */
  guard(stopLossFraction: f64, takeProfitFraction: f64): Order {
    this.stopLossFraction = stopLossFraction;
    this.takeProfitFraction = takeProfitFraction;
    return this;
  }

  tagged(text: string): Order {
    // Without a collector each tag is written once.
    if (!tags.has(text)) tags.set(text, String.UTF8.encode(text));
    const bytes = tags.get(text);
    this.tag = <u32> changetype<usize>(bytes);
    this.tagLength = <u32> bytes.byteLength;
    return this;
  }
}

const tags = new Map<string, ArrayBuffer>();

const PLACE = 1, CLOSE = 2, CLOSE_TRADE = 3, CANCEL = 4, CANCEL_ALL = 5, REPLACE = 6, PROTECT = 7;
const ORDER_BYTES: usize = 112;
/** Values of `type`. */
export const MARKET = 0, LIMIT = 1, STOP = 2, STOP_LIMIT = 3;
/** Values of `sizeBy`. */
export const BY_UNITS = 1, BY_EQUITY_FRACTION = 2, BY_CASH = 3, BY_RISK_FRACTION = 4;
/** A bit of `flags`. */
export const REDUCE_ONLY = 1;

@unmanaged
export class Frame {
  abiVersion: u32;
  frameSize: u32;
  parameters: usize;
  parametersLength: u32;
  warmup: u32;
  ordersMax: u32;
  tradesMax: u32;
  workingMax: u32;
  time: usize;
  open: usize;
  high: usize;
  low: usize;
  close: usize;
  volume: usize;
  orders: usize;
  results: usize;
  trades: usize;
  working: usize;
  count: u32;
  resultsCount: u32;
  workingOrders: u32;
  openTrades: u32;
  tradesCount: u32;
  workingCount: u32;
  cash: f64;
  equity: f64;
  quantity: f64;
  entryPrice: f64;
  initialBalance: f64;
  timeframeMs: f64;
  firstIndex: u32;
  columnsCapacity: u32;
  inputs: usize;
  inputsCount: u32;
  /** Set it, and hasDetails to 1, in `prepare` to have the tables of fills and of details. */
  fillsMax: u32;
  hasDetails: u32;
  details: usize;
  fills: usize;
  fillsCount: u32;
}

/** Details of the open trade in the same row; prices are 0 for none. A tag's bytes follow it, 72 bytes into the row. */
@unmanaged
export class Details {
  order: i32;
  entryIndex: i32;
  entryTime: f64;
  stopLoss: f64;
  takeProfit: f64;
  trailingStop: f64;
  bestPrice: f64;
  worstPrice: f64;
  profit: f64;
  tagLength: u32;
}

/** A fill since the last decision: `reason` is -1 for an entry, else the number of an exit reason. Its tag is 112 bytes into the row. */
@unmanaged
export class Fill {
  order: i32;
  trade: i32;
  index: i32;
  side: i32;
  reason: i32;
  entryOrder: i32;
  entryIndex: i32;
  tagLength: u32;
  price: f64;
  quantity: f64;
  fee: f64;
  time: f64;
  entryPrice: f64;
  entryTime: f64;
  profit: f64;
  fees: f64;
  bestPrice: f64;
  worstPrice: f64;
}

/** The details of the open trade in row `n`. */
export function detailsAt(n: i32): Details {
  return changetype<Details>(frame.details + 136 * <usize> n);
}

/** The fill in row `n` of the table of fills. */
export function fillAt(n: i32): Fill {
  return changetype<Fill>(frame.fills + 176 * <usize> n);
}

/** Other candles that have closed: the newest is at count - 1. Its columns are read with `valueAt`. */
@unmanaged
export class Input {
  time: usize;
  open: usize;
  high: usize;
  low: usize;
  close: usize;
  volume: usize;
  count: u32;
  columnsCapacity: u32;
}

/** The candles, the account and the requests of a strategy. */
export let frame: Frame = changetype<Frame>(0);

@external("env", "input")
declare function hindcastInput(name: usize, length: i32): i32;

/** The place of an input of `parameters.inputs`, for `inputAt`; asked for in the constructor. A run without an input of this name ends. */
export function askInput(name: string): i32 {
  const text = String.UTF8.encode(name);
  return hindcastInput(changetype<usize>(text), text.byteLength);
}

@external("env", "resample")
declare function hindcastResample(timeframe: usize, length: i32): i32;

/** The place of longer candles, such as "1d", which are made of the run's own; asked for in the constructor. */
export function askResampled(timeframe: string): i32 {
  const text = String.UTF8.encode(timeframe);
  return hindcastResample(changetype<usize>(text), text.byteLength);
}

/** An input, in `decide`. */
export function inputAt(place: i32): Input {
  return changetype<Input>(frame.inputs + (<usize> place << 5));
}

/** The value of a column, such as `frame.close`, at a candle. */
export function valueAt(column: usize, i: u32): f64 {
  return load<f64>(column + (<usize> i << 3));
}

// ---- Times: parts of milliseconds since 1970, such as those of `frame.time` ----

@external("env", "zone")
declare function hindcastZone(name: usize, length: i32): i32;
@external("env", "zone_offset")
declare function hindcastZoneOffset(zone: i32, time: f64): f64;

/** Month 1 to 12, weekday 0 (Sunday) to 6. */
export class Moment {
  year: i32 = 0;
  month: i32 = 0;
  day: i32 = 0;
  weekday: i32 = 0;
  hour: i32 = 0;
  minute: i32 = 0;
}

/** Without a collector there is one. */
const moment = new Moment();

/** The parts by UTC, until the next call of `utc` or `local`. */
export function utc(time: f64): Moment {
  assert(time > -62_167_219_200_000 && time < 253_433_923_200_000, "a time is not of the years 1 to 9999");
  const days = Math.floor(time / 86_400_000);
  const minutes = <i32> ((time - days * 86_400_000) / 60_000);
  // Days since the first of March of the year 0: a leap day ends its year, its 4, its 100 and its 400 years.
  const since = <i32> days + 719_468, eras = since / 146_097;
  let day = since % 146_097;
  const centuries = min(day / 36_524, 3);
  day -= centuries * 36_524;
  const fours = day / 1461;
  day -= fours * 1461;
  const years = min(day / 365, 3);
  day -= years * 365;
  // Months from March on have 31, 30, 31, 30 and 31 days, and again: 153 days in five.
  const month = (5 * day + 2) / 153;
  moment.year = 400 * eras + 100 * centuries + 4 * fours + years + i32(month >= 10);
  moment.month = month < 10 ? month + 3 : month - 9;
  moment.day = day - (153 * month + 2) / 5 + 1;
  moment.weekday = (since + 3) % 7;
  moment.hour = minutes / 60;
  moment.minute = minutes % 60;
  return moment;
}

/** A time zone by its name, such as America/New_York, for `local`. A name that there is not ends the run. */
export function askZone(name: string): i32 {
  const text = String.UTF8.encode(name);
  return hindcastZone(changetype<usize>(text), text.byteLength);
}

/** The parts by the clocks of a zone, with its daylight-saving time, until the next call. */
export function local(time: f64, zone: i32): Moment {
  return utc(time + hindcastZoneOffset(zone, time));
}

// ---- Plots: series of your own, drawn on the result ----

@external("env", "plot")
declare function hindcastPlot(name: usize, length: i32, pane: usize, paneLength: i32): i32;
/** Draws a value at the deciding candle, in `decide`. */
@external("env", "draw")
export declare function draw(plot: i32, value: f64): void;

/** A plot for `draw`. Its pane is a name that plots share, "price" over the candles, or "" for what its values fit. */
export function askPlot(name: string, pane: string = ""): i32 {
  const text = String.UTF8.encode(name), other = String.UTF8.encode(pane);
  return hindcastPlot(changetype<usize>(text), text.byteLength, changetype<usize>(other), other.byteLength);
}

// ---- The strategy ----

/** A strategy, made once for a run. Its constructor reads parameters and makes lines. */
export abstract class Strategy {
  /** The visible candles that the first decision needs. */
  warmup(): u32 {
    return 1;
  }

  /** Called at the close of each candle on which a decision is due. */
  abstract decide(): void;
}

let make: (() => Strategy) | null = null;
let strategy: Strategy | null = null;

/** Names the function that makes the strategy. */
export function play(makeStrategy: () => Strategy): void {
  make = makeStrategy;
}

export function abi_version(): i32 {
  return 1;
}

export function alloc(size: i32): usize {
  return heap.alloc(size);
}

export function init(shared: Frame): i32 {
  frame = shared;
  strategy = make!();
  frame.warmup = strategy!.warmup();
  return 0;
}

export function on_candle(shared: Frame): i32 {
  begin(shared);
  advance();
  strategy!.decide();
  return rows;
}

/** Begins a decision. */
export function begin(shared: Frame): void {
  frame = shared;
  rows = 0;
}

/** Rows of this decision's orders. */
export function placed(): i32 {
  return rows;
}

// ---- Parameters: one JSON object without spaces ----

/** The text of a key's value; null if the key is absent. Keys of objects within the object are not found. */
export function findValue(key: string): string | null {
  const json = String.UTF8.decodeUnsafe(frame.parameters, frame.parametersLength);
  let depth = 0, from = 0;
  let name = "";
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code == 0x22) {
      const begin = at + 1;
      // Step past escaped quotes.
      for (at++; json.charCodeAt(at) != 0x22; at++) at += i32(json.charCodeAt(at) == 0x5c);
      if (depth == 1 && json.charCodeAt(at + 1) == 0x3a) {
        name = json.substring(begin, at);
        from = at + 2;
      }
    } else if (code == 0x7b || code == 0x5b) depth++;
    else if ((code == 0x7d || code == 0x5d) && depth > 1) depth--;
    else if (depth == 1 && (code == 0x2c || code == 0x7d) && name == key) return json.substring(from, at);
  }
  return null;
}

/** A number. */
export function readNumber(key: string, fallback: f64): f64 {
  const text = findValue(key);
  if (text === null) return fallback;
  const first = text.charCodeAt(text.startsWith("-") ? 1 : 0);
  assert(first >= 0x30 && first <= 0x39, `${key} is not a number`);
  return parseDecimal(text);
}

export function readFlag(key: string, fallback: bool): bool {
  const text = findValue(key);
  return text === null ? fallback : text == "true";
}

/** A text as it stands in the JSON, escapes included. */
export function readText(key: string, fallback: string): string {
  const text = findValue(key);
  return text === null || !text.startsWith('"') ? fallback : text.substring(1, text.length - 1);
}

function parseDecimal(text: string): f64 {
  let digits: u64 = 0;
  let exponent = 0, at = i32(text.startsWith("-"));
  let isFraction = false;
  for (; at < text.length && text.charCodeAt(at) != 0x65; at++) {
    const code = text.charCodeAt(at);
    // JSON.stringify writes at most 17 digits that are not 0.
    if (code == 0x2e) isFraction = true;
    else if (digits < 100_000_000_000_000_000) {
      digits = digits * 10 + (code - 0x30);
      exponent -= i32(isFraction);
    } else exponent += i32(!isFraction);
  }
  if (at < text.length) exponent += I32.parseInt(text.substring(at + 1));
  const value = scaleDecimal(digits, exponent);
  return text.startsWith("-") ? -value : value;
}

/** digits x 10^exponent, rounded once: high + low holds about 106 bits. */
function scaleDecimal(digits: u64, exponent: i32): f64 {
  let high = <f64> digits;
  let low = <f64> (<i64> (digits - <u64> high));
  for (; exponent != 0 && high != 0; exponent += exponent < 0 ? 1 : -1) {
    let next: f64, rest: f64;
    if (exponent > 0) {
      next = 8 * high + 2 * high;
      rest = (8 * high - next) + 2 * high + 10 * low;
    } else {
      next = high / 10;
      rest = ((high - 8 * next) - 2 * next + low) / 10;
    }
    high = next + rest;
    low = rest - (high - next);
  }
  return high;
}

// ---- Orders: each call fills in the next row of this decision. Rows are zero, so fill in only what matters ----

let rows: i32 = 0;

function nextRow(action: i32): Order {
  assert(<u32> rows < frame.ordersMax, "more orders in a decision than frame.ordersMax");
  const order = changetype<Order>(frame.orders + ORDER_BYTES * rows++);
  order.action = action;
  return order;
}

/** Places an order: 1 buys, -1 sells. At market and sized by default, unless its fields say otherwise. */
export function place(side: i32): Order {
  const order = nextRow(PLACE);
  order.side = side;
  return order;
}

export function buy(): Order {
  return place(1);
}

export function sell(): Order {
  return place(-1);
}

/** Closes this fraction of each open trade. */
export function closeAll(fraction: f64 = 1): Order {
  const order = nextRow(CLOSE);
  order.size = fraction;
  return order;
}

/** Closes this fraction of one trade. */
export function closeTrade(trade: i32, fraction: f64 = 1): Order {
  const order = nextRow(CLOSE_TRADE);
  order.target = trade;
  order.size = fraction;
  return order;
}

export function cancel(order: i32): void {
  nextRow(CANCEL).target = order;
}

export function cancelAll(): void {
  nextRow(CANCEL_ALL);
}

/** Withdraws a working order and places another instead. */
export function replace(working: i32, side: i32): Order {
  const order = nextRow(REPLACE);
  order.target = working;
  order.side = side;
  return order;
}

/** Sets the stop loss and take profit of an open trade, as prices; 0 removes one. */
export function protect(trade: i32, stopLoss: f64, takeProfit: f64): void {
  const order = nextRow(PROTECT);
  order.target = trade;
  order.stopLoss = stopLoss;
  order.takeProfit = takeProfit;
}

/** Moves one guard of an open trade, and keeps the other. */
export function moveStopLoss(trade: i32, price: f64): void {
  const order = nextRow(PROTECT);
  order.target = trade;
  order.stopLoss = price;
  order.flags = 2;
}

export function moveTakeProfit(trade: i32, price: f64): void {
  const order = nextRow(PROTECT);
  order.target = trade;
  order.takeProfit = price;
  order.flags = 1;
}

// ---- Lines: columns of candles and indicators, one value a candle, equal to the built-in strategies' to the bit ----

/** A line of your own extends it. Sources are made before it. */
export class Line {
  /** The values at the newest candle and at the one before; NaN where there is none. */
  now: f64 = NaN;
  before: f64 = NaN;

  constructor() {
    lines.push(this);
  }

  /** The value at the newest candle. */
  step(): f64 {
    return NaN;
  }

  set(value: f64): void {
    this.before = this.now;
    this.now = value;
  }
}

const lines: Line[] = [];
let candlesSeen: u32 = 0;

/** Reads a column, whose address is `time`'s and 4 bytes for each column before it in the frame. */
class Column extends Line {
  constructor(readonly number: usize) {
    super();
  }

  override step(): f64 {
    return valueAt(load<usize>(changetype<usize>(frame) + offsetof<Frame>("time") + 4 * this.number), candlesSeen);
  }
}

export const times: Line = new Column(0);
export const opens: Line = new Column(1);
export const highs: Line = new Column(2);
export const lows: Line = new Column(3);
export const closes: Line = new Column(4);
export const volumes: Line = new Column(5);

/** Gives each line its values at the new candles; the first decision may have many candles before it. */
function advance(): void {
  for (; candlesSeen < frame.count; candlesSeen++) {
    for (let n = 0; n < lines.length; n++) {
      const line = unchecked(lines[n]);
      line.set(line.step());
    }
  }
}

/** A period as a number of candles. */
function candlesOf(period: f64): i32 {
  assert(period >= 1 && period <= 10_000, "a period must be 1 to 10000 candles");
  return <i32> period;
}

/** A pair of doubles stands for an unrounded sum. */
let high: f64 = 0, low: f64 = 0;

function addToPair(value: f64): void {
  const sum = high + value, part = sum - high;
  low += (high - (sum - part)) + (value - part);
  high = sum;
}

/** The pair's quotient, rounded once. */
function dividePair(divisor: f64): f64 {
  const quotient = high / divisor, scaled = quotient * 134217729.0;
  const upper = scaled - (scaled - quotient), lower = quotient - upper;
  return quotient + ((high - upper * divisor) - lower * divisor + low) / divisor;
}

/** A window of values is the tail of one block of `period` values and the head of the next; each is known as two numbers. */
abstract class Windowed extends Line {
  protected period: i32;
  private place: i32 = 0;
  private isFull: bool = false;
  private block: StaticArray<f64>;
  protected tails: StaticArray<f64>;
  protected tailRests: StaticArray<f64>;
  protected head: f64 = 0;
  protected headRest: f64 = 0;

  constructor(readonly values: Line, period: f64) {
    super();
    const candles = candlesOf(period);
    this.period = candles;
    this.block = new StaticArray<f64>(candles);
    this.tails = new StaticArray<f64>(candles);
    this.tailRests = new StaticArray<f64>(candles);
  }

  /** Empties the head. */
  abstract clear(): void;
  /** Adds a value to the head, which then has `count` values. */
  abstract join(value: f64, count: i32): void;
  /** The value of the window of the tail from `tail` on and the head; 0: the tail alone. */
  abstract read(tail: i32): f64;

  override step(): f64 {
    const value = this.values.now;
    if (isNaN(value)) return value;
    const period = this.period;
    if (this.place == 0) this.clear();
    unchecked(this.block[this.place++] = value);
    if (this.place < period) {
      this.join(value, this.place);
      return this.isFull ? this.read(this.place) : NaN;
    }
    this.clear();
    for (let k = period - 1; k >= 0; k--) {
      this.join(unchecked(this.block[k]), period - k);
      unchecked(this.tails[k] = this.head);
      unchecked(this.tailRests[k] = this.headRest);
    }
    this.place = 0;
    this.isFull = true;
    this.clear();
    return this.read(0);
  }
}

class Sma extends Windowed {
  clear(): void {
    this.head = 0;
    this.headRest = 0;
  }

  join(value: f64, _count: i32): void {
    high = this.head;
    low = this.headRest;
    addToPair(value);
    this.head = high;
    this.headRest = low;
  }

  read(tail: i32): f64 {
    const before = unchecked(this.tails[tail]), head = this.head;
    high = before + head;
    const part = high - before;
    low = (before - (high - part)) + (head - part) + (unchecked(this.tailRests[tail]) + this.headRest);
    return dividePair(this.period);
  }
}

class Stddev extends Windowed {
  clear(): void {
    this.head = 0;
    this.headRest = 0;
  }

  join(value: f64, count: i32): void {
    const step = value - this.head;
    this.head += step / count;
    this.headRest += step * (value - this.head);
  }

  read(tail: i32): f64 {
    const period: f64 = this.period, heads: f64 = tail;
    const squares = unchecked(this.tailRests[tail]);
    if (tail == 0) return Math.sqrt(squares / period);
    const between = this.head - unchecked(this.tails[tail]);
    return Math.sqrt((squares + this.headRest + between * between * (heads * (period - heads) / period)) / period);
  }
}

class Extreme extends Windowed {
  /** @param sign 1: the highest, -1: the lowest. */
  constructor(values: Line, period: f64, readonly sign: f64) {
    super(values, period);
  }

  clear(): void {
    this.head = -Infinity;
  }

  join(value: f64, _count: i32): void {
    if (this.sign * value > this.head) this.head = this.sign * value;
  }

  read(tail: i32): f64 {
    const before = unchecked(this.tails[tail]);
    return this.sign * (before > this.head ? before : this.head);
  }
}

/** Simple moving average. */
export function sma(values: Line, period: f64): Line {
  return new Sma(values, period);
}

/** Standard deviation, of a population. */
export function stddev(values: Line, period: f64): Line {
  return new Stddev(values, period);
}

/** The highest of the last `period` values. */
export function highest(values: Line, period: f64): Line {
  return new Extreme(values, period, 1);
}

/** The lowest of the last `period` values. */
export function lowest(values: Line, period: f64): Line {
  return new Extreme(values, period, -1);
}

/** An exponential average that starts at the mean of the first values. */
class Smoothing {
  private first: StaticArray<f64>;
  private count: i32 = 0;
  private average: f64 = NaN;

  constructor(period: f64, readonly weight: f64) {
    this.first = new StaticArray<f64>(candlesOf(period));
  }

  next(value: f64): f64 {
    if (isNaN(value)) return value;
    const period = this.first.length;
    if (this.count == period) {
      this.average += this.weight * (value - this.average);
      return this.average;
    }
    unchecked(this.first[this.count++] = value);
    if (this.count < period) return NaN;
    high = 0;
    low = 0;
    for (let k = period - 1; k >= 0; k--) addToPair(unchecked(this.first[k]));
    this.average = dividePair(period);
    return this.average;
  }
}

class Smoothed extends Line {
  private smoothing: Smoothing;

  constructor(readonly values: Line, period: f64, weight: f64) {
    super();
    this.smoothing = new Smoothing(period, weight);
  }

  override step(): f64 {
    return this.smoothing.next(this.values.now);
  }
}

/** Exponential average, with the weight 2 / (period + 1). */
export function ema(values: Line, period: f64): Line {
  return new Smoothed(values, period, 2 / (period + 1));
}

/** Wilder's average: exponential, with the weight 1 / period. */
export function wilder(values: Line, period: f64): Line {
  return new Smoothed(values, period, 1 / period);
}

class Rsi extends Line {
  private rises: Smoothing;
  private falls: Smoothing;

  constructor(readonly values: Line, period: f64) {
    super();
    this.rises = new Smoothing(period, 1 / period);
    this.falls = new Smoothing(period, 1 / period);
  }

  override step(): f64 {
    const change = this.values.now - this.values.before, size = Math.abs(change);
    const rise = this.rises.next(0.5 * size + 0.5 * change);
    const both = rise + this.falls.next(0.5 * size - 0.5 * change);
    return both == 0 ? 50 : 100 * rise / both;
  }
}

/** Wilder's relative strength index. */
export function rsi(values: Line, period: f64): Line {
  return new Rsi(values, period);
}

class TrueRange extends Line {
  override step(): f64 {
    const close = closes.before;
    const top = close > highs.now ? close : highs.now, bottom = close < lows.now ? close : lows.now;
    return top - bottom;
  }
}

/** Wilder's average true range. */
export function atr(period: f64): Line {
  return wilder(new TrueRange(), period);
}

class Combination extends Line {
  constructor(readonly a: Line, readonly factor: f64, readonly b: Line) {
    super();
  }

  override step(): f64 {
    return this.a.now + this.factor * this.b.now;
  }
}

/** a + factor x b: the macd is combine(ema(closes, 12), -1, ema(closes, 26)), a band combine(sma, width, stddev). */
export function combine(a: Line, factor: f64, b: Line): Line {
  return new Combination(a, factor, b);
}

class Crossing extends Line {
  private last: f64 = 0;

  constructor(readonly a: Line, readonly b: Line) {
    super();
  }

  override step(): f64 {
    const a = this.a.now, b = this.b.now, before = this.last;
    if (a != b) this.last = a > b ? 1 : a < b ? -1 : 0;
    return before * this.last < 0 ? this.last : 0;
  }
}

/** 1 at a candle where `a` crosses above `b`, -1 where it crosses below, else 0. Lines that meet and part again do not cross. */
export function cross(a: Line, b: Line): Line {
  return new Crossing(a, b);
}
