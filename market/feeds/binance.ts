import { z } from "zod";
import { candleEnd } from "../timeframes.ts";
import { type Feed, type FeedDefinition, FeedError, type FeedPart, type FeedRequest } from "./feed.ts";
import { excerpt, mirrorVariable, parseJson, ProviderClient, type ProviderSettings } from "./provider_client.ts";
import { makePart, type Row } from "./rows.ts";
import { quoteCurrencyOf } from "./quote_currency.ts";
import { compactSymbol } from "./symbols.ts";

const BASE_URL = "https://data-api.binance.vision";

const PAGE_ROWS = 1000;
const REQUEST_WEIGHT = 2;
// The exchange allows 6,000 a minute for an address, and other programs may share ours.
const BUDGET = { weightMax: 4_000, windowMs: 60_000 };
const USED_WEIGHT_HEADER = "x-mbx-used-weight-1m";
// An unknown symbol, and a symbol with illegal characters.
const SYMBOL_CODES = [-1121, -1100];
const SETTLE_MS = 60_000;
// The exchange's clock may be behind ours, so a candle that just closed may still change.
const CLOCK_SKEW_MS = 5_000;

const decimal = z.string().regex(/^\d+(\.\d+)?$/).transform(Number);
// open time, open, high, low, close, volume, close time, and columns that we do not use.
const klineSchema = z.tuple([z.int(), decimal, decimal, decimal, decimal, decimal, z.int()], z.unknown());
const klinesSchema = z.array(klineSchema);
const errorSchema = z.object({ code: z.number(), msg: z.string() });

/**
 * Binance spot candles ("klines"), which need no key.
 *
 * Symbols are the exchange's own, and some are not ASCII. BTC/USDT and btc-usdt mean BTCUSDT.
 *
 * @see https://developers.binance.com/docs/binance-spot-api-docs/rest-api/market-data-endpoints (klines), and its page "limits" for the
 *   weights, the X-MBX-USED-WEIGHT header and the statuses 429 and 418 with Retry-After.
 */
export class BinanceFeed implements Feed {
  readonly name = "Binance";
  readonly exchange = "BINANCE";
  readonly settleMs = SETTLE_MS;
  readonly currencyOf = quoteCurrencyOf;
  readonly #client: ProviderClient;
  readonly #now: () => number;

  constructor(settings: ProviderSettings = {}) {
    this.#now = settings.now ?? Date.now;
    this.#client = new ProviderClient({
      budget: BUDGET,
      usedWeightHeader: USED_WEIGHT_HEADER,
      ...settings,
      baseUrl: settings.baseUrl ?? BASE_URL,
      name: this.name,
    });
  }

  /** The exchange has all of our timeframes, and its weeks open on Monday too. */
  sourceTimeframe = <Timeframe>(timeframe: Timeframe): Timeframe => timeframe;

  async *fetch({ instrument, timeframe, start, end, signal }: FeedRequest): AsyncGenerator<FeedPart> {
    const symbol = compactSymbol(instrument.symbol);
    if (symbol === "") throw unknownSymbol(instrument.symbol);
    // The exchange refuses times before 1970.
    if (start < 0) yield makePart([], timeframe, start, Math.min(end, 0));
    for (let from = Math.max(start, 0); from < end;) {
      const query = new URLSearchParams({ symbol, interval: timeframe, limit: String(PAGE_ROWS) });
      query.set("startTime", String(from));
      query.set("endTime", String(end - 1));
      const page = await this.#readPage(`/api/v3/klines?${query}`, instrument.symbol, signal);
      const rows = page.filter(([time]) => time >= from && time < end);
      if (page.length > 0 && rows.length === 0) {
        throw new FeedError("failed", `Cannot use ${this.name}: it answered with candles outside the requested range`);
      }
      const now = this.#now() - CLOCK_SKEW_MS;
      const closed = rows.filter((row) => row[6] < now);
      const firstOpen = Math.min(...rows.filter((row) => row[6] >= now).map(([time]) => time));
      const last = Math.max(...closed.map(([time]) => time));
      // A page that ends early may have been cut short. Only an empty page proves that no candle follows.
      const answered = closed.length === 0 ? end : candleEnd(last, timeframe);
      const until = Math.min(answered, firstOpen, end);
      if (until <= from) return;
      yield makePart(closed.map(toRow), timeframe, from, until);
      from = until;
    }
  }

  async #readPage(path: string, symbol: string, signal: AbortSignal | undefined) {
    const { status, bytes } = await this.#client.get(path, signal, REQUEST_WEIGHT);
    if (status === 200) {
      const parsed = klinesSchema.safeParse(parseJson(bytes, this.name));
      if (parsed.success) return parsed.data;
      throw new FeedError("refused", `Cannot read the answer of ${this.name}: ${parsed.error.issues[0]?.message}`);
    }
    const refused = errorSchema.safeParse(status === 400 ? parseJson(bytes, this.name) : undefined);
    if (refused.success && SYMBOL_CODES.includes(refused.data.code)) throw unknownSymbol(symbol);
    throw new FeedError("refused", `Cannot use ${this.name}: it answered ${status}${excerpt(bytes)}`);
  }
}

/** Binance spot, for crypto. */
export const BINANCE: FeedDefinition = {
  name: "binance",
  assetClasses: ["crypto"],
  variables: { BINANCE_BASE_URL: mirrorVariable("Binance") },
  create: ({ BINANCE_BASE_URL: baseUrl }) => new BinanceFeed({ baseUrl }),
};

function toRow([time, open, high, low, close, volume]: z.infer<typeof klineSchema>): Row {
  return [time, open, high, low, close, volume];
}

function unknownSymbol(symbol: string): FeedError {
  return new FeedError("unknown_symbol", `Cannot find ${symbol} at Binance`);
}
