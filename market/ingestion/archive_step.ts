import { addCoverage, removeCoverage } from "../../db/coverage.ts";
import type { Db } from "../../db/client.ts";
import { addRunCandles, type IngestionEventType, insertEvents } from "../../db/ingestion.ts";
import { type Instrument, lockInstrument, type Provider } from "../../db/instruments.ts";
import type { Candles } from "../../engine/candles.ts";
import { storeCandles, type StoreCounts } from "../archive/store.ts";
import { gapsBetween } from "../archive/gaps.ts";
import { FeedError } from "../feeds/feed.ts";
import type { TimeRange } from "../archive/time_ranges.ts";
import { candleEnd, monthEnd, type Timeframe } from "../timeframes.ts";

/** One step of a run: candles with the facts for their coverage and their events. */
export interface ArchiveStep extends TimeRange {
  readonly runId: string;
  readonly instrument: Instrument;
  readonly timeframe: Timeframe;
  readonly candles: Candles;
  /** The source of the candles; default: the instrument's provider. */
  readonly provider?: Provider;
  /** The candles are complete up to here, so no later request needs to fetch the range; default: unknown. */
  readonly coveredUntil?: number;
  /** The close of the candle before the step, from which gaps are counted; default: no search for gaps. */
  readonly previousClose?: number;
  /** Rows that were left out because they are no candles. */
  readonly rejected?: number;
  /** True if equal candles make no event. */
  readonly isCheck?: boolean;
}

const GAP_EVENTS_MAX = 20;

/**
 * Archives a step with its events in the given transaction.
 *
 * A stored chunk that is damaged is replaced and reported, and the rest of its month counts as missing.
 *
 * @throws {FeedError} `unknown_symbol` where an operator has removed the instrument or changed its provider in the meantime.
 */
export async function archiveStep(tx: Db, step: ArchiveStep): Promise<StoreCounts> {
  const { runId, instrument, timeframe, candles, start, end, coveredUntil, rejected } = step;
  const series = { instrumentId: instrument.id, timeframe };
  const current = await lockInstrument(tx, instrument.id);
  if (current?.provider !== instrument.provider) {
    const change = current === undefined ? "was removed" : `was moved to ${current.provider}`;
    const { symbol, exchange } = instrument;
    throw new FeedError(
      "unknown_symbol",
      `Cannot store candles of ${symbol} on ${exchange}: the instrument ${change} during the fetch`,
    );
  }
  const counts = await storeCandles(tx, series, candles);
  const lost = counts.damaged.map(({ chunk: { month, candles }, message }) => {
    return { start: Date.parse(`${month}T00:00:00Z`), end: monthEnd(month), held: candles, message };
  });
  for (const { start, end } of lost) await removeCoverage(tx, series, { start: new Date(start), end: new Date(end) });
  if (coveredUntil !== undefined && coveredUntil > start) {
    await addCoverage(tx, series, { start: new Date(start), end: new Date(Math.min(coveredUntil, end)) });
  }
  const { symbol, exchange } = instrument;
  const provider = step.provider ?? instrument.provider;
  const event = (type: IngestionEventType, range: TimeRange, candles: number, message?: string) => ({
    ...{ runId, type, provider, symbol, exchange, timeframe, candles },
    start: new Date(range.start),
    end: new Date(range.end),
    message: message ?? null,
  });
  await insertEvents(tx, [
    ...(step.isCheck && counts.imported + counts.revised === 0
      ? []
      : [event("range_ingested", step, candles.time.length)]),
    ...(counts.revisedOpens === null
      ? []
      : [event("revised", toRange(counts.revisedOpens, timeframe), counts.revised)]),
    ...((rejected ?? 0) === 0
      ? []
      : [event("rejected", step, rejected ?? 0, "rows that are no candles were left out")]),
    ...lost.map(({ message, held, ...range }) => event("failed", range, held, message)),
    ...findGaps(step).map(({ message, ...range }) => event("gap_found", range, 0, message)),
  ]);
  await addRunCandles(tx, runId, counts.imported + counts.revised);
  return counts;
}

function toRange([first, last]: readonly [number, number], timeframe: Timeframe): TimeRange {
  return { start: first, end: candleEnd(last, timeframe) };
}

function findGaps({ candles: { time }, instrument, timeframe, previousClose }: ArchiveStep) {
  if (previousClose === undefined) return [];
  const all = [...gapsBetween(instrument, timeframe, time, previousClose)];
  const gaps: (TimeRange & { message?: string })[] = all.slice(0, GAP_EVENTS_MAX);
  const [last, close] = [gaps.at(-1), time.at(-1)];
  if (last !== undefined && close !== undefined && all.length > GAP_EVENTS_MAX) {
    const message = `${all.length - GAP_EVENTS_MAX} more gaps in this range`;
    gaps.push({ start: last.end, end: candleEnd(close, timeframe), message });
  }
  return gaps;
}
