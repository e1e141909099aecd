import { z } from "zod";
import type { AssetClass } from "../../db/instruments.ts";
import type { Hours } from "../calendar/exchange_sessions.ts";
import {
  bucketStart,
  DAY_MS,
  isCoarser,
  isDaily,
  monthEnd,
  monthOf,
  type Timeframe,
  TIMEFRAME_MS,
} from "../timeframes.ts";
import { type Feed, type FeedDefinition, FeedError, type FeedPart, type FeedRequest } from "./feed.ts";
import { excerpt, mirrorVariable, parseJson, ProviderClient, type ProviderSettings } from "./provider_client.ts";
import { makePart, type Row } from "./rows.ts";
import { quoteCurrencyOf } from "./quote_currency.ts";
import { compactSymbol } from "./symbols.ts";

const EXCHANGE = "MASSIVE";
const BASE_URL = "https://api.massive.com";

const PAGE_ROWS = 50_000;
const PAGES_MAX = 100;
// Plans without realtime data are a day behind.
const SETTLE_MS = DAY_MS;
// Trades are reported up to 15 minutes late, and some plans are delayed by 15 minutes: a younger candle can change.
const FINAL_MS = 15 * 60_000;
// Ten years of days, or a month of finer candles: the row limit counts minutes even for hourly candles.
const DAYS_A_REQUEST = 3_650;

const TIMESPANS = {
  "1m": "1/minute",
  "3m": "3/minute",
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
  // With any other status, an empty answer does not mean that there was no trade.
  status: z.enum(["OK", "DELAYED"]),
  results: z.array(rowSchema).nullish(),
  next_url: z.url().optional(),
});

const newYorkDate = new Intl.DateTimeFormat("en-CA", { timeZone: "America/New_York", dateStyle: "short" });

/**
 * Massive's (formerly Polygon's) aggregates of stocks, forex and crypto, for holders of a key.
 *
 * Stock candles are adjusted for splits. The provider dates days by New York, so a day is stored at 00:00 UTC of that date. Candles that
 * the provider cuts at full hours, at New York's midnight or on Sunday are made of finer ones.
 *
 * @see https://massive.com/docs/rest/stocks/aggregates/custom-bars (the limit counts base candles; next_url leads to the rest), and
 *   https://polygon.io/blog/aggregate-bar-delays for how long a candle can change.
 */
export class MassiveFeed implements Feed {
  readonly name = "Massive";
  readonly exchange = EXCHANGE;
  readonly settleMs = SETTLE_MS;
  readonly #client: ProviderClient;
  readonly #now: () => number;

  /** @param settings `requestsPerMinute` is the limit of the key's plan. */
  constructor(settings: ProviderSettings & { readonly apiKey: string; readonly requestsPerMinute: number }) {
    const { apiKey, requestsPerMinute, ...more } = settings;
    this.#now = settings.now ?? Date.now;
    this.#client = new ProviderClient({
      budget: { weightMax: requestsPerMinute, windowMs: 60_000 },
      ...more,
      baseUrl: settings.baseUrl ?? BASE_URL,
      name: this.name,
      headers: { authorization: `Bearer ${apiKey}` },
    });
  }

  /** USD for stocks: all of them are of US exchanges. */
  currencyOf(instrument: Pick<FeedRequest["instrument"], "symbol" | "assetClass">): string | null {
    return instrument.assetClass === "stock" ? "USD" : quoteCurrencyOf(instrument);
  }

  sourceTimeframe(timeframe: Timeframe, assetClass: AssetClass, hours?: Hours): keyof typeof TIMESPANS {
    if (assetClass === "stock") {
      if (isDaily(timeframe) && hours !== "extended") return "1d";
      return isCoarser(timeframe, "30m") ? "30m" : requireSpan(timeframe);
    }
    if (isDaily(timeframe)) return assetClass === "forex" ? "1h" : "1d";
    return isCoarser(timeframe, "1h") ? "1h" : requireSpan(timeframe);
  }

  async *fetch(request: FeedRequest): AsyncGenerator<FeedPart> {
    const { instrument, start, end, signal } = request;
    const timeframe = requireSpan(request.timeframe);
    const ticker = encodeURIComponent(tickerOf(instrument));
    for (let from = start; from < end;) {
      const until = Math.min(
        end,
        timeframe === "1d" ? from + DAYS_A_REQUEST * TIMEFRAME_MS["1d"] : monthEnd(monthOf(from)),
      );
      // New York's days begin up to five hours after UTC's, so the request names dates; it includes the last one.
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
      // The key must go to the configured host alone, so only the path is followed.
      const { pathname, search }: URL = new URL(answer.next_url);
      path = `${pathname}${search}`;
    }
    throw new FeedError("refused", `Cannot use ${this.name}: its answer has more than ${PAGES_MAX} pages`);
  }

  async #readPage(path: string, signal: AbortSignal | undefined): Promise<z.infer<typeof pageSchema>> {
    const { status, bytes } = await this.#client.get(path, signal);
    if (status !== 200) {
      throw new FeedError("refused", `Cannot use ${this.name}: it answered ${status}${excerpt(bytes)}`);
    }
    const parsed = pageSchema.safeParse(parseJson(bytes, this.name));
    if (parsed.success) return parsed.data;
    throw new FeedError("refused", `Cannot read the answer of ${this.name}: ${parsed.error.issues[0]?.message}`);
  }
}

