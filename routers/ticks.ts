import { z } from "zod";
import { type AssetClass, findInstrumentsBySymbol, type Instrument } from "../db/instruments.ts";
import type { Candles } from "../engine/candles.ts";
import { candleBatches } from "../market/archive.ts";
import { planRead, planTag, type ReadPlan, TimeframeTooFineError } from "../market/archive_plan.ts";
import { sliceCandles } from "../market/candle_columns.ts";
import { type Timeframe, TIMEFRAME_NAMES, TIMEFRAMES } from "../market/timeframes.ts";
import { dateSchema, parseRange } from "./dates.ts";
import { AppError } from "./errors.ts";
import { decodeCursor, encodeCursor, integerSchema } from "./paging.ts";
import type { Context } from "./trpc.ts";

/** Two years of 1m candles and some. */
export const RANGE_CANDLES_MAX = 1_100_000;
export const PAGE_CANDLES_MAX = 50_000;

export const ASSET_CLASSES = ["forex", "crypto", "stock"] as const satisfies readonly AssetClass[];

/** A symbol or an exchange: printable, without spaces around it. */
export const marketNameSchema = z.string().min(1).max(100).regex(/^[^\s\p{C}](?:[^\p{C}]*[^\s\p{C}])?$/u, {
  error: "must be printable and without spaces around it",
});

/** What both ways of asking for candles take, but for the limit. */
export const ticksShape = {
  symbol: marketNameSchema,
  startDate: dateSchema,
  endDate: dateSchema,
  timeframe: z.enum(TIMEFRAME_NAMES).default("1m"),
  assetClass: z.enum(ASSET_CLASSES).optional(),
  provider: z.enum(["provider_a", "provider_b"]).optional(),
  exchange: marketNameSchema.optional(),
  cursor: z.string().max(200).optional(),
};
export const limitSchema = integerSchema.pipe(z.int().min(1).max(PAGE_CANDLES_MAX));

const ticksSchema = z.object(ticksShape);
export type TicksInput = z.infer<typeof ticksSchema>;

/** What is said about candles before they come. */
export interface TicksHead {
  readonly symbol: string;
  readonly timeframe: Timeframe;
  readonly assetClass: AssetClass;
  /** Who served them. */
  readonly provider: Instrument["provider"];
}

/** Candles that are still to be read. */
export interface FoundTicks {
  readonly head: TicksHead;
  readonly plan: ReadPlan;
  /** Changes when the candles do. */
  readonly tag: string;
}

/**
 * Finds the candles that a request asks for, without reading them.
 *
 * @throws AppError for a range, a symbol or a timeframe that cannot be answered.
 */
export async function findTicks(ctx: Context, input: TicksInput): Promise<FoundTicks> {
  const { symbol, timeframe } = input;
  const range = parseRange(input.startDate, input.endDate, { start: "/startDate", end: "/endDate" });
  const candles = (range.end - range.start) / TIMEFRAMES[timeframe];
  if (candles > RANGE_CANDLES_MAX) throw tooLarge(Math.floor(candles), timeframe);
  const start = decodeCursor(input.cursor, cursorSchema) ?? range.start;
  if (start < range.start || start > range.end) throw foreignCursor();
  const instrument = await findHeld(ctx, input);
  try {
    const plan = await planRead(ctx.db, { instrument, timeframe, start, end: range.end });
    const head = { symbol, timeframe, assetClass: instrument.assetClass, provider: instrument.provider };
    return { head, plan, tag: planTag(plan, instrument.provider) };
  } catch (error) {
    if (!(error instanceof TimeframeTooFineError)) throw error;
    const message = `must be ${error.finest} or coarser for ${symbol}, not ${timeframe}`;
    const issues = [{ path: "/timeframe", message }];
    throw new AppError("TIMEFRAME_TOO_FINE", error.message, { issues, cause: error });
  }
}

// A cursor is the open of the next candle, milliseconds since 1970.
const cursorSchema = z.string().regex(/^-?\d{1,15}$/).transform(Number);

function foreignCursor(): AppError {
  const message = "must be the next_cursor of an answer for the same range";
  return new AppError("VALIDATION_FAILED", `Cannot continue the candles: /cursor ${message}`, {
    issues: [{ path: "/cursor", message }],
  });
}

function tooLarge(candles: number, timeframe: Timeframe): AppError {
  const message = `must be at most ${RANGE_CANDLES_MAX} candles after startDate, not ${candles} (${timeframe})`;
  return new AppError("RANGE_TOO_LARGE", `Cannot answer so large a range: /endDate ${message}`, {
    issues: [{ path: "/endDate", message }],
  });
}

async function findHeld(ctx: Context, input: TicksInput): Promise<Instrument> {
  const { symbol, exchange, assetClass, provider } = input;
  const held = await findInstrumentsBySymbol(ctx.db, { symbol, exchange, assetClass });
  const instrument = provider === undefined ? held[0] : held.find((each) => each.provider === provider);
  if (instrument !== undefined) return instrument;
  if (provider !== undefined && held.length > 0) {
    throw new AppError("UNAVAILABLE", `Cannot ask ${provider} for ${symbol}: it is not configured`);
  }
  const where = exchange === undefined ? "" : ` on ${exchange}`;
  if (assetClass === undefined) {
    const message = `is required: no candles of ${symbol}${where} are held that would tell it`;
    throw new AppError("VALIDATION_FAILED", `Cannot find candles: /assetClass ${message}`, {
      issues: [{ path: "/assetClass", message }],
    });
  }
  throw new AppError("SYMBOL_NOT_FOUND", `Cannot find candles of ${assetClass} ${symbol}${where}`);
}

/**
 * Reads no more than `limit` candles.
 *
 * @returns The cursor from which the rest can be read, or null where there is none.
 */
export async function readPage(
  ctx: Context,
  plan: ReadPlan,
  limit: number,
): Promise<{ batches: Candles[]; nextCursor: string | null }> {
  const batches: Candles[] = [];
  let room = limit;
  for await (const batch of candleBatches(ctx.db, plan)) {
    const rest = batch.time[room];
    batches.push(sliceCandles(batch, 0, Math.min(room, batch.time.length)));
    if (rest !== undefined) return { batches, nextCursor: encodeCursor(String(rest)) };
    room -= batch.time.length;
  }
  return { batches, nextCursor: null };
}

/** One candle as an answer shows it. */
export const tickSchema = z.object({
  timestamp: z.iso.datetime(),
  open: z.number(),
  high: z.number(),
  low: z.number(),
  close: z.number(),
  volume: z.number(),
});

export function toTicks(batches: readonly Candles[]): z.infer<typeof tickSchema>[] {
  return batches.flatMap(({ time, open, high, low, close, volume }) =>
    Array.from(time, (each, i) => ({
      timestamp: new Date(each).toISOString(),
      open: open[i]!,
      high: high[i]!,
      low: low[i]!,
      close: close[i]!,
      volume: volume[i]!,
    }))
  );
}
