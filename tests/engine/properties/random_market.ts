import { candleClose } from "../../../engine/time/durations.ts";
import type { Candles } from "../../../engine/candles.ts";
import type { Random } from "./random.ts";

export interface RandomMarket {
  readonly candles: Candles;
  readonly timeframeMs: number | null;
  /** Four finer candles for most candles; some have none, some lack one. */
  readonly finer: Candles | null;
  /** Every price is a multiple of it. */
  readonly tick: number;
  /** Factor of all prices against usual ones. */
  readonly scale: number;
}

interface Quote {
  time: number;
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const FINER_PER_CANDLE = 4;

/** Candles with gaps, limit moves, candles without range, spikes, candles without volume and weekends. */
export function randomMarket(random: Random): RandomMarket {
  // A few long ones: short ones never fill a block or a chunk.
  const count = random.chance(0.002) ? random.whole(500, 1500) : random.whole(30, 60);
  const timeframeMs = random.pick([MINUTE_MS, HOUR_MS, 8 * HOUR_MS, 24 * HOUR_MS, 168 * HOUR_MS, null]);
  // A few extreme prices: a coin of which a cent buys a million, and an index in a small currency.
  const scale = random.chance(0.8) ? 1 : random.pick([1e-9, 1e6]);
  const tick = scale * random.pick([0.01, 0.01, 0.5, 1]);
  const wildness = random.pick([0.005, 0.02, 0.08]);
  const walk = newWalk(random, scale * random.pick([20, 100, 100, 30_000]), tick, wildness);
  let time = random.whole(0, 1000) * HOUR_MS;
  if (timeframeMs === null) time = candleClose(time, null);
  const rows: Quote[] = [];
  const finer: Quote[] = [];
  for (let i = 0; i < count; i++) {
    const parts = walk.candle();
    rows.push({ ...joined(parts), time });
    const kept = random.chance(0.15) ? [] : parts.filter(() => !random.chance(0.05));
    const partMs = (candleClose(time, timeframeMs) - time) / FINER_PER_CANDLE;
    finer.push(...kept.map((part) => ({ ...part, time: time + parts.indexOf(part) * partMs })));
    const periods = random.chance(0.05) ? random.whole(2, 60) : 1;
    for (let n = 0; n < periods; n++) time = candleClose(time, timeframeMs);
  }
  return { candles: columns(rows), timeframeMs, finer: random.chance(0.7) ? columns(finer) : null, tick, scale };
}

function newWalk(random: Random, price: number, tick: number, wildness: number): { candle(): Quote[] } {
  const round = (value: number) => Math.max(5 * tick, Math.round(Math.max(value, 5 * tick) / tick) * tick);
  const move = () => round(price * (1 + random.between(-wildness, wildness)));
  const part = (kind: number, isFirst: boolean): Quote => {
    if (isFirst && random.chance(0.1)) price = round(price * (1 + random.between(-5, 5) * wildness));
    const open = isFirst || random.chance(0.1) ? move() : round(price);
    const close = kind < 0.1 ? open : (price = open, move());
    // Candles without range (whole limit moves after a gap) stay at their open.
    const reach = kind < 0.1 ? 0 : kind > 0.9 ? 4 * wildness : wildness / 2;
    const high = kind < 0.1 ? open : round(Math.max(open, close) * (1 + random.between(0, reach)));
    const low = kind < 0.1 ? open : round(Math.min(open, close) * (1 - random.between(0, reach)));
    price = close;
    const volume = random.chance(0.05) ? 0 : random.whole(1, 300);
    return {
      time: 0,
      open,
      high: Math.max(open, close, high),
      low: Math.min(open, close, low),
      close,
      volume,
    };
  };
  return {
    candle() {
      const kind = random.next();
      const parts: Quote[] = [];
      for (let k = 0; k < FINER_PER_CANDLE; k++) parts.push(part(kind < 0.1 ? kind : random.next(), k === 0));
      return parts;
    },
  };
}

function joined(parts: readonly Quote[]): Quote {
  return {
    time: 0,
    open: parts[0]!.open,
    high: Math.max(...parts.map((part) => part.high)),
    low: Math.min(...parts.map((part) => part.low)),
    close: parts.at(-1)!.close,
    volume: parts.reduce((sum, part) => sum + part.volume, 0),
  };
}

function columns(rows: readonly Quote[]): Candles {
  const column = (field: keyof Quote) => Float64Array.from(rows, (row) => row[field]);
  return {
    time: column("time"),
    open: column("open"),
    high: column("high"),
    low: column("low"),
    close: column("close"),
    volume: column("volume"),
  };
}
