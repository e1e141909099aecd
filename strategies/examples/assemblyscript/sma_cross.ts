// The built-in sma-cross in AssemblyScript: long when the fast average crosses above the slow one, short or out when it crosses
// below.
import { CLOSE, findValue, Frame, Order, PLACE, readNumber } from "./hindcast";

// Hindcast calls these two as well.
export { abi_version, alloc } from "./hindcast";

// ---- The simple moving average of the built-in, rounded once, one candle at a time ----

class Average {
  /** For each value of the last block of `period` values: the sum from it to the block's end, as a pair of doubles. */
  private tailHigh: StaticArray<f64>;
  private tailLow: StaticArray<f64>;
  /** The sum of the values after that block. */
  private headHigh: f64 = 0;
  private headLow: f64 = 0;
  now: f64 = NaN;
  before: f64 = NaN;

  constructor(readonly period: i32) {
    assert(period >= 1 && period <= 10_000, "a period must be 1 to 10000 candles");
    this.tailHigh = new StaticArray<f64>(period);
    this.tailLow = new StaticArray<f64>(period);
  }

  /** Adds the value with index `i` of the column at an address. Call it for each `i` from 0 on. */
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
