import type { Candles } from "../../../engine/candles.ts";
import type { Random } from "../properties/random.ts";

/** A random walk from 100 on without gaps in price, its first candle at 1970. */
export function walkMarket(random: Random, count: number, stepMs: number): Candles {
  const column = () => new Float64Array(count);
  const candles = { time: column(), open: column(), high: column(), low: column(), close: column(), volume: column() };
  for (let i = 0, price = 100; i < count; i++) {
    const close = price * random.between(0.99, 1.0101);
    candles.time[i] = i * stepMs;
    candles.open[i] = price;
    candles.close[i] = close;
    candles.high[i] = Math.max(price, close) * random.between(1, 1.003);
    candles.low[i] = Math.min(price, close) * random.between(0.997, 1);
    candles.volume[i] = random.whole(50, 500);
    price = close;
  }
  return candles;
}
