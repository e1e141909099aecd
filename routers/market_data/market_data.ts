import { z } from "zod";
import { findInstrument, type InstrumentHolding, listHoldings } from "../../db/instruments.ts";
import { PROVIDERS } from "../../db/schema.ts";
import { ASSET_CLASSES } from "../../engine/execution.ts";
import { findGaps } from "../../market/archive/gaps.ts";
import { type CandleBatch, lazyBatches } from "../../market/archive/read.ts";
import type { TimeRange } from "../../market/archive/time_ranges.ts";
import { TIMEFRAME_NAMES } from "../../market/timeframes.ts";
import { holdingKeySchema, holdingKeyText } from "./holdings.ts";
import { AppError } from "../common/errors.ts";
import { formatSchema } from "../common/formats.ts";
import type { Format } from "../../workers/rows/table_format.ts";
import { cutPage, decodeCursor, encodeCursor, pageShape } from "../common/paging.ts";
import { marketNameSchema } from "./market_name.ts";
import {
  findWholeTicks,
  limitSchema,
  readPage,
  repairer,
  tickSchema,
  type TicksHead,
  ticksShape,
  toTicks,
} from "./ticks.ts";
import { recordReader, showReadable } from "../common/stored_records.ts";
import { type Context, publicProcedure, router } from "../common/trpc.ts";

// Four full pages.
const BATCH_CANDLES_MAX = 200_000;

const rangeSchema = z.object({ start: z.iso.datetime(), end: z.iso.datetime() });
// The most candles that a search for gaps reads.
const GAP_CANDLES_MAX = 200_000;
// A gap as JSON, about.
const GAP_BYTES = 80;

const holdingSchema = z.object({
  symbol: z.string(),
  exchange: z.string(),
  assetClass: z.enum(ASSET_CLASSES),
  provider: z.enum(PROVIDERS),
  currency: z.string().nullable(),
  timeframes: z.array(z.enum(TIMEFRAME_NAMES)),
  first: z.iso.datetime().nullable(),
  last: z.iso.datetime().nullable(),
  candles: z.int(),
}).meta({ id: "HeldInstrument" });

/** An answer with candles. */
export const ticksAnswerSchema = z.object({
  symbol: z.string(),
  timeframe: z.enum(TIMEFRAME_NAMES),
  assetClass: z.enum(ASSET_CLASSES),
  provider: z.enum(PROVIDERS),
  ticks: z.array(tickSchema),
  next_cursor: z.string().nullable(),
});

