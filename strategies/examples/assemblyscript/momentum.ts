// Buys when the close is above the one `candles` before, with a stop loss; closes when it is below.
import { CLOSE, Frame, Order, PLACE, readNumber } from "./hindcast";

// Hindcast calls these two as well.
export { abi_version, alloc } from "./hindcast";

let candles: u32 = 20;
let stopLoss: f64 = 0.1;
const tag = String.UTF8.encode("rise");

export function init(frame: Frame): i32 {
  const json = String.UTF8.decodeUnsafe(frame.parameters, frame.parametersLength);
  candles = <u32> readNumber(json, "candles", 20);
  stopLoss = readNumber(json, "stopLoss", 0.1);
  assert(candles >= 1, "candles must be 1 or more");
  // The first decision needs this many visible candles.
  frame.warmup = candles + 1;
  return 0;
}

/** Fills rows of the order table from the first on, and returns their number. */
export function on_candle(frame: Frame): i32 {
  const now = closeAt(frame, frame.count - 1);
  const before = closeAt(frame, frame.count - 1 - candles);
  const order = changetype<Order>(frame.orders);
  if (now > before && frame.quantity == 0) {
    order.action = PLACE;
    order.side = 1;
    order.stopLossFraction = stopLoss;
    order.tag = <u32> changetype<usize>(tag);
    order.tagLength = <u32> tag.byteLength;
    return 1;
  }
  if (now < before && frame.quantity > 0) {
    order.action = CLOSE;
    order.size = 1;
    return 1;
  }
  return 0;
}

function closeAt(frame: Frame, i: u32): f64 {
  return load<f64>(frame.close + (<usize> i << 3));
}
