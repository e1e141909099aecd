import { z } from "zod";
import { type Feed, FeedError, type FeedPart, type FeedRequest } from "../feeds.ts";
import { monthEnd, monthOf, type Timeframe, TIMEFRAMES } from "../timeframes.ts";
import { excerpt, ProviderClient, type ProviderOptions } from "./provider_client.ts";
import { makePart, type Row } from "./rows.ts";

export const MASSIVE_BASE_URL = "https://api.massive.com";

const PAGE_ROWS = 50_000;
const PAGES_MAX = 100;
// Plans without realtime data are a day behind.
const SETTLE_MS = 86_400_000;
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
  status: z.string(),
  adjusted: z.boolean().optional(),
  results: z.array(rowSchema).nullish(),
  next_url: z.string().optional(),
});

const newYorkDate = new Intl.DateTimeFormat("en-CA", { timeZone: "America/New_York", dateStyle: "short" });

/**
 * Massive's (formerly Polygon's) aggregates of stocks, forex and crypto, for holders of a key.
 *
 * Stock candles are adjusted for splits. Days are dated by New York, as the provider does, and so kept at 00:00 UTC of that date. Candles
 * of 4h and 1w are made from finer ones here, since the provider's open at New York's midnight and on Sunday.
 *
 * @see https://massive.com/docs/rest/stocks/aggregates/custom-bars (the limit counts base candles; next_url leads to the rest).
 */
export class MassiveFeed implements Feed {
  readonly name = "Massive";
  readonly exchange = "MASSIVE";
  readonly settleMs = SETTLE_MS;
  readonly #client: ProviderClient;

  /** @param requestsPerMinute What the key's plan allows: 5 where it is free. */
  constructor(options: Partial<ProviderOptions> & { readonly apiKey: string; readonly requestsPerMinute: number }) {
    const { apiKey, requestsPerMinute, ...more } = options;
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
      const dated = timeframe === "1d" ? rows.map(([time, ...row]): Row => [dayOf(time), ...row]) : rows;
      yield makePart(dated, timeframe, from, until);
      from = until;
    }
  }

  async #readPages(first: string, signal: AbortSignal | undefined): Promise<Row[]> {
    const rows: Row[] = [];
    let path: string | undefined = first;
    for (let page = 0; path !== undefined; page++) {
      if (page === PAGES_MAX) throw new FeedError("refused", `Cannot use ${this.name}: it goes on for ${page} pages`);
      const answer = await this.#readPage(path, signal);
      for (const { t, o, h, l, c, v } of answer.results ?? []) rows.push([t, o, h, l, c, v]);
      // Only the path is followed: the key goes to the configured host and nowhere else.
      const next: URL | null = answer.next_url === undefined ? null : URL.parse(answer.next_url);
      path = next === null ? undefined : `${next.pathname}${next.search}`;
    }
    return rows;
  }

  async #readPage(path: string, signal: AbortSignal | undefined): Promise<z.infer<typeof pageSchema>> {
    const { status, bytes } = await this.#client.get(path, signal);
    if (status !== 200) {
      throw new FeedError("refused", `Cannot use ${this.name}: it answered ${status}${excerpt(bytes)}`);
    }
    let json: unknown;
    try {
      json = JSON.parse(new TextDecoder().decode(bytes));
    } catch {
      // Not JSON: refused below like any other answer of another shape.
    }
    const parsed = pageSchema.safeParse(json);
    if (parsed.success) return parsed.data;
    throw new FeedError("refused", `Cannot read what ${this.name} answered: ${parsed.error.issues[0]?.message}`);
  }
}

function tickerOf({ symbol, assetClass }: FeedRequest["instrument"]): string {
  if (assetClass === "stock") return symbol.toUpperCase();
  return `${assetClass === "forex" ? "C" : "X"}:${symbol.toUpperCase().replaceAll(/[^A-Z0-9]/g, "")}`;
}

function isoDate(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** 00:00 UTC of the day that a daily candle is of: one that does not open at UTC's midnight opens at New York's. */
function dayOf(time: number): number {
  return time % TIMEFRAMES["1d"] === 0 ? time : Date.parse(newYorkDate.format(time));
}
