import type { Candles } from "../../engine/candles.ts";

const COUNT = 512;
const FIRST_MS = Date.UTC(2024, 0, 1);
export const SAMPLE_TIMEFRAME_MS = 86_400_000;

/** Made-up daily candles that rise, fall and stand still: what a module is tried on before it is accepted. The same ones each time. */
export function sampleCandles(): Candles {
  const column = () => new Float64Array(COUNT);
  const candles = { time: column(), open: column(), high: column(), low: column(), close: column(), volume: column() };
  const random = new Lehmer(20_240_101);
  let price = 100;
  for (let i = 0; i < COUNT; i++) {
    const trend = Math.floor(i / 64) % 3 - 1;
    const close = Math.max(1, price + trend * 0.25 + (random.next() - 0.5) * 4);
    candles.time[i] = FIRST_MS + i * SAMPLE_TIMEFRAME_MS;
    candles.open[i] = price;
    candles.high[i] = Math.max(price, close) + random.next();
    candles.low[i] = Math.min(price, close) * (1 - random.next() * 0.01);
    candles.close[i] = close;
    candles.volume[i] = Math.floor(random.next() * 1000);
    price = close;
  }
  return candles;
}

/** Numbers in (0, 1), the same on every machine. @see S. K. Park and K. W. Miller (1988), "Random number generators". */
class Lehmer {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  next(): number {
    this.#state = this.#state * 48_271 % 2_147_483_647;
    return this.#state / 2_147_483_647;
  }
}
