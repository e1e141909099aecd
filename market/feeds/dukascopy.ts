import type { Candles } from "../../engine/candles.ts";
import { type Feed, type FeedDefinition, FeedError, type FeedPart, type FeedRequest } from "./feed.ts";
import { resampleAll } from "../archive/resample.ts";
import { DAY_MS, type Timeframe, TIMEFRAMES } from "../timeframes.ts";
import { pointsPerUnit } from "./dukascopy_points.ts";
import { decompressLzma } from "./lzma.ts";
import { excerpt, mirrorVariable, ProviderClient, type ProviderSettings } from "./provider_client.ts";
import { makePart, type Row } from "./rows.ts";
import { compactSymbol } from "./symbols.ts";

const BASE_URL = "https://datafeed.dukascopy.com/datafeed";

// Nothing is published; this is gentle on a public file server.
const BUDGET = { weightMax: 600, windowMs: 60_000 };
const FILES_AT_ONCE = 4;
// A day's file appears when the day is over, and is completed for some hours.
const SETTLE_MS = 2 * DAY_MS;
const RECORD_BYTES = 24;
// A day of minutes, a month of hours or a year of days, and room for a file that repeats itself.
const FILE_BYTES_MAX = 4 * 1440 * RECORD_BYTES;

/** Files by the candles that they hold, longest first: what stretch of time one is of, and what it is called. */
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
 * A file holds records of 24 bytes, big-endian: seconds since the file's beginning, open, close, low, high (32-bit whole numbers of points)
 * and volume (a 32-bit float). Months count from 0 in the path. A missing or empty file is a time without trade, and so is a candle
 * without volume. The file of a year or a month is there when that is over: until then its candles are made from those of months and days.
 *
 * @see https://www.dukascopy.com/swiss/english/marketwatch/historical/, the format's description in rosasurfer/mt4-mql (DUKASCOPY_BAR), and
 *   for which files there are when, github.com/Leo4815162342/dukascopy-node up to version 1.46.
 */
export class DukascopyFeed implements Feed {
  readonly name = "Dukascopy";
  readonly exchange = "DUKASCOPY";
  readonly settleMs = SETTLE_MS;
  readonly #client: ProviderClient;
  readonly #now: () => number;

  constructor(settings: ProviderSettings = {}) {
    this.#now = settings.now ?? Date.now;
    const baseUrl = settings.baseUrl ?? BASE_URL;
    this.#client = new ProviderClient({ budget: BUDGET, ...settings, baseUrl, name: this.name });
  }

  sourceTimeframe(timeframe: Timeframe): FileKind["holds"] {
    return FILES.find(({ holds }) => TIMEFRAMES[holds] <= TIMEFRAMES[timeframe])?.holds ?? "1m";
  }

  async *fetch({ instrument, timeframe, start, end, signal }: FeedRequest): AsyncGenerator<FeedPart> {
    const pair = compactSymbol(instrument.symbol);
    const perPoint = pointsPerUnit(pair);
    if (perPoint === undefined) {
      throw new FeedError(
        "unknown_symbol",
        `Cannot find ${instrument.symbol} at ${this.name}: it has pairs such as EUR/USD`,
      );
    }
    for (let from = start; from < end;) {
      const periods = periodsFrom(from, end, timeframe, this.#now());
      // Every file of the group has ended before the generator can, so that none goes on unseen.
      const files = await Promise.allSettled(
        periods.map(({ start, kind }) => this.#readFile(`/${pair}/${pathOf(start, kind.span)}/${kind.file}`, signal)),
      );
      for (const [index, period] of periods.entries()) {
        const read = files[index]!;
        if (read.status === "rejected") throw read.reason;
        const rows = parseRecords(read.value, period.start, perPoint);
        const until = Math.min(period.end, end);
        const part = makePart(rows, period.kind.holds, from, until);
        yield period.kind.holds === timeframe ? part : { ...part, candles: addUp(part.candles, timeframe) };
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
      return decompressLzma(bytes, FILE_BYTES_MAX);
    } catch (error) {
      // Most often a file that was cut on its way: worth another attempt.
      const why = error instanceof Error ? error.message : String(error);
      throw new FeedError("failed", `Cannot read the file ${path} of ${this.name}: ${why}`, { cause: error });
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

/** A stretch of time that has a file. */
interface Period {
  readonly start: number;
  readonly end: number;
  readonly kind: FileKind;
}

/** The next few stretches that have a file each, from the one in which `from` lies. */
function periodsFrom(from: number, end: number, timeframe: Timeframe, now: number): Period[] {
  const kinds = FILES.filter(({ holds }) => TIMEFRAMES[holds] <= TIMEFRAMES[timeframe]);
  const periods: Period[] = [];
  for (let time = from; time < end && periods.length < FILES_AT_ONCE;) {
    const found = kinds.map((kind): Period => {
      return { kind, start: periodStart(time, kind.span, 0), end: periodStart(time, kind.span, 1) };
    });
    // Days have the shortest files: where those are not there yet, nothing is.
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
    throw new FeedError("refused", `Cannot read a file of Dukascopy: ${bytes.length} bytes are not whole records`);
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

/** Coarser candles, as a file of them would hold them. */
function addUp(candles: Candles, timeframe: Timeframe): Candles {
  const made = resampleAll(candles, timeframe);
  return { ...made, volume: made.volume.map(sevenDigits) };
}

/** What a 32-bit float holds, without the noise that widening and adding leave behind it. */
function sevenDigits(value: number): number {
  return Number(value.toPrecision(7));
}
