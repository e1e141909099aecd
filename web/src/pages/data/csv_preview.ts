import { api, type Instrument, queryClient } from "../../api.ts";
import { lengthMs, type Timeframe, TIMEFRAMES } from "../../parts/candle_timeframes.ts";

const PREVIEW_BYTES = 64 * 1024;
const PREVIEW_LINES = 4;
const SAMPLE_LINES = 50;
const SEARCHED_MAX = 100;

/** First guesses about a file; the user corrects them. */
export interface CsvPreview {
  /** The file's first lines; null for a packed file. */
  readonly lines: readonly string[] | null;
  readonly symbol: string;
  readonly exchange: string;
  readonly timeframe: Timeframe | null;
}

/** Reads the beginning of a file, and guesses its instrument from its name and its timeframe from its times. */
export async function previewCsv(file: File): Promise<CsvPreview> {
  const head = new Uint8Array(await file.slice(0, PREVIEW_BYTES).arrayBuffer());
  const isPacked = (head[0] === 0x1f && head[1] === 0x8b) || (head[0] === 0x50 && head[1] === 0x4b);
  const text = new TextDecoder(head[0] === 0xff && head[1] === 0xfe ? "utf-16le" : "utf-8").decode(head);
  const lines = isPacked ? [] : text.split(/\r?\n/).slice(0, SAMPLE_LINES).filter((line) => line.trim() !== "");
  const words = file.name.replace(/\.(gz|zip)$/i, "").replace(/\.[^.]*$/, "").split(/[_\s,@-]+/).filter((word) =>
    word !== ""
  );
  const isTimeframe = (word: string) => TIMEFRAMES.some((each) => each === word || each === word.toLowerCase());
  const names = words.filter((word) => !isTimeframe(word) && !/^\d+$/.test(word));
  const symbol = names[0] ?? "";
  const named = TIMEFRAMES.find((each) => words.some((word) => word === each || word.toLowerCase() === each));
  return {
    lines: isPacked ? null : lines.slice(0, PREVIEW_LINES),
    symbol,
    exchange: names[1] ?? await guessExchange(symbol),
    timeframe: guessTimeframe(lines) ?? named ?? null,
  };
}

/** The only exchange on which the archive has the symbol. */
async function guessExchange(symbol: string): Promise<string> {
  const held = await findHeld(symbol).catch(() => []);
  return held.length === 1 ? held[0]!.exchange : "";
}

/** The instruments of a symbol. */
export async function findHeld(symbol: string): Promise<readonly Instrument[]> {
  const search = symbol.trim();
  if (search === "") return [];
  const found = await queryClient.fetchQuery(
    api.marketData.instruments.queryOptions({ search, limit: SEARCHED_MAX }, { retry: false }),
  );
  return found.instruments.filter((each) => each.symbol === search);
}

/** The timeframe whose candles are as long as the shortest step between two lines. */
function guessTimeframe(lines: readonly string[]): Timeframe | null {
  const times = lines.map(readTime).filter((time) => !Number.isNaN(time));
  let step = Infinity;
  for (let i = 1; i < times.length; i++) {
    const between = Math.abs(times[i]! - times[i - 1]!);
    if (between > 0) step = Math.min(step, between);
  }
  return TIMEFRAMES.find((each) => lengthMs(each) === step) ?? null;
}

/** Milliseconds since 1970, from an epoch or a date and time; NaN for others. */
function readTime(line: string): number {
  const first = line.split(",", 1)[0]?.trim().replaceAll('"', "") ?? "";
  if (/^\d{9,13}$/.test(first)) return Number(first) * (first.length < 11 ? 1_000 : 1);
  return /^\d{4}-\d\d-\d\d/.test(first) ? Date.parse(first) : NaN;
}
