// The built-in sma-cross in AssemblyScript: long where the fast average crosses above the slow one, and where it crosses below,
// short or out. What the structures mean is written in strategies/ABI.md, version 1.

// ---- What is shared with the host ----

@unmanaged
class Order {
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
}

const PLACE = 1;
const CLOSE = 2;

@unmanaged
class Frame {
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
}

export function abi_version(): i32 {
  return 1;
}

export function alloc(size: i32): usize {
  return heap.alloc(size);
}

// ---- Parameters: one flat JSON object without spaces ----

/** The text of a key's value; null where there is no such key. */
function findValue(json: string, key: string): string | null {
  const named = `"${key}":`;
  const at = json.indexOf(named);
  if (at < 0) return null;
  const begin = at + named.length;
  let end = begin;
  while (end < json.length && json.charAt(end) != "," && json.charAt(end) != "}") end++;
  return json.substring(begin, end);
}

/** Exact for up to 15 digits and 22 decimal places: one rounding, that of the division. */
function readNumber(json: string, key: string, fallback: f64): f64 {
  const text = findValue(json, key);
  if (text === null) return fallback;
  let digits: f64 = 0;
  let scale: f64 = 1;
  let isFraction = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code == 0x2e) isFraction = true;
    else if (code == 0x65) {
      // JSON writes small numbers as 1e-7; none of ours is large enough for another exponent.
      for (let power = I32.parseInt(text.substring(at + 2)); power > 0; power--) scale *= 10;
      break;
    } else {
      assert(code >= 0x30 && code <= 0x39, `${key} is no number of zero or more`);
      digits = digits * 10 + <f64> (code - 0x30);
      if (isFraction) scale *= 10;
    }
  }
  return digits / scale;
}

// ---- A simple moving average, rounded once: the built-in's, one candle at a time ----

class Average {
  /** Sums of the last block of `period` values from each of its values on, as pairs of doubles. */
  private tailHigh: StaticArray<f64>;
  private tailLow: StaticArray<f64>;
  /** The sum of the values since that block. */
  private headHigh: f64 = 0;
  private headLow: f64 = 0;
  now: f64 = NaN;
  before: f64 = NaN;

  constructor(readonly period: i32) {
    assert(period >= 1 && period <= 10_000, "a period must be 1 to 10000 candles");
    this.tailHigh = new StaticArray<f64>(period);
    this.tailLow = new StaticArray<f64>(period);
  }

  /** Takes in the value with index `i` of the column at an address; to be called for each from 0 on. */
  push(column: usize, i: i32): void {
    this.before = this.now;
    this.now = this.mean(column, i);
  }

  private mean(column: usize, i: i32): f64 {
    const period = this.period;
    const tail = (i + 1) % period;
    if (tail == 0) {
      this.sumTails(column, i + 1 - period);
      return divide(this.tailHigh[0], this.tailLow[0], period);
    }
    if (i < period) return NaN;
    const value = load<f64>(column + (<usize> i << 3));
    const head = this.headHigh + value;
    const headPart = head - this.headHigh;
    this.headLow += (this.headHigh - (head - headPart)) + (value - headPart);
    this.headHigh = head;
    const high = this.tailHigh[tail];
    const sum = high + head;
    const part = sum - high;
    const low = (high - (sum - part)) + (head - part) + (this.tailLow[tail] + this.headLow);
    return divide(sum, low, period);
  }

  private sumTails(column: usize, block: i32): void {
    let high: f64 = 0;
    let low: f64 = 0;
    for (let k = this.period - 1; k >= 0; k--) {
      const value = load<f64>(column + (<usize> (block + k) << 3));
      const sum = high + value;
      const part = sum - high;
      low += (high - (sum - part)) + (value - part);
      high = sum;
      this.tailHigh[k] = high;
      this.tailLow[k] = low;
    }
    this.headHigh = 0;
    this.headLow = 0;
  }
}

function divide(high: f64, low: f64, divisor: f64): f64 {
  const quotient = high / divisor;
  const scaled = quotient * 134217729.0;
  const upper = scaled - (scaled - quotient);
  const lower = quotient - upper;
  const rest = (high - upper * divisor) - lower * divisor;
  return quotient + (rest + low) / divisor;
}

// ---- The strategy ----

let fast = new Average(1);
let slow = new Average(2);
let seen: u32 = 0;
let shorts = true;
let takeProfitLevel: f64 = 0;
let stopLossLevel: f64 = 0;

export function init(frame: Frame): i32 {
  const json = String.UTF8.decodeUnsafe(frame.parameters, frame.parametersLength);
  fast = new Average(<i32> readNumber(json, "fast", 10));
  slow = new Average(<i32> readNumber(json, "slow", 30));
  assert(fast.period < slow.period, "fast must be less than slow");
  const direction = findValue(json, "direction");
  shorts = direction === null || direction == '"both"';
  takeProfitLevel = readNumber(json, "takeProfitLevel", 0);
  stopLossLevel = readNumber(json, "stopLossLevel", 0);
  frame.warmup = slow.period + 1;
  return 0;
}

export function on_candle(frame: Frame): i32 {
  for (; seen < frame.count; seen++) {
    fast.push(frame.close, seen);
    slow.push(frame.close, seen);
  }
  const order = changetype<Order>(frame.orders);
  if (fast.before < slow.before && fast.now > slow.now) {
    if (frame.quantity <= 0) return enter(order, 1);
  } else if (slow.before < fast.before && slow.now > fast.now) {
    if (shorts && frame.quantity >= 0) return enter(order, -1);
    if (frame.quantity > 0) return leave(order);
  }
  return 0;
}

function enter(order: Order, side: i32): i32 {
  order.action = PLACE;
  order.side = side;
  order.takeProfitFraction = takeProfitLevel;
  order.stopLossFraction = stopLossLevel;
  return 1;
}

function leave(order: Order): i32 {
  order.action = CLOSE;
  order.size = 1;
  return 1;
}
