// Bindings for AssemblyScript: version 1 of strategies/ABI.md, which explains every field.

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
}

export const PLACE = 1;
export const CLOSE = 2;

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
}

export function abi_version(): i32 {
  return 1;
}

export function alloc(size: i32): usize {
  return heap.alloc(size);
}

// ---- Parameters: one flat JSON object without spaces ----

/** The text of a key's value; null if the key is absent. */
export function findValue(json: string, key: string): string | null {
  const named = `"${key}":`;
  const at = json.indexOf(named);
  if (at < 0) return null;
  const begin = at + named.length;
  let end = begin;
  while (end < json.length && json.charAt(end) != "," && json.charAt(end) != "}") end++;
  return json.substring(begin, end);
}

/** A number of zero or more. Exact up to 15 digits and 22 decimal places: only the division rounds. */
export function readNumber(json: string, key: string, fallback: f64): f64 {
  const text = findValue(json, key);
  if (text === null) return fallback;
  let digits: f64 = 0;
  let scale: f64 = 1;
  let isFraction = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code == 0x2e) isFraction = true;
    else if (code == 0x65) {
      // JSON writes small numbers as 1e-7. Positive exponents are not needed.
      for (let power = I32.parseInt(text.substring(at + 2)); power > 0; power--) scale *= 10;
      break;
    } else {
      assert(code >= 0x30 && code <= 0x39, `${key} is not a number of zero or more`);
      digits = digits * 10 + <f64> (code - 0x30);
      if (isFraction) scale *= 10;
    }
  }
  return digits / scale;
}
