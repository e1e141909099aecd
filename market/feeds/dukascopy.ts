import type { Candles } from "../../engine/candles.ts";
import { type Feed, type FeedDefinition, FeedError, type FeedPart, type FeedRequest } from "./feed.ts";
import { resampleAll } from "../archive/resample.ts";
import { DAY_MS, isCoarser, type Timeframe } from "../timeframes.ts";
import { excerpt, mirrorVariable, ProviderClient, type ProviderSettings } from "./provider_client.ts";
import { makePart, type Row } from "./rows.ts";
import { quoteCurrencyOf } from "./quote_currency.ts";
import { compactSymbol } from "./symbols.ts";
import { unpackLzma } from "./unpack_lzma.ts";

const BASE_URL = "https://datafeed.dukascopy.com/datafeed";

// Dukascopy publishes no limit; ten files a second is gentle on a public file server.
const BUDGET = { weightMax: 600, windowMs: 60_000 };
const FILES_AT_ONCE = 4;
// A day's file appears after the day and grows for some hours.
const SETTLE_MS = 2 * DAY_MS;
const RECORD_BYTES = 24;
// A day of minutes is the longest file; some files repeat records.
const FILE_BYTES_MAX = 4 * 1440 * RECORD_BYTES;

/** The kinds of files, by the candles that they hold: the time span and the name of one file. Longest first. */
const FILES = [
  { holds: "1d", span: "year", file: "BID_candles_day_1.bi5" },
  { holds: "1h", span: "month", file: "BID_candles_hour_1.bi5" },
  { holds: "1m", span: "day", file: "BID_candles_min_1.bi5" },
] as const;
type FileKind = (typeof FILES)[number];
type Span = FileKind["span"];

/**
 * Dukascopy's forex history: candles of bid prices in LZMA-packed files, keyless.
 *
 * A file holds records of 24 bytes, big-endian: seconds since the file's start, open, close, low, high (32-bit whole numbers of points)
 * and volume (a 32-bit float). Months count from 0 in the path. A missing or empty file means no trade, and so does a candle without
 * volume. The file of a year or a month appears after it ends; until then, its candles are resampled from the files of months and days.
 *
 * @see https://www.dukascopy.com/swiss/english/marketwatch/historical/, the format's description in rosasurfer/mt4-mql (DUKASCOPY_BAR), and,
 *   for which files there are when, github.com/Leo4815162342/dukascopy-node up to version 1.46.
 */
export class DukascopyFeed implements Feed {
  readonly name = "Dukascopy";
  readonly exchange = "DUKASCOPY";
  readonly settleMs = SETTLE_MS;
  readonly currencyOf = quoteCurrencyOf;
  readonly #client: ProviderClient;
  readonly #now: () => number;

  constructor(settings: ProviderSettings = {}) {
    this.#now = settings.now ?? Date.now;
    const baseUrl = settings.baseUrl ?? BASE_URL;
    this.#client = new ProviderClient({ budget: BUDGET, ...settings, baseUrl, name: this.name });
  }

  sourceTimeframe(timeframe: Timeframe): FileKind["holds"] {
    // The files of days hold days of UTC; a trading day begins at 17:00 in New York.
    return isCoarser("1h", timeframe) ? "1m" : "1h";
  }

