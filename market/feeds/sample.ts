import type { Candles } from "../../engine/candles.ts";
import { allocateCandles, sliceCandles } from "../archive/candle_columns.ts";
import type { Feed, FeedPart, FeedRequest } from "./feed.ts";
import { type MarketShape, SampleMarket } from "./sample_market.ts";
import { generateDays, SAMPLE_EUROS, SAMPLE_STOCKS } from "./sample_stocks.ts";
import { sessionOf } from "../calendar/exchange_sessions.ts";
import { isNewYorkHoliday } from "../calendar/holidays.ts";
import { tradingDaysOf } from "../calendar/trading_days.ts";
import { DAY_MS, monthEnd, monthOf, TIMEFRAME_MS } from "../timeframes.ts";

const MINUTE_MS = TIMEFRAME_MS["1m"];
const HOUR_MS = TIMEFRAME_MS["1h"];

/** An invented instrument that trades day and night. */
const SAMPLE_INSTRUMENT = {
  symbol: "DEMO",
  exchange: "SAMPLE",
  assetClass: "crypto",
  provider: "sample",
  timeframe: "1m",
  backfillFrom: "2024-01-01",
  currency: "USD",
} as const;

const SAMPLE_STOCK = { ...SAMPLE_INSTRUMENT, symbol: "STOCK", assetClass: "stock" } as const;
/** The invented instruments that every service has from its first start. */
export const SAMPLE_INSTRUMENTS = [SAMPLE_INSTRUMENT, SAMPLE_STOCK, ...SAMPLE_STOCKS, ...SAMPLE_EUROS] as const;

/** Sample minutes open in [start, end): 2024, a leap year, has 527,040 of them. Sample days end there, too. */
export const SAMPLE_RANGE = { start: Date.UTC(2024, 0, 1), end: Date.UTC(2025, 0, 1) } as const;

// Activity by hour of the day, UTC: highest while both Europe and America trade.
// deno-fmt-ignore
const CRYPTO_ACTIVITY = [
  0.8, 0.75, 0.7, 0.65, 0.65, 0.7, 0.8, 0.95, 1.05, 1.1, 1.05, 1.0,
  1.05, 1.25, 1.45, 1.5, 1.4, 1.25, 1.1, 1.05, 1.0, 0.95, 0.9, 0.85,
];

const CRYPTO: MarketShape = {
  ...{ seed: 0x48696e64, firstPrice: 42_000, volatility: 0.0007, gapVolatility: 0 },
  ...{ volume: 12, volumeStep: 0.001 },
};
// Some 20% a year, a third of its variance overnight.
const STOCK: MarketShape = {
  ...{ seed: 0x53746f63, firstPrice: 180, volatility: 0.0005, gapVolatility: 0.005 },
  ...{ volume: 60_000, volumeStep: 1 },
};

/** A month of candles. */
interface Month {
  /** 00:00 UTC of its first day, and of the next month's. */
  readonly start: number;
  readonly end: number;
  readonly candles: Candles;
}

/**
 * A feed of invented instruments, equal on every machine: it uses integer and IEEE arithmetic alone, because Math.log and Math.sin differ
 * between engines.
 */
export const SAMPLE_FEED: Feed = {
  name: "the sample",
  exchange: SAMPLE_INSTRUMENT.exchange,
  settleMs: 0,
  sourceTimeframe: (timeframe) => timeframe === "1d" ? "1d" : SAMPLE_INSTRUMENT.timeframe,
  async *fetch({ instrument, timeframe, start, end, signal }: FeedRequest): AsyncGenerator<FeedPart> {
    if (timeframe === "1d") {
      const days = generateDays(instrument.symbol, { start, end });
      if (days !== undefined) return yield { start, end, candles: days };
    }
    if (timeframe !== SAMPLE_INSTRUMENT.timeframe) {
      throw new RangeError(
        `Cannot generate ${timeframe} candles of ${instrument.symbol}: they are made as ${SAMPLE_INSTRUMENT.timeframe}`,
      );
    }
    let from = start;
    for (const { candles, ...month } of instrument.assetClass === "stock" ? stockMonths() : cryptoMonths()) {
      signal?.throwIfAborted();
      if (month.end <= from || month.start >= end) continue;
      const until = Math.min(end, month.end);
      yield {
        start: from,
        end: until,
        candles: sliceCandles(candles, indexAt(candles.time, from), indexAt(candles.time, until)),
      };
      from = until;
      // A month is a long computation: let other tasks run between months.
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    if (from < end) yield { start: from, end, candles: allocateCandles(0) };
  },
};

function* cryptoMonths(): Generator<Month> {
  const market = new SampleMarket(CRYPTO);
  for (const { start, end } of months()) {
    const candles = allocateCandles((end - start) / MINUTE_MS);
    for (let i = 0, time = start; time < end; i++, time += MINUTE_MS) {
      market.write(candles, i, time, CRYPTO_ACTIVITY[Math.floor(time % DAY_MS / HOUR_MS)]!);
      if ((time + MINUTE_MS) % DAY_MS === 0) market.endDay(DAY_MS / MINUTE_MS);
    }
    yield { start, end, candles };
  }
}

function* stockMonths(): Generator<Month> {
  const market = new SampleMarket(STOCK);
  const days = tradingDaysOf(sessionOf(SAMPLE_STOCK));
  for (const { start, end } of months()) {
    const candles = allocateCandles((end - start) / MINUTE_MS);
    let count = 0;
    for (let date = start; date < end; date += DAY_MS) {
      if (!days.isTraded(date) || isNewYorkHoliday(date / DAY_MS)) continue;
      const { open, close } = days.dayAtOrAfter(date + DAY_MS / 2);
      for (let time = open; time < close; time += MINUTE_MS) {
        // The first and the last hour are the busy ones.
        const fromNoon = Math.abs(2 * (time - open) / (close - open) - 1);
        market.write(candles, count++, time, 0.75 + 0.75 * fromNoon * fromNoon);
      }
      market.endDay((close - open) / MINUTE_MS);
    }
    yield { start, end, candles: sliceCandles(candles, 0, count) };
  }
}

function* months(): Generator<{ start: number; end: number }> {
  for (let start: number = SAMPLE_RANGE.start; start < SAMPLE_RANGE.end;) {
    const end = Math.min(monthEnd(monthOf(start)), SAMPLE_RANGE.end);
    yield { start, end };
    start = end;
  }
}

/** The index of the first candle at a time or later. */
function indexAt(times: Float64Array, time: number): number {
  const index = times.findIndex((each) => each >= time);
  return index < 0 ? times.length : index;
}
