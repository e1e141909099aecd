import type { Candles } from "../../engine/candles.ts";
import type { InputCandles } from "../../engine/inputs.ts";
import { Random } from "./random.ts";
import type { Series } from "./candle_series.ts";

const SAMPLE_CANDLES = 512;
/** Of decisions, for a strategy that waits long for its first one. */
const DECISIONS_MIN = 256;
/** A longer warm-up is not waited for: the report says that no decision was due. */
const CANDLES_MAX = 65_536;
const STEPS = 1_000_000;
const FIRST_MS = Date.UTC(2024, 0, 1);
export const SAMPLE_TIMEFRAME_MS = 86_400_000;
/** The sample candles as a strategy knows them before it sees one. */
export const SAMPLE_SERIES: Series = { timeframeMs: SAMPLE_TIMEFRAME_MS, firstIndex: 0, isTrial: true };

/** Made-up daily candles that rise, fall and stand still, the same each time: modules and endpoints are tried on them. */
export function sampleCandles(count = SAMPLE_CANDLES): Candles {
  const column = () => new Float64Array(count);
  const candles = { time: column(), open: column(), high: column(), low: column(), close: column(), volume: column() };
  const random = new Random(20_240_101);
  const next = () => random.below(STEPS) / STEPS;
  let price = 100;
  for (let i = 0; i < count; i++) {
    const trend = Math.floor(i / 64) % 3 - 1;
    const close = Math.max(1, price + trend * 0.25 + (next() - 0.5) * 4);
    candles.time[i] = FIRST_MS + i * SAMPLE_TIMEFRAME_MS;
    candles.open[i] = price;
    candles.high[i] = Math.max(price, close) + next();
    candles.low[i] = Math.min(price, close) * (1 - next() * 0.01);
    candles.close[i] = close;
    candles.volume[i] = Math.floor(next() * 1000);
    price = close;
  }
  return candles;
}

/** Sample candles that a strategy has to decide on. @param warmup Candles up to and including its first decision's. */
export function candlesToDecide(warmup: number): Candles {
  return sampleCandles(Math.min(CANDLES_MAX, Math.max(SAMPLE_CANDLES, warmup + DECISIONS_MIN)));
}

/** An input beside made-up candles: each of its candles is made of four of them. */
export function sampleInput({ time, open, high, low, close, volume }: Candles): InputCandles {
  const count = Math.floor(time.length / 4);
  const column = (value: (from: number, until: number) => number) =>
    Float64Array.from({ length: count }, (_, k) => value(4 * k, 4 * k + 4));
  const candles = {
    time: column((from) => time[from]!),
    open: column((from) => open[from]!),
    high: column((from, until) => Math.max(...high.subarray(from, until))),
    low: column((from, until) => Math.min(...low.subarray(from, until))),
    close: column((_, until) => close[until - 1]!),
    volume: column((from, until) => volume.subarray(from, until).reduce((sum, each) => sum + each, 0)),
  };
  const knownFrom = column((_, until) => time[until - 1]!);
  return { name: "sample", candles, knownFrom, firstIndex: 0, perCandle: 1, tradingDays: null };
}
