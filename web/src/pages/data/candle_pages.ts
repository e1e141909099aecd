import { client, type Instrument, type Tick } from "../../api.ts";
import { lengthMs, type Timeframe } from "../../parts/candle_timeframes.ts";
import { DAY_MS } from "../../parts/scale.ts";

const PAGE_CANDLES = 3_000;
const LIMIT_MAX = 50_000;
const INSTRUMENTS_MAX = 200;
// Twice the time in each step: a market may be closed for days.
const STEPS_MAX = 12;

/** A stretch of candles, oldest first. */
interface CandlePage {
  readonly candles: readonly Tick[];
  /** The end of the page before this one, in milliseconds since 1970; null where there is none. */
  readonly before: number | null;
}

/** Finds what is held of an instrument; null where the service does not know it. */
export async function findInstrument(symbol: string, exchange: string): Promise<Instrument | null> {
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const page = await client.marketData.instruments.query({
      ...{ search: symbol, limit: INSTRUMENTS_MAX },
      ...(cursor === undefined ? {} : { cursor }),
    });
    const found = page.instruments.find((each) => each.symbol === symbol && each.exchange === exchange);
    if (found !== undefined) return found;
    cursor = page.next_cursor;
  }
  return null;
}

/** The midnight (UTC) after an instrument's last candle. @returns Milliseconds since 1970; null without candles. */
export function endOf({ last }: Pick<Instrument, "last">): number | null {
  return last === null ? null : (Math.floor(Date.parse(last) / DAY_MS) + 1) * DAY_MS;
}

/** Loads some thousand candles before a midnight. @param endMs Milliseconds since 1970, a midnight (UTC). */
export async function loadCandles(instrument: Instrument, timeframe: Timeframe, endMs: number): Promise<CandlePage> {
  const first = Date.parse(instrument.first ?? instrument.last ?? "");
  const parts: Tick[][] = [];
  let count = 0;
  let start = endMs;
  let days = Math.ceil(PAGE_CANDLES * lengthMs(timeframe) / DAY_MS);
  for (let step = 0; step < STEPS_MAX && start > first && count < PAGE_CANDLES / 3; step++, days *= 2) {
    // A daily candle is dated at its day's midnight, which may be before its instrument's first moment.
    const from = Math.max(start - days * DAY_MS, Math.floor(first / DAY_MS) * DAY_MS);
    const part = await readRange(instrument, timeframe, from, start);
    parts.unshift(part);
    count += part.length;
    start = from;
  }
  return { candles: parts.flat(), before: start > first ? start : null };
}

async function readRange(
  { symbol, exchange, assetClass }: Instrument,
  timeframe: Timeframe,
  startMs: number,
  endMs: number,
): Promise<Tick[]> {
  const ticks: Tick[] = [];
  const range = { startDate: dateOf(startMs), endDate: dateOf(endMs), limit: LIMIT_MAX };
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const page = await client.marketData.ticks.query({
      ...{ symbol, exchange, assetClass, timeframe },
      ...range,
      ...(cursor === undefined ? {} : { cursor }),
    });
    ticks.push(...page.ticks);
    cursor = page.next_cursor;
  }
  return ticks;
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
