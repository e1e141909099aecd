import { z } from "zod";
import type { Backtest } from "../../db/backtests.ts";
import { AppError } from "../common/errors.ts";
import { formatSchema } from "../common/formats.ts";
import { readLarge, turnsOf } from "../common/large_reads.ts";
import { integerSchema, listShape } from "../common/paging.ts";
import type { UserContext } from "../common/trpc.ts";
import {
  afterCursor,
  CURVE_COLUMNS,
  curveReader,
  rangeShape,
  readCurve,
  readCurvePage,
  readWholeCurve,
  type SeriesAnswer,
  toCurveRows,
  toRange,
} from "./series.ts";

export const POINTS_DEFAULT = 500;
const POINTS_MAX = 10_000;

/** How many points a thinned curve has, about. */
export const pointsSchema = integerSchema.pipe(z.int().min(2).max(POINTS_MAX));

/** How a request wants a curve: thinned to `points`, or a page of its candles. */
export const curveShape = {
  ...rangeShape,
  format: formatSchema,
  points: pointsSchema.optional(),
  limit: integerSchema.pipe(z.int().min(1).max(POINTS_MAX)).optional(),
  cursor: listShape.cursor,
};

/**
 * The equity curve of a backtest in the format that is asked for. Without `points` and `limit`, CSV and Arrow hold every candle, and
 * JSON a thinned curve. It is read in turns of the caller's.
 *
 * @throws AppError VALIDATION_FAILED or INVALID_DATE_RANGE
 */
export async function answerCurve(
  ctx: UserContext,
  row: Backtest,
  { points, format, limit, cursor, ...moments }: z.infer<z.ZodObject<typeof curveShape>>,
): Promise<SeriesAnswer> {
  if (points !== undefined && (limit ?? cursor) !== undefined) throw refusePoints();
  const range = afterCursor(toRange(moments), cursor);
  const columns = CURVE_COLUMNS;
  if (limit !== undefined) {
    const { curve, nextCursor } = await readLarge(ctx, () => readCurvePage(ctx, row, limit, range));
    const body = () => Promise.resolve({ equity: toCurveRows(curve), next_cursor: nextCursor });
    return { format, columns, body, pieces: () => [curve], nextCursor };
  }
  const thinned = (pointsMax: number) => readLarge(ctx, () => readCurve(ctx, row, pointsMax, range));
  const body = async () => ({ equity: toCurveRows(await thinned(points ?? POINTS_DEFAULT)) });
  const pieces = () => points === undefined ? readWholeCurve(ctx, row, range, inTurns(ctx)) : one(thinned(points));
  return { format, columns, body, pieces };
}

/** Each piece in a turn of the caller's. */
function inTurns(ctx: UserContext): ReturnType<typeof curveReader> {
  const [run, decode] = [turnsOf(ctx), curveReader(ctx)];
  return (source) => run(() => decode(source));
}

async function* one<Value>(value: Promise<Value>): AsyncGenerator<Value> {
  yield await value;
}

function refusePoints(): AppError {
  const issues = [{ path: "/points", message: "must not come with limit or cursor: a page has every candle" }];
  return new AppError("VALIDATION_FAILED", "Cannot read the equity: /points must not come with limit or cursor", {
    issues,
  });
}
