import { z } from "zod";
import type { Backtest } from "../../db/backtests.ts";
import type { EquityColumns } from "../../db/codec/result_parts.ts";
import { type ReadCurve, readEquity, readEquityPieces } from "../../db/equity.ts";
import { periodReturns, type ReturnPeriod } from "../../engine/metrics/period_returns.ts";
import { daysOfRun, endsOfDays } from "../../market/calendar/run_days.ts";
import type { equityPointSchema, returnSchema } from "./backtest_records.ts";
import { momentSchema, requireRising } from "../common/dates.ts";
import type { Format } from "../../workers/rows/table_format.ts";
import { decodeCursor, encodeCursor } from "../common/paging.ts";
import type { Context } from "../common/trpc.ts";
import { cutCurve, sampleCurve, type TimeRange, withDrawdown } from "./equity.ts";

/** Columns of a completed run, a row for each time (milliseconds since 1970). */
interface Series<Name extends string> {
  readonly time: Float64Array;
  readonly columns: Readonly<Record<Name, Float64Array>>;
}

type Curve = Series<"equity" | "drawdown" | "position">;
type Returns = Series<"return" | "equity">;

/** A series to send: rows as JSON, or its columns, a piece after the other; each is read when the format is known. */
export interface SeriesAnswer {
  readonly format: Format | undefined;
  readonly columns: readonly string[];
  body(): Promise<Readonly<Record<string, readonly object[] | string | null>>>;
  pieces(): SeriesPieces;
  /** Of a page; null where nothing is left. */
  readonly nextCursor?: string | null;
}

type SeriesPieces = AsyncIterable<Series<string>> | Iterable<Series<string>>;

/** The columns of a curve, in the order of an answer. */
export const CURVE_COLUMNS = ["equity", "drawdown", "position"] as const;
export const RETURNS_COLUMNS = ["return", "equity"] as const;

/** The stretch of a curve that a request wants. */
export const rangeShape = { from: momentSchema.optional(), to: momentSchema.optional() };

/** @throws AppError INVALID_DATE_RANGE */
export function toRange(
  { from, to }: { readonly from?: number | undefined; readonly to?: number | undefined },
): TimeRange {
  requireRising(from, to, { start: "/from", end: "/to" });
  return { from: from ?? -Infinity, to: to ?? Infinity };
}

const NO_CURVE: EquityColumns = {
  time: new Float64Array(0),
  equity: new Float64Array(0),
  position: new Float64Array(0),
};

/** Where curves are read from. */
type Reading = Pick<Context, "db" | "rowsWorker">;

/** Decodes chunks of curves in the thread of lists, since long ones would hold up everybody's requests here. */
export function curveReader({ rowsWorker }: Pick<Context, "rowsWorker">): ReadCurve {
  return (source) => rowsWorker.curve(source);
}

/** The equity curve of a backtest in a range, thinned to about `pointsMax`; empty until it has completed. */
export async function readCurve(
  ctx: Reading,
  { id: backtestId, ownerId, initialBalance, result }: Backtest,
  pointsMax: number,
  range: TimeRange,
): Promise<Curve> {
  const candles = result?.data.candles;
  const columns = await readEquity(ctx.db, { backtestId, ownerId }, { candles, decode: curveReader(ctx) });
  const { time, equity, drawdown, position } = sampleCurve(
    columns ?? NO_CURVE,
    initialBalance,
    pointsMax,
    range,
  );
  return { time, columns: { equity, drawdown, position } };
}

/**
 * All candles of the equity curve of a backtest in a range, a piece of which is in memory at a time; empty until it has completed.
 *
 * @param decode Decodes the pieces; default: curveReader().
 */
export async function* readWholeCurve(
  ctx: Reading,
  { id: backtestId, ownerId, initialBalance }: Backtest,
  range: TimeRange,
  decode = curveReader(ctx),
): AsyncGenerator<Curve> {
  const pieces = withDrawdown(readEquityPieces(ctx.db, { backtestId, ownerId }, { decode }), initialBalance);
  for await (const piece of pieces) {
    const { time, equity, drawdown, position } = cutCurve(piece, range);
    if (time.length > 0) yield { time, columns: { equity, drawdown, position } };
    if ((piece.time.at(-1) ?? 0) >= range.to) return;
  }
}

