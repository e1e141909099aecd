import { z } from "zod";
import { type AssetClass, type Instrument, listMarketNames } from "../../db/instruments.ts";
import { FEED_LABELS } from "../../db/schema.ts";
import type { Candles } from "../../engine/candles.ts";
import { ASSET_CLASSES } from "../../engine/execution.ts";
import { HOURS } from "../../market/calendar/exchange_sessions.ts";
import { FetchLimitError } from "../../market/on_demand/fetch_limits.ts";
import { candleBatches, type Repair, retryOnChange } from "../../market/archive/read.ts";
import { planRead, planTag, type ReadPlan, TimeframeTooFineError } from "../../market/archive/read_plan.ts";
import { sliceCandles } from "../../market/archive/candle_columns.ts";
import { LostCandlesError } from "../../market/archive/chunk.ts";
import { chooseTargets, completeFirst, UnknownTargetError } from "../../market/on_demand/choose_target.ts";
import { FeedError, type FeedFault } from "../../market/feeds/feed.ts";
import { compactSymbol } from "../../market/feeds/symbols.ts";
import { findNearest } from "../../market/nearest_name.ts";
import type { Target } from "../../market/ingestion/fetch_series.ts";
import { rangeOfDates } from "../../market/archive/made_candles.ts";
import type { Wanted } from "../../market/on_demand/read_through.ts";
import { shortestMs, type Timeframe, TIMEFRAME_NAMES } from "../../market/timeframes.ts";
import { dateSchema, parseRange } from "../common/dates.ts";
import { AppError, type ErrorCode, mustBe } from "../common/errors.ts";
import { marketNameSchema } from "./market_name.ts";
import { decodeCursor, encodeCursor, integerSchema } from "../common/paging.ts";
import type { Context } from "../common/trpc.ts";

// A little more than two years of 1m candles.
const RANGE_CANDLES_MAX = 1_100_000;
const PAGE_CANDLES_MAX = 50_000;

/** The input of both queries for candles, without the limit. */
export const ticksShape = {
  symbol: marketNameSchema,
  startDate: dateSchema,
  endDate: dateSchema,
  timeframe: z.enum(TIMEFRAME_NAMES).default("1m"),
  session: z.enum(HOURS).default("regular"),
  assetClass: z.enum(ASSET_CLASSES).optional(),
  provider: z.enum(FEED_LABELS).optional(),
  exchange: marketNameSchema.optional(),
  cursor: z.string().max(200).optional(),
};
export const limitSchema = integerSchema.pipe(z.int().min(1).max(PAGE_CANDLES_MAX));

const ticksSchema = z.object(ticksShape);
type TicksInput = z.infer<typeof ticksSchema>;

/** The facts that an answer states before its candles. */
export interface TicksHead {
  readonly symbol: string;
  readonly timeframe: Timeframe;
  readonly assetClass: AssetClass;
  /** The source of the candles. */
  readonly provider: Instrument["provider"];
}

/** The candles of an answer before they are read. */
interface FoundTicks {
  readonly head: TicksHead;
  readonly plan: ReadPlan;
  /** Changes with the candles. */
  readonly tag: string;
}

/**
 * Finds the candles of a streamed answer. Known damage is an error here, because it would break off the answer later.
 *
 * @throws AppError for a range, a symbol or a timeframe without an answer, and for damage.
 */
export async function findWholeTicks(ctx: Context, input: TicksInput): Promise<FoundTicks> {
  const found = await findTicks(ctx, input);
  try {
    await ctx.readThrough.requireWhole(found.plan);
    return found;
  } catch (error) {
    throw toAppError(error, input);
  }
}

/** Finds the candles of a request without reading them. @throws AppError as `findWholeTicks` does, except for damage. */
async function findTicks(ctx: Context, input: TicksInput): Promise<FoundTicks> {
  const { symbol, timeframe } = input;
  const range = parseRange(input.startDate, input.endDate, {
    ...{ start: "/startDate", end: "/endDate" },
    // Today is a whole day of the range then; what is still open is left out anyway.
    isTomorrowAllowed: true,
  });
  const candles = (range.end - range.start) / shortestMs(timeframe);
  if (candles > RANGE_CANDLES_MAX) throw tooLarge(Math.floor(candles), timeframe);
  const cursor = decodeCursor(input.cursor, cursorSchema);
  try {
    const wantedOf = (target: Target) => {
      const { start, end } = rangeOfDates(target, timeframe, range);
      if (cursor !== undefined && (cursor < start || cursor > end)) throw foreignCursor(input.cursor);
      return { timeframe, hours: input.session, start: cursor ?? start, end };
    };
    const targets = await chooseTargets(ctx.db, ctx.readThrough.feeds, input);
    const instrument = await completeFirst(targets, (target) => complete(ctx, target, wantedOf(target)));
    const wanted = wantedOf(instrument);
    const plan = await planRead(ctx.db, { ...wanted, instrument });
    const head = { symbol, timeframe, assetClass: instrument.assetClass, provider: instrument.provider };
    return { head, plan, tag: planTag(plan, instrument.provider) };
  } catch (error) {
    throw toAppError(error, input, await hintHeld(ctx, symbol, error));
  }
}

