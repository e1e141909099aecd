import { allocateCandles } from "../../../market/archive/candle_columns.ts";
import type { Feed, FeedPart } from "../../../market/feeds/feed.ts";

const DAY = 86_400_000;

/** The requests that a scripted feed received, and how it behaves. */
export interface Script {
  readonly asked: string[];
  /** Throws this instead of the part that begins at `failAt`; once. */
  failure?: { at: number; error: Error } | undefined;
  price: number;
  /** The price of days before `before`, where it is another. */
  past?: { before: number; price: number } | undefined;
  /** Nothing before this is given any more. */
  reachesTo?: number;
  /** Nothing inside this is given. */
  rest?: { from: number; until: number };
  /** Thrown at requests for something before `before`. */
  refusal?: { before: number; error: Error } | undefined;
}

/** Candles of one price at midnight of every day asked for but the 13th of a month, in parts of 20 days. */
export function dailyFeed(script: Script): Feed {
  return {
    name: "the test's feed",
    exchange: "TEST",
    settleMs: 0,
    sourceTimeframe: (timeframe) => timeframe,
    async *fetch({ start, end }): AsyncGenerator<FeedPart> {
      script.asked.push(`${iso(start)}..${iso(end)}`);
      if (script.refusal !== undefined && start < script.refusal.before) throw script.refusal.error;
      for (let from = start; from < end; from += 20 * DAY) {
        if (script.failure !== undefined && from >= script.failure.at) {
          const { error } = script.failure;
          script.failure = undefined;
          throw error;
        }
        const until = Math.min(end, from + 20 * DAY);
        const times = [];
        for (let time = Math.ceil(from / DAY) * DAY; time < until; time += DAY) {
          const rests = script.rest !== undefined && time >= script.rest.from && time < script.rest.until;
          if (new Date(time).getUTCDate() !== 13 && time >= (script.reachesTo ?? -Infinity) && !rests) times.push(time);
        }
        const { time, volume, ...prices } = allocateCandles(times.length);
        time.set(times);
        const priceAt = (at: number) => at < (script.past?.before ?? -Infinity) ? script.past!.price : script.price;
        for (const price of Object.values(prices)) price.set(times.map(priceAt));
        yield { start: from, end: until, candles: { time, volume, ...prices } };
        await Promise.resolve();
      }
    },
  };
}

const iso = (time: number) => new Date(time).toISOString().slice(0, 10);
