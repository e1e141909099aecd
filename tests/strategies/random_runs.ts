/** Candles and parameters that strategies are compared over. */
import type { Candles } from "../../engine/candles.ts";
import type { TradingDayColumns } from "../../engine/metrics/input.ts";
import { Random } from "../../workers/sandbox/random.ts";
import { dailyCandles } from "../workers/sandbox/wasm/modules.ts";

const CANDLES = 3000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** Candles of this length, over a random walk and with volumes that differ. */
export function walkCandles(lengthMs: number, seed: number): Candles {
  const candles = dailyCandles(walk(seed));
  return {
    ...candles,
    time: candles.time.map((_, i) => i * lengthMs),
    volume: candles.volume.map((_, i) => 100 + i * 37 % 91),
  };
}

/** Trading days with a number of candles each. */
export function daysOf(candles: number): TradingDayColumns {
  const ends = Int32Array.from({ length: CANDLES / candles }, (_, n) => candles * (n + 1));
  return { ends, dates: Float64Array.from(ends, (_, n) => n * DAY_MS) };
}

/** A random walk of prices that trends, swings and stands still in turn. */
export function walk(seed: number): number[] {
  const random = new Random(seed);
  let price = 100;
  return Array.from({ length: CANDLES }, (_, i) => {
    const phase = Math.floor(i / 500) % 3;
    const step = (random.below(2001) - 1000) / 1000;
    if (phase !== 2 || i % 7 === 0) price = Math.max(1, price * (1 + step * 0.02 + (phase === 0 ? 0.0008 : 0)));
    return Math.round(price * 100) / 100;
  });
}

/** The defaults in the first run; then short periods, both directions, and guards. */
export function parametersOf(properties: Readonly<Record<string, { readonly default: unknown }>>, seed: number) {
  const defaults = Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, property.default]));
  if (seed === 1) return defaults;
  const changes: Readonly<Record<string, unknown>> = {
    direction: "both",
    takeProfitLevel: seed === 3 ? 0.05 : 0,
    stopLossLevel: seed === 4 ? 0.03 : 0,
    fast: seed + 1,
    floor: seed === 4 ? 0.2 : 0,
    anchor: seed === 3 ? "session" : "rolling",
    units: seed + 1,
  };
  return { ...defaults, ...Object.fromEntries(Object.entries(changes).filter(([name]) => name in defaults)) };
}