const requestsPerMinute = z.string().regex(/^\d+$/, { error: "must be a whole number" })
  .refine((text) => Number(text) >= 1, { error: "must be at least 1" })
  .refine((text) => Number(text) <= 60_000, { error: "must be at most 60000" });

/** Massive, for every asset class. */
export const MASSIVE: FeedDefinition = {
  name: "massive",
  assetClasses: ["crypto", "forex", "stock"],
  variables: {
    MASSIVE_API_KEY: {
      schema: z.string().optional(),
      description: "Key for Massive (formerly Polygon).",
      isSecret: true,
    },
    MASSIVE_REQUESTS_PER_MINUTE: {
      // The limit of the free plan.
      schema: requestsPerMinute.default("5"),
      description: "Requests that the key's plan allows; each process counts for itself.",
    },
    MASSIVE_BASE_URL: mirrorVariable("Massive"),
  },
  create: ({ MASSIVE_API_KEY: apiKey, MASSIVE_REQUESTS_PER_MINUTE, MASSIVE_BASE_URL: baseUrl }) => {
    if (apiKey === undefined) return { missing: "MASSIVE_API_KEY", exchange: EXCHANGE };
    return new MassiveFeed({ baseUrl, apiKey, requestsPerMinute: Number(MASSIVE_REQUESTS_PER_MINUTE) });
  },
};

function requireSpan(timeframe: Timeframe): keyof typeof TIMESPANS {
  if (isSpan(timeframe)) return timeframe;
  throw new RangeError(`Cannot fetch ${timeframe} candles from Massive: make them of finer ones`);
}

function isSpan(timeframe: Timeframe): timeframe is keyof typeof TIMESPANS {
  return Object.hasOwn(TIMESPANS, timeframe);
}

function tickerOf({ symbol, assetClass }: FeedRequest["instrument"]): string {
  // The case matters for stocks: BACpL is a preferred share.
  if (assetClass === "stock") return symbol;
  return `${assetClass === "forex" ? "C" : "X"}:${compactSymbol(symbol)}`;
}

function isoDate(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Days at 00:00 UTC of their New York date, and the time until which they are complete: New York's day ends after UTC's. */
function closedDays(rows: readonly Row[], now: number): { rows: Row[]; until: number } {
  const today = dateInNewYork(now);
  const dated = rows.map((
    [time, ...row],
  ): Row => [time % TIMEFRAME_MS["1d"] === 0 ? time : dateInNewYork(time), ...row]);
  const isOpen = rows.some(([time]) => time % TIMEFRAME_MS["1d"] !== 0 && dateInNewYork(time) >= today);
  return { rows: dated, until: isOpen ? today : Infinity };
}

/** 00:00 UTC of the date in New York. */
function dateInNewYork(time: number): number {
  return Date.parse(newYorkDate.format(time));
}
