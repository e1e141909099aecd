import { setTimeout as pause } from "node:timers/promises";
import { type Feed, FeedError, type FeedPart } from "../../../market/feeds/feed.ts";
import { allocateCandles } from "../../../market/archive/candle_columns.ts";

const HOUR_MS = 3_600_000;
const PAGE_HOURS = 200;

/**
 * Hourly candles whose prices follow from their time, in pages; every hundredth hour has none. It fails now and then, at random.
 *
 * @param failures The share of pages that fail.
 * @param onPage Called when a page has been given and the next one is asked for, which waits for it.
 */
export function flakyFeed(failures = 0.1, onPage: () => Promise<unknown> = () => pause(0)): Feed {
  return {
    name: "a flaky feed",
    exchange: "TEST",
    settleMs: 0,
    sourceTimeframe: (timeframe) => timeframe,
    async *fetch({ start, end, signal }): AsyncGenerator<FeedPart> {
      for (let from = start; from < end; from += PAGE_HOURS * HOUR_MS) {
        signal?.throwIfAborted();
        if (Math.random() < failures) throw new FeedError("failed", "Cannot reach the flaky feed");
        yield makePart(from, Math.min(end, from + PAGE_HOURS * HOUR_MS));
        await onPage();
      }
    },
  };
}

function makePart(start: number, end: number): FeedPart {
  const hours = [];
  for (let time = start; time < end; time += HOUR_MS) if ((time / HOUR_MS) % 100 !== 0) hours.push(time);
  const candles = allocateCandles(hours.length);
  hours.forEach((time, i) => {
    const price = 100 + (time / HOUR_MS) % 37;
    candles.time[i] = time;
    candles.open[i] = price;
    candles.high[i] = price + 1;
    candles.low[i] = price - 1;
    candles.close[i] = price + 0.5;
    candles.volume[i] = 10;
  });
  return { start, end, candles };
}
