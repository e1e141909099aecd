import { z } from "zod";
import { type InstrumentHolding, listHoldings } from "../db/instruments.ts";
import { type CandleBatch, DamagedChunkError, lazyBatches } from "../market/archive.ts";
import type { ReadPlan } from "../market/archive_plan.ts";
import { TIMEFRAME_NAMES } from "../market/timeframes.ts";
import { holdingKeySchema, holdingKeyText } from "./holdings.ts";
import { cutPage, decodeCursor, pageShape } from "./paging.ts";
import {
  ASSET_CLASSES,
  findTicks,
  limitSchema,
  readPage,
  readRepairing,
  tickSchema,
  type TicksHead,
  ticksShape,
  toTicks,
} from "./ticks.ts";
import { type Context, publicProcedure, router } from "./trpc.ts";

const PROVIDERS = ["provider_a", "provider_b", "import", "sample"] as const;

const holdingSchema = z.object({
  symbol: z.string(),
  exchange: z.string(),
  assetClass: z.enum(ASSET_CLASSES),
  provider: z.enum(PROVIDERS),
  timeframes: z.array(z.enum(TIMEFRAME_NAMES)),
  first: z.iso.datetime().nullable(),
  last: z.iso.datetime().nullable(),
  candles: z.int(),
});

export const marketDataRouter = router({
  /** Up to `limit` candles of a range, and where the rest begins. */
  ticks: publicProcedure
    .input(z.strictObject({ ...ticksShape, limit: limitSchema }))
    .output(z.object({
      symbol: z.string(),
      timeframe: z.enum(TIMEFRAME_NAMES),
      assetClass: z.enum(ASSET_CLASSES),
      provider: z.enum(PROVIDERS),
      ticks: z.array(tickSchema),
      next_cursor: z.string().nullable(),
    }))
    .query(async ({ ctx, input }) => {
      const found = await findTicks(ctx, input);
      const read = (plan: ReadPlan) => readPage(ctx, plan, input.limit);
      const { batches, nextCursor } = await readRepairing(ctx, found, input, read);
      return { ...found.head, ticks: toTicks(batches), next_cursor: nextCursor };
    }),

  /** What data exists, by symbol and exchange. */
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
      return { instruments: page.map(toHolding), next_cursor };
    }),
});

function toHolding({ instrument, timeframes, first, last, candles }: InstrumentHolding) {
  return {
    symbol: instrument.symbol,
    exchange: instrument.exchange,
    assetClass: instrument.assetClass,
    provider: instrument.provider,
    timeframes: TIMEFRAME_NAMES.filter((name) => timeframes.includes(name)),
    first: first?.toISOString() ?? null,
    last: last?.toISOString() ?? null,
    candles,
  };
}

/** An answer of candles that is written while they are read. */
export interface TicksAnswer {
  readonly head: TicksHead;
  /** Changes when the candles do; the format is the encoder's to add. */
  readonly tag: string;
  readonly batches: AsyncIterable<CandleBatch> | Iterable<CandleBatch>;
  /** Undefined where all was asked for, null where nothing is left. */
  readonly nextCursor: string | null | undefined;
  readonly format: TicksFormat | undefined;
}

export const TICKS_FORMATS = ["json", "csv", "arrow"] as const;
export type TicksFormat = (typeof TICKS_FORMATS)[number];

export const marketDataStreamsRouter = router({
  /** All candles of a range, or with a `limit` the first of them. */
  ticks: publicProcedure
    .input(z.strictObject({ ...ticksShape, limit: limitSchema.optional(), format: z.enum(TICKS_FORMATS).optional() }))
    .query(async ({ ctx, input }): Promise<TicksAnswer> => {
      const found = await findTicks(ctx, input);
      const { head, plan, tag } = found;
      const { limit, format } = input;
      if (limit === undefined) {
        return { head, tag, batches: reportDamage(ctx, plan), nextCursor: undefined, format };
      }
      const page = await readRepairing(ctx, found, input, (current) => readPage(ctx, current, limit));
      const { nextCursor } = page;
      const batches = page.batches.map((candles) => ({ sha256: null, read: () => Promise.resolve(candles) }));
      return { head, tag: `${tag}-${limit}`, batches, nextCursor, format };
    }),
});

/** The answer breaks off at a damaged chunk, since its beginning is on its way; the next request finds it repaired. */
async function* reportDamage(ctx: Context, plan: ReadPlan): AsyncGenerator<CandleBatch> {
  const reporting = async <T>(read: () => Promise<T>): Promise<T> => {
    try {
      return await read();
    } catch (error) {
      if (error instanceof DamagedChunkError) await ctx.readThrough.repair(plan.instrument, error);
      throw error;
    }
  };
  const batches = lazyBatches(ctx.db, plan);
  for (;;) {
    const { value, done } = await reporting(() => batches.next());
    if (done) return;
    yield { sha256: value.sha256, read: () => reporting(value.read) };
  }
}