export const marketDataRouter = router({
  /** Up to `limit` candles of a range, and the cursor of the rest. */
  ticks: publicProcedure
    .input(z.strictObject({ ...ticksShape, limit: limitSchema }))
    .output(ticksAnswerSchema)
    .query(async ({ ctx, input }) => {
      const { head, batches, nextCursor } = await readPage(ctx, input);
      requireFew(ctx, batches.reduce((sum, { time }) => sum + time.length, 0));
      return { ...head, ticks: toTicks(batches), next_cursor: nextCursor };
    }),

  /** The stored instruments, by symbol and exchange. */
  instruments: publicProcedure
    .input(z.strictObject({
      ...pageShape,
      cursor: z.string().max(2_000).optional(),
      search: z.string().max(100).optional(),
      assetClass: z.enum(ASSET_CLASSES).optional(),
    }))
    .output(z.object({ instruments: z.array(holdingSchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input }) => {
      const { limit, cursor, search, assetClass } = input;
      const after = decodeCursor(cursor, holdingKeySchema);
      const rows = await listHoldings(ctx.db, { search, assetClass, after, limit: limit + 1 });
      const { page, next_cursor } = cutPage(rows, limit, ({ instrument }) => holdingKeyText(instrument));
      return { instruments: showReadable(page, toHolding), next_cursor };
    }),

  /** Stretches without candles between the stored ones of a timeframe, where trade was to be expected. */
  gaps: publicProcedure
    .input(z.strictObject({
      symbol: marketNameSchema,
      exchange: marketNameSchema,
      timeframe: z.enum(TIMEFRAME_NAMES),
      cursor: z.string().max(200).optional(),
    }))
    .output(z.object({
      held: rangeSchema.nullable(),
      gaps: z.array(rangeSchema),
      count: z.int(),
      next_cursor: z.string().nullable(),
    }))
    .query(async ({ ctx, input: { symbol, exchange, timeframe, cursor } }) => {
      const instrument = await findInstrument(ctx.db, { symbol, exchange });
      if (instrument === undefined) {
        throw new AppError("SYMBOL_NOT_FOUND", `Cannot find gaps of ${symbol} on ${exchange}: it is not held`);
      }
      const after = decodeCursor(cursor, z.iso.date());
      return await ctx.answer.inTurn(async () => {
        ctx.answer.requireSome();
        const { held, gaps, count, candles, next } = await findGaps(ctx.db, instrument, timeframe, {
          after,
          candlesMax: GAP_CANDLES_MAX,
        });
        ctx.answer.takeCandles(candles);
        ctx.answer.take(gaps.length * GAP_BYTES);
        const next_cursor = next === undefined ? null : encodeCursor(next);
        return { held: held && toIsoRange(held), gaps: gaps.map(toIsoRange), count, next_cursor };
      });
    }),
});

function toIsoRange({ start, end }: TimeRange) {
  return { start: new Date(start).toISOString(), end: new Date(end).toISOString() };
}

/** @throws AppError RANGE_TOO_LARGE where the calls of a batch read too much: all their answers stay in memory until the last one. */
function requireFew({ read }: Context, candles: number): void {
  read.candles += candles;
  if (read.candles <= BATCH_CANDLES_MAX) return;
  throw new AppError(
    "RANGE_TOO_LARGE",
    `Cannot answer so many candles at once: the calls of a batch may read ${BATCH_CANDLES_MAX} in all, not ${read.candles}`,
  );
}

const toHolding = recordReader(({ instrument }) => `instrument ${instrument.id}`, holdingSchema, showHolding);

function showHolding({ instrument, timeframes, first, last, candles }: InstrumentHolding) {
  return {
    symbol: instrument.symbol,
    exchange: instrument.exchange,
    assetClass: instrument.assetClass,
    provider: instrument.provider,
    currency: instrument.currency,
    timeframes: TIMEFRAME_NAMES.filter((name) => timeframes.includes(name)),
    first: first?.toISOString() ?? null,
    last: last?.toISOString() ?? null,
    candles,
  };
}

/** A streamed answer of candles. */
export interface TicksAnswer {
  readonly head: TicksHead;
  /** Changes with the candles; the encoder adds the format. */
  readonly tag: string;
  readonly batches: AsyncIterable<CandleBatch> | Iterable<CandleBatch>;
  /** Undefined for a whole range, null where nothing is left. */
  readonly nextCursor: string | null | undefined;
  readonly format: Format | undefined;
}

export const marketDataStreamsRouter = router({
  /** All candles of a range, or with a `limit` the first of them. */
  ticks: publicProcedure
    .input(z.strictObject({ ...ticksShape, limit: limitSchema.optional(), format: formatSchema }))
    .query(async ({ ctx, input }): Promise<TicksAnswer> => {
      const { limit, format } = input;
      if (limit === undefined) {
        const { head, tag, plan } = await findWholeTicks(ctx, input);
        // A damaged chunk is fetched again during the answer. If that fails or gives other candles, the answer breaks off.
        const batches = lazyBatches(ctx.db, plan, repairer(ctx, plan));
        return { head, tag, batches, nextCursor: undefined, format };
      }
      const { head, tag, nextCursor, ...page } = await readPage(ctx, { ...input, limit });
      const batches = page.batches.map((candles) => ({ sha256: null, read: () => Promise.resolve(candles) }));
      return { head, tag: `${tag}-${limit}`, batches, nextCursor, format };
    }),
});
