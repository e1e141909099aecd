import { z } from "zod";
import { type Feed, FeedError, type FeedPart, type FeedRequest } from "./feed.ts";
import { bucketStart, monthEnd, monthOf, type Timeframe, TIMEFRAMES } from "../timeframes.ts";
import { excerpt, parseJson, ProviderClient, type ProviderOptions } from "./provider_client.ts";
import { makePart, type Row } from "./rows.ts";
import { compactSymbol } from "./symbols.ts";

export const MASSIVE_BASE_URL = "https://api.massive.com";

const PAGE_ROWS = 50_000;
const PAGES_MAX = 100;
// Plans without realtime data are a day behind.
const SETTLE_MS = 86_400_000;
// Trades are reported up to a quarter of an hour late, and plans may be as much behind: until then a candle can change.
const FINAL_MS = 15 * 60_000;
// Days are asked for a few years at a time, minutes and hours a month at a time: the limit counts minutes even of hourly candles.
const DAYS_A_REQUEST = 3_650;

const TIMESPANS = {
  "1m": "1/minute",
  "5m": "5/minute",
  "15m": "15/minute",
  "30m": "30/minute",
  "1h": "1/hour",
  "1d": "1/day",
} as const;

const rowSchema = z.object({
  t: z.int(),
  o: z.number(),
  h: z.number(),
  l: z.number(),
  c: z.number(),
  v: z.number().default(0),
});
const pageSchema = z.object({
  // With any other one, no results are not the same as no trade.
  status: z.enum(["OK", "DELAYED"]),
  results: z.array(rowSchema).nullish(),
  next_url: z.url().optional(),
});

const newYorkDate = new Intl.DateTimeFormat("en-CA", { timeZone: "America/New_York", dateStyle: "short" });

/**
 * Massive's (formerly Polygon's) aggregates of stocks, forex and crypto, for holders of a key.
 *
 * Stock candles are adjusted for splits. Days are dated by New York, as the provider does, and so kept at 00:00 UTC of that date. Candles
 * of 4h and 1w are made from finer ones here, since the provider's open at New York's midnight and on Sunday.
 *
 * @see https://massive.com/docs/rest/stocks/aggregates/custom-bars (the limit counts base candles; next_url leads to the rest), and
 *   https://polygon.io/blog/aggregate-bar-delays for how long a candle can change.
 */
export class MassiveFeed implements Feed {
  readonly name = "Massive";
  readonly exchange = "MASSIVE";
  readonly settleMs = SETTLE_MS;
  readonly #client: ProviderClient;
  readonly #now: () => number;

  /** @param requestsPerMinute What the key's plan allows: 5 where it is free. */
  constructor(options: Partial<ProviderOptions> & { readonly apiKey: string; readonly requestsPerMinute: number }) {
    const { apiKey, requestsPerMinute, ...more } = options;
    this.#now = options.now ?? Date.now;
    this.#client = new ProviderClient({
      baseUrl: MASSIVE_BASE_URL,
      budget: { weightMax: requestsPerMinute, windowMs: 60_000 },
      ...more,
      name: this.name,
      headers: { authorization: `Bearer ${apiKey}` },
    });
  }

  sourceTimeframe(timeframe: Timeframe): keyof typeof TIMESPANS {
    if (timeframe === "4h") return "1h";
    return timeframe === "1w" ? "1d" : timeframe;
  }

  async *fetch(request: FeedRequest): AsyncGenerator<FeedPart> {
    const { instrument, start, end, signal } = request;
    const timeframe = this.sourceTimeframe(request.timeframe);
    const ticker = encodeURIComponent(tickerOf(instrument));
    for (let from = start; from < end;) {
      const until = Math.min(
        end,
        timeframe === "1d" ? from + DAYS_A_REQUEST * TIMEFRAMES["1d"] : monthEnd(monthOf(from)),
      );
      // Days begin up to five hours after UTC's, so dates are asked for; they include the last.
      const bounds = timeframe === "1d" ? [isoDate(from), isoDate(until - 1)] : [from, until - 1];
      const path = `/v2/aggs/ticker/${ticker}/range/${TIMESPANS[timeframe]}/${bounds.join("/")}`;
      const rows = await this.#readPages(`${path}?adjusted=true&sort=asc&limit=${PAGE_ROWS}`, signal);
      const closed = timeframe === "1d" ? closedDays(rows, this.#now()) : { rows, until: Infinity };
      const reached = Math.min(until, closed.until, bucketStart(this.#now() - FINAL_MS, timeframe));
      if (reached > from) yield makePart(closed.rows, timeframe, from, reached);
      from = until;
    }
  }

  async #readPages(first: string, signal: AbortSignal | undefined): Promise<Row[]> {
    const rows: Row[] = [];
    let path = first;
    for (let page = 0; page < PAGES_MAX; page++) {
      const answer = await this.#readPage(path, signal);
      for (const { t, o, h, l, c, v } of answer.results ?? []) rows.push([t, o, h, l, c, v]);
      if (answer.next_url === undefined) return rows;
      // Only the path is followed: the key goes to the configured host and nowhere else.
      const { pathname, search }: URL = new URL(answer.next_url);
      path = `${pathname}${search}`;
    }
    throw new FeedError("refused", `Cannot use ${this.name}: it goes on for ${PAGES_MAX} pages`);
  }

  async #readPage(path: string, signal: AbortSignal | undefined): Promise<z.infer<typeof pageSchema>> {
    const { status, bytes } = await this.#client.get(path, signal);
    if (status !== 200) {
      throw new FeedError("refused", `Cannot use ${this.name}: it answered ${status}${excerpt(bytes)}`);
    }
    const parsed = pageSchema.safeParse(parseJson(bytes, this.name));
    if (parsed.success) return parsed.data;
    throw new FeedError("refused", `Cannot read what ${this.name} answered: ${parsed.error.issues[0]?.message}`);
  }
}

function tickerOf({ symbol, assetClass }: FeedRequest["instrument"]): string {
  // Stocks' are told apart by case: BACpL is a preferred share.
  if (assetClass === "stock") return symbol;
  return `${assetClass === "forex" ? "C" : "X"}:${compactSymbol(symbol)}`;
}

function isoDate(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/**
 * Days at 00:00 UTC of their date, and up to when they are all that there is: UTC's day is over before New York's, so that the last
 * one may still be going on.
 */
function closedDays(rows: readonly Row[], now: number): { rows: Row[]; until: number } {
  const today = dateInNewYork(now);
  const dated = rows.map(([time, ...row]): Row => [time % TIMEFRAMES["1d"] === 0 ? time : dateInNewYork(time), ...row]);
  const isOpen = rows.some(([time]) => time % TIMEFRAMES["1d"] !== 0 && dateInNewYork(time) >= today);
  return { rows: dated, until: isOpen ? today : Infinity };
}

/** 00:00 UTC of the date that it is in New York. */
function dateInNewYork(time: number): number {
  return Date.parse(newYorkDate.format(time));
}
