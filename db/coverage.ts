import { and, asc, eq, gt, gte, inArray, lt, lte } from "drizzle-orm";
import type { Db } from "./client.ts";
import { candleCoverage } from "./schema.ts";

/** One instrument's candles of one timeframe. */
export interface SeriesKey {
  readonly instrumentId: string;
  readonly timeframe: string;
}

/** A stretch of time [start, end). */
export interface Stretch {
  readonly start: Date;
  readonly end: Date;
}

/** The stretches of a series that a feed was asked for, oldest first; they neither touch nor overlap. */
export async function listCoverage(db: Db, series: SeriesKey): Promise<Stretch[]> {
  return await db.select({ start: candleCoverage.start, end: candleCoverage.end }).from(candleCoverage)
    .where(ofSeries(series)).orderBy(asc(candleCoverage.start));
}

/** All stretches of an instrument that a feed was asked for, by timeframe and then by time. */
export async function listInstrumentCoverage(
  db: Db,
  instrumentId: string,
): Promise<(Stretch & { readonly timeframe: string })[]> {
  const { timeframe, start, end } = candleCoverage;
  return await db.select({ timeframe, start, end }).from(candleCoverage)
    .where(eq(candleCoverage.instrumentId, instrumentId)).orderBy(asc(timeframe), asc(start));
}

/** Like listInstrumentCoverage, of many instruments in one statement. @returns A list an instrument, in the order of the ids. */
export async function listCoverageOfMany(
  db: Db,
  instrumentIds: readonly string[],
): Promise<(Stretch & { readonly timeframe: string })[][]> {
  const { instrumentId, timeframe, start, end } = candleCoverage;
  const rows = await db.select({ instrumentId, timeframe, start, end }).from(candleCoverage)
    .where(inArray(instrumentId, [...instrumentIds])).orderBy(asc(timeframe), asc(start));
  const lists = Map.groupBy(rows, (row) => row.instrumentId);
  return instrumentIds.map((id) => (lists.get(id) ?? []).map(({ instrumentId: _id, ...stretch }) => stretch));
}

/** Adds a stretch to a series and joins it with the stretches that it touches. The caller holds lockInstrument(). */
export async function addCoverage(tx: Db, series: SeriesKey, stretch: Stretch): Promise<void> {
  const touching = and(
    ofSeries(series),
    lte(candleCoverage.start, stretch.end),
    gte(candleCoverage.end, stretch.start),
  );
  const joined = await tx.delete(candleCoverage).where(touching)
    .returning({ start: candleCoverage.start, end: candleCoverage.end });
  const all = [stretch, ...joined];
  await tx.insert(candleCoverage).values({
    instrumentId: series.instrumentId,
    timeframe: series.timeframe,
    start: new Date(Math.min(...all.map(({ start }) => start.getTime()))),
    end: new Date(Math.max(...all.map(({ end }) => end.getTime()))),
  });
}

/**
 * Removes a stretch from a series; the parts of stored stretches before and after it stay.
 *
 * @returns The parts that were removed, oldest first.
 */
export async function removeCoverage(tx: Db, series: SeriesKey, stretch: Stretch): Promise<Stretch[]> {
  const { instrumentId, timeframe } = series;
  const cut = await tx.delete(candleCoverage)
    .where(and(ofSeries(series), lt(candleCoverage.start, stretch.end), gt(candleCoverage.end, stretch.start)))
    .returning({ start: candleCoverage.start, end: candleCoverage.end });
  const left = cut.flatMap(({ start, end }) => [
    ...(start < stretch.start ? [{ instrumentId, timeframe, start, end: stretch.start }] : []),
    ...(end > stretch.end ? [{ instrumentId, timeframe, start: stretch.end, end }] : []),
  ]);
  if (left.length > 0) await tx.insert(candleCoverage).values(left);
  const clip = ({ start, end }: Stretch) => ({
    start: start < stretch.start ? stretch.start : start,
    end: end > stretch.end ? stretch.end : end,
  });
  return cut.map(clip).toSorted((a, b) => a.start.getTime() - b.start.getTime());
}

/** Removes all stretches of an instrument, in every timeframe. Its candles stay. */
export async function clearCoverage(tx: Db, instrumentId: string): Promise<void> {
  await tx.delete(candleCoverage).where(eq(candleCoverage.instrumentId, instrumentId));
}

function ofSeries(series: SeriesKey) {
  return and(eq(candleCoverage.instrumentId, series.instrumentId), eq(candleCoverage.timeframe, series.timeframe));
}