/** The first candles of the equity curve of a backtest in a range, and the cursor of the rest. */
export async function readCurvePage(
  ctx: Reading,
  row: Backtest,
  limit: number,
  range: TimeRange,
): Promise<{ curve: Curve; nextCursor: string | null }> {
  const pieces: Curve[] = [];
  let rows = 0;
  for await (const piece of readWholeCurve(ctx, row, range)) {
    pieces.push(piece);
    rows += piece.time.length;
    if (rows > limit) break;
  }
  const take = (valuesOf: (piece: Curve) => Float64Array) => {
    const taken = new Float64Array(Math.min(rows, limit));
    let at = 0;
    for (const piece of pieces) {
      const part = valuesOf(piece).subarray(0, taken.length - at);
      taken.set(part, at);
      at += part.length;
    }
    return taken;
  };
  const time = take((piece) => piece.time);
  const columns = {
    equity: take((piece) => piece.columns.equity),
    drawdown: take((piece) => piece.columns.drawdown),
    position: take((piece) => piece.columns.position),
  };
  return { curve: { time, columns }, nextCursor: rows > limit ? encodeCursor(String(time.at(-1))) : null };
}

/** The part of a range behind a cursor of readCurvePage(). @throws AppError VALIDATION_FAILED for a cursor that we did not make */
export function afterCursor(range: TimeRange, cursor: string | undefined): TimeRange {
  const last = decodeCursor(cursor, z.string().regex(/^-?\d{1,15}$/));
  return last === undefined ? range : { ...range, from: Math.max(range.from, Number(last) + 1) };
}

/** Candles of a run that its days are found in. */
type DayMarks = Pick<EquityColumns, "time" | "equity">;

/** The returns of a backtest by day, month or year; empty until it has completed. */
export async function readReturns(ctx: Reading, row: Backtest, period: ReturnPeriod): Promise<Returns> {
  return returnsOf(await readDays(ctx, row), row, period);
}

/**
 * The first and the last candle of each day of a run, and of each piece of its curve, of which one is in memory at a time: its days and
 * their returns are the same as those of all candles. None until it has completed.
 */
export async function readDays({ db, rowsWorker }: Reading, row: Backtest): Promise<DayMarks> {
  const [time, equity]: [number[], number[]] = [[], []];
  const key = { backtestId: row.id, ownerId: row.ownerId };
  for await (const piece of readEquityPieces(db, key, { decode: curveReader({ rowsWorker }) })) {
    let first = 0;
    for (const end of endsOfDays(row.result, row.parameters.timeframe, piece.time)) {
      for (const i of first === end - 1 ? [first] : [first, end - 1]) {
        time.push(piece.time[i]!);
        equity.push(piece.equity[i]!);
      }
      first = end;
    }
  }
  return { time: Float64Array.from(time), equity: Float64Array.from(equity) };
}

/** The same from its days. */
export function returnsOf(
  { time, equity }: DayMarks,
  { initialBalance, result, parameters }: Backtest,
  period: ReturnPeriod,
): Returns {
  if (time.length === 0) return { time: NO_CURVE.time, columns: { return: NO_CURVE.time, equity: NO_CURVE.time } };
  const tradingDays = daysOfRun(result, parameters.timeframe, time);
  const returns = periodReturns({ time, equity, close: equity, tradingDays, initialBalance }, period);
  return { time: returns.time, columns: { return: returns.return, equity: returns.equity } };
}

export function toCurveRows(
  { time, columns: { equity, drawdown, position } }: Curve,
): z.infer<typeof equityPointSchema>[] {
  return Array.from(time, (timeMs, i) => ({
    timestamp: new Date(timeMs).toISOString(),
    equity: equity[i]!,
    drawdown: drawdown[i]!,
    position: position[i]!,
  }));
}

export function toReturnRows({ time, columns }: Returns): z.infer<typeof returnSchema>[] {
  return Array.from(time, (timeMs, i) => ({
    timestamp: new Date(timeMs).toISOString(),
    return: columns.return[i]!,
    equity: columns.equity[i]!,
  }));
}
