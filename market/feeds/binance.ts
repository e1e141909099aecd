import { z } from "zod";
import { type Feed, FeedError, type FeedPart, type FeedRequest } from "./feed.ts";
import { TIMEFRAMES } from "../timeframes.ts";
import { excerpt, parseJson, ProviderClient, type ProviderOptions } from "./provider_client.ts";
import { makePart, type Row } from "./rows.ts";
import { compactSymbol } from "./symbols.ts";

export const BINANCE_BASE_URL = "https://data-api.binance.vision";

const PAGE_ROWS = 1000;
const REQUEST_WEIGHT = 2;
// A third of what the exchange allows each address a minute is left to others behind the same address.
const BUDGET = { weightMax: 4_000, windowMs: 60_000 };
const USED_WEIGHT_HEADER = "x-mbx-used-weight-1m";
// One that does not exist, and one of characters that none has: the symbol is all in a request that others have written.
const SYMBOL_CODES = [-1121, -1100];
const SETTLE_MS = 60_000;
// Clocks differ: a candle that is over by ours may still change by the exchange's.
const CLOCKS_APART_MS = 5_000;

const decimal = z.string().regex(/^\d+(\.\d+)?$/).transform(Number);
// open time, open, high, low, close, volume, close time; what follows is not needed.
const klineSchema = z.tuple([z.int(), decimal, decimal, decimal, decimal, decimal, z.int()], z.unknown());
const klinesSchema = z.array(klineSchema);
const errorSchema = z.object({ code: z.number(), msg: z.string() });

/**
 * Binance spot candles ("klines"), which need no key.
 *
 * Symbols are the exchange's own, some of them not ASCII; slashes, dashes and case are ours to drop: BTC/USDT is BTCUSDT.
 *
 * @see https://developers.binance.com/docs/binance-spot-api-docs/rest-api/market-data-endpoints (klines), and "limits" beside it for the
 *   weights, the X-MBX-USED-WEIGHT header and the statuses 429 and 418 with Retry-After.
 */
export class BinanceFeed implements Feed {
  readonly name = "Binance";
  readonly exchange = "BINANCE";
  readonly settleMs = SETTLE_MS;
  readonly #client: ProviderClient;
  readonly #now: () => number;

  constructor(options: Partial<ProviderOptions> = {}) {
    this.#now = options.now ?? Date.now;
    this.#client = new ProviderClient({
      baseUrl: BINANCE_BASE_URL,
      budget: BUDGET,
      usedWeightHeader: USED_WEIGHT_HEADER,
      ...options,
      name: this.name,
    });
  }

  /** The exchange's intervals are ours, weeks from Monday included. */
  sourceTimeframe = <Timeframe>(timeframe: Timeframe): Timeframe => timeframe;

  async *fetch({ instrument, timeframe, start, end, signal }: FeedRequest): AsyncGenerator<FeedPart> {
    const symbol = compactSymbol(instrument.symbol);
    if (symbol === "") throw unknownSymbol(instrument.symbol);
    // It knows no moment before 1970, and would call the request's characters illegal.
    if (start < 0) yield makePart([], timeframe, start, Math.min(end, 0));
    for (let from = Math.max(start, 0); from < end;) {
      const query = new URLSearchParams({ symbol, interval: timeframe, limit: String(PAGE_ROWS) });
      query.set("startTime", String(from));
      query.set("endTime", String(end - 1));
      const page = await this.#readPage(`/api/v3/klines?${query}`, instrument.symbol, signal);
      const rows = page.filter(([time]) => time >= from && time < end);
      if (page.length > 0 && rows.length === 0) {
        throw new FeedError("failed", `Cannot use ${this.name}: it answered with candles that were not asked for`);
      }
      const now = this.#now() - CLOCKS_APART_MS;
      const closed = rows.filter((row) => row[6] < now);
      const firstOpen = Math.min(...rows.filter((row) => row[6] >= now).map(([time]) => time));
      const last = Math.max(...closed.map(([time]) => time));
      // Only a page without candles says that there are none: one that ends early may have been cut short.
      const answered = closed.length === 0 ? end : last + TIMEFRAMES[timeframe];
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
      throw new FeedError("refused", `Cannot read what ${this.name} answered: ${parsed.error.issues[0]?.message}`);
    }
    const refused = errorSchema.safeParse(status === 400 ? parseJson(bytes, this.name) : undefined);
    if (refused.success && SYMBOL_CODES.includes(refused.data.code)) throw unknownSymbol(symbol);
    throw new FeedError("refused", `Cannot use ${this.name}: it answered ${status}${excerpt(bytes)}`);
  }
}

function toRow([time, open, high, low, close, volume]: z.infer<typeof klineSchema>): Row {
  return [time, open, high, low, close, volume];
}

function unknownSymbol(symbol: string): FeedError {
  return new FeedError("unknown_symbol", `Cannot find ${symbol} at Binance`);
}
