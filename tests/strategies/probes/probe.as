// Places an order for each line and each number, at its value as the limit price.
import {
  askZone,
  atr,
  buy,
  closes,
  combine,
  cross,
  ema,
  frame,
  highest,
  highs,
  LIMIT,
  Line,
  local,
  lowest,
  lows,
  Moment,
  play,
  readFlag,
  readNumber,
  readText,
  rsi,
  sma,
  stddev,
  Strategy,
  utc,
  valueAt,
  wilder,
} from "./hindcast";
export { abi_version, alloc, init, on_candle } from "./hindcast";

class Probe extends Strategy {
  lines: Line[];
  zone: i32 = askZone("America/New_York");

  constructor() {
    super();
    const period = readNumber("period", 0), slow = 2 * period + 3;
    const macd = combine(ema(closes, period), -1, ema(closes, slow));
    this.lines = [
      sma(closes, period),
      ema(closes, period),
      wilder(closes, period),
      stddev(closes, period),
      rsi(closes, period),
      highest(highs, period),
      lowest(lows, period),
      atr(period),
      macd,
      ema(macd, period),
      combine(sma(closes, period), 2, stddev(closes, period)),
      cross(closes, sma(closes, period)),
    ];
    frame.ordersMax = 128;
  }

  decide(): void {
    const i = frame.count - 1, time = valueAt(frame.time, i);
    show(join(utc(time - i * 129_600_000_017.0)));
    show(join(local(time + i * 133_200_000.0, this.zone)));
    for (let n = 0; n < this.lines.length; n++) show(this.lines[n].now);
    if (frame.count > 1) return;
    for (let n = 0; n < 100; n++) show(readNumber("n" + n.toString().padStart(2, "0"), -77));
    show(f64(readFlag("yes", false) && !readFlag("no", true) && readFlag("none", true)));
    show(f64(readText("text", "") == "plain" && readText("none", "none") == "none"));
  }
}

/** All parts in one number. */
function join(at: Moment): f64 {
  return ((<f64> ((at.year * 13 + at.month) * 32 + at.day) * 7 + at.weekday) * 24 + at.hour) * 60 + at.minute;
}

function show(value: f64): void {
  const order = buy();
  order.type = LIMIT;
  order.limitPrice = isNaN(value) ? 1e300 : value == 0 ? 2e300 : value;
}

play(() => new Probe());