  async *fetch({ instrument, timeframe, start, end, signal }: FeedRequest): AsyncGenerator<FeedPart> {
    const pair = compactSymbol(instrument.symbol);
    const perPoint = pointsPerUnit(pair);
    if (perPoint === undefined) {
      throw new FeedError(
        "unknown_symbol",
        `Cannot find ${instrument.symbol} at ${this.name}: use a currency pair such as EUR/USD`,
      );
    }
    for (let from = start; from < end;) {
      const periods = periodsFrom(from, end, timeframe, this.#now());
      // Wait for every file of the group: none may go on after the generator ends.
      const files = await Promise.allSettled(
        periods.map(({ start, kind }) => this.#readFile(`/${pair}/${pathOf(start, kind.span)}/${kind.file}`, signal)),
      );
      for (const [index, period] of periods.entries()) {
        const read = files[index]!;
        if (read.status === "rejected") throw read.reason;
        const rows = parseRecords(read.value, period.start, perPoint);
        const until = Math.min(period.end, end);
        const part = makePart(rows, period.kind.holds, from, until);
        yield period.kind.holds === timeframe
          ? part
          : { ...part, candles: addUp(part.candles, period.kind.holds, timeframe) };
        from = until;
      }
    }
  }

  async #readFile(path: string, signal: AbortSignal | undefined): Promise<Uint8Array> {
    const { status, bytes } = await this.#client.get(path, signal);
    if (status === 404 || (status === 200 && bytes.length === 0)) return new Uint8Array(0);
    if (status !== 200) {
      throw new FeedError("refused", `Cannot use ${this.name}: it answered ${status}${excerpt(bytes)}`);
    }
    try {
      return unpackLzma(bytes, FILE_BYTES_MAX);
    } catch (error) {
      // Most such files were cut on their way, so a retry may work.
      const reason = error instanceof Error ? error.message : String(error);
      throw new FeedError("failed", `Cannot read the file ${path} of ${this.name}: ${reason}`, { cause: error });
    }
  }
}

/** Dukascopy's files, for forex. */
export const DUKASCOPY: FeedDefinition = {
  name: "dukascopy",
  assetClasses: ["forex"],
  variables: { DUKASCOPY_BASE_URL: mirrorVariable("Dukascopy") },
  create: ({ DUKASCOPY_BASE_URL: baseUrl }) => new DukascopyFeed({ baseUrl }),
};

/** A period of time that one file covers. */
interface Period {
  readonly start: number;
  readonly end: number;
  readonly kind: FileKind;
}

/** The next few periods, from the one that holds `from`. */
function periodsFrom(from: number, end: number, timeframe: Timeframe, now: number): Period[] {
  const kinds = FILES.filter(({ holds }) => !isCoarser(holds, timeframe));
  const periods: Period[] = [];
  for (let time = from; time < end && periods.length < FILES_AT_ONCE;) {
    const found = kinds.map((kind): Period => {
      return { kind, start: periodStart(time, kind.span, 0), end: periodStart(time, kind.span, 1) };
    });
    // A day is the shortest file, so it is the last resort.
    const period = found.find(({ end }) => end + SETTLE_MS <= now) ?? found.at(-1)!;
    periods.push(period);
    time = period.end;
  }
  return periods;
}

function periodStart(time: number, span: Span, add: number): number {
  const date = new Date(time);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  if (span === "year") return Date.UTC(year + add, 0, 1);
  return span === "month" ? Date.UTC(year, month + add, 1) : Date.UTC(year, month, day + add);
}

function pathOf(time: number, span: Span): string {
  const date = new Date(time);
  const two = (value: number) => String(value).padStart(2, "0");
  const parts = [String(date.getUTCFullYear()), two(date.getUTCMonth()), two(date.getUTCDate())];
  return parts.slice(0, { year: 1, month: 2, day: 3 }[span]).join("/");
}

function parseRecords(bytes: Uint8Array, fileStart: number, perPoint: number): Row[] {
  if (bytes.length % RECORD_BYTES !== 0) {
    throw new FeedError(
      "refused",
      `Cannot read a file of Dukascopy: ${bytes.length} bytes are no whole number of ${RECORD_BYTES}-byte records`,
    );
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const rows: Row[] = [];
  for (let at = 0; at < bytes.length; at += RECORD_BYTES) {
    const price = (offset: number) => view.getUint32(at + offset) / perPoint;
    const volume = sevenDigits(view.getFloat32(at + 20));
    if (volume === 0) continue;
    rows.push([fileStart + view.getUint32(at) * 1000, price(4), price(16), price(12), price(8), volume]);
  }
  return rows;
}

/** Coarser candles, with volumes as precise as those of a file. */
function addUp(candles: Candles, source: Timeframe, timeframe: Timeframe): Candles {
  const made = resampleAll(candles, source, timeframe);
  return { ...made, volume: made.volume.map(sevenDigits) };
}

/** Rounds to the precision of a 32-bit float: widening and adding leave noise behind it. */
function sevenDigits(value: number): number {
  return Number(value.toPrecision(7));
}

// The currencies and metals of Dukascopy's pairs.
const KNOWN = new Set(
  ("AED AUD CAD CHF CNH CZK DKK EUR GBP HKD HUF ILS JPY MXN NOK NZD PLN RON SAR SEK SGD THB TRY USD ZAR XAG XAU")
    .split(" "),
);

// Prices are whole numbers of points. Most pairs have 100,000 points a unit; pairs with larger prices have fewer.
const USUAL = 100_000;
const BY_QUOTE: Readonly<Record<string, number>> = { JPY: 1_000, HUF: 1_000, THB: 1_000, CZK: 10_000 };
const METALS = 1_000;
const EXCEPTIONS = [
  [10, "XAUCZK XAUHUF XAUJPY XAUMXN XAUTHB XAUTRY XAUZAR"],
  [100, "USDAED USDSAR"],
  [1_000, "NZDHKD"],
  [10_000, "CZKHUF CZKJPY MXNHUF USDTHB"],
  [
    100_000,
    "AEDHUF DKKJPY HKDJPY JPYHUF MXNJPY NOKJPY PLNTHB SEKJPY THBHUF THBJPY TRYTHB XAUXAG",
  ],
  [1_000_000, "AUDCNH CZKTHB CZKTRY MXNCZK MXNTHB"],
] as const;
const exceptions = new Map(
  EXCEPTIONS.flatMap(([points, pairs]) => pairs.split(" ").map((pair) => [pair, points] as const)),
);

/**
 * The points in one unit of a pair's price. Dukascopy's files do not contain it.
 *
 * @param pair Six capitals, EURUSD.
 * @returns Undefined for an unknown pair: a guess could be wrong by a factor of ten or a hundred.
 * @see The price scales in Dukascopy's own list of instruments, as github.com/Leo4815162342/dukascopy-node has collected them
 *   (`decimalFactor`), November 2026.
 */
export function pointsPerUnit(pair: string): number | undefined {
  const [base, quote] = [pair.slice(0, 3), pair.slice(3)];
  if (!KNOWN.has(base) || !KNOWN.has(quote)) return undefined;
  const isMetal = base === "XAU" || base === "XAG";
  return exceptions.get(pair) ?? (isMetal ? METALS : BY_QUOTE[quote] ?? USUAL);
}