/** The end of a message where a feed lacks a symbol, or does not answer, and the archive has one that is nearly so called. */
async function hintHeld({ db }: Context, symbol: string, error: unknown): Promise<string> {
  if (!(error instanceof FeedError) || (error.fault !== "failed" && error.fault !== "unknown_symbol")) return "";
  const { symbols } = await listMarketNames(db);
  if (symbols.includes(symbol) || symbols.includes(compactSymbol(symbol))) return "";
  const nearest = findNearest(symbol, symbols);
  return nearest === undefined ? "" : `; no market is held as ${symbol}: did you mean ${nearest}?`;
}

/** The instrument that answers, after the archive has fetched what it lacks of the range. */
async function complete(
  { readThrough, clientNetwork, user }: Context,
  target: Target,
  wanted: Wanted,
): Promise<Instrument> {
  const caller = user === null ? { address: clientNetwork } : { userId: user.id };
  return await readThrough.complete(target, { ...wanted, beforeFetch: () => readThrough.limits.take(caller) });
}

/** The error that a caller gets for the error of a search for candles. */
function toAppError(cause: unknown, { symbol, timeframe }: TicksInput, hint = ""): unknown {
  if (cause instanceof TimeframeTooFineError) {
    const message = `must be ${cause.finest} or coarser for ${symbol}, not ${timeframe}`;
    return new AppError("TIMEFRAME_TOO_FINE", cause.message, { issues: [{ path: "/timeframe", message }], cause });
  }
  if (cause instanceof UnknownTargetError) return new AppError("SYMBOL_NOT_FOUND", cause.message, { cause });
  if (cause instanceof FetchLimitError) {
    return new AppError("RATE_LIMITED", cause.message, { retryAfterSeconds: cause.retryAfterSeconds, cause });
  }
  if (cause instanceof LostCandlesError) return new AppError("UNAVAILABLE", cause.message, { cause });
  if (cause instanceof FeedError) {
    const { retryAfterSeconds } = cause;
    return new AppError(FEED_CODES[cause.fault], `${cause.message}${hint}`, {
      cause,
      ...(retryAfterSeconds > 0 ? { retryAfterSeconds } : {}),
    });
  }
  return cause;
}

const FEED_CODES = {
  rate_limited: "PROVIDER_RATE_LIMITED",
  failed: "PROVIDER_FAILED",
  refused: "PROVIDER_FAILED",
  unknown_symbol: "SYMBOL_NOT_FOUND",
  not_configured: "SYMBOL_NOT_FOUND",
} as const satisfies Record<FeedFault, ErrorCode>;

// A cursor is the open of the next candle, milliseconds since 1970.
const cursorSchema = z.string().regex(/^-?\d{1,15}$/).transform(Number);

function foreignCursor(cursor: string | undefined): AppError {
  const { error } = mustBe("the next_cursor of an answer for the same range");
  const message = error({ input: cursor });
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

/** The first candles of a range, and the cursor of the rest. */
interface TicksPage extends FoundTicks {
  readonly batches: readonly Candles[];
  /** The cursor of the rest, or null where nothing is left. */
  readonly nextCursor: string | null;
}

/** Finds and reads up to `limit` candles. @throws AppError as `findWholeTicks` does. */
export async function readPage(ctx: Context, input: TicksInput & { readonly limit: number }): Promise<TicksPage> {
  try {
    return await retryOnChange(async () => {
      const found = await findTicks(ctx, input);
      const { plan } = found;
      const count = (candles: number) => ctx.answer.takeCandles(candles);
      return await ctx.answer.inTurn(async () => {
        ctx.answer.requireSome();
        return { ...found, ...await readUpTo(input.limit, candleBatches(ctx.db, plan, repairer(ctx, plan), count)) };
      });
    });
  } catch (error) {
    throw toAppError(error, input);
  }
}

/** The repair of damaged chunks of a plan. */
export function repairer({ readThrough }: Context, { instrument }: ReadPlan): Repair {
  return (error) => readThrough.repair(instrument, error);
}

async function readUpTo(
  limit: number,
  all: AsyncIterable<Candles>,
): Promise<Pick<TicksPage, "batches" | "nextCursor">> {
  const batches: Candles[] = [];
  let room = limit;
  for await (const batch of all) {
    const rest = batch.time[room];
    batches.push(sliceCandles(batch, 0, Math.min(room, batch.time.length)));
    if (rest !== undefined) return { batches, nextCursor: encodeCursor(String(rest)) };
    room -= batch.time.length;
  }
  return { batches, nextCursor: null };
}

/** One candle of an answer. */
export const tickSchema = z.object({
  timestamp: z.iso.datetime(),
  open: z.number(),
  high: z.number(),
  low: z.number(),
  close: z.number(),
  volume: z.number(),
}).meta({ id: "Tick" });

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
