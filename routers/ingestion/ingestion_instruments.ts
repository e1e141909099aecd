import { z } from "zod";
import type { Db } from "../../db/client.ts";
import { clearCoverage } from "../../db/coverage.ts";
import {
  deleteInstrument,
  findInstrumentById,
  insertInstrument,
  type Instrument,
  listHoldings,
  type Session,
  updateInstrument,
} from "../../db/instruments.ts";
import { PROVIDERS } from "../../db/schema.ts";
import { ASSET_CLASSES } from "../../engine/execution.ts";
import { isFed } from "../../market/archive/made_candles.ts";
import { sessionOf } from "../../market/calendar/exchange_sessions.ts";
import { findCronFault } from "../../market/ingestion/schedule.ts";
import { type Feed, FeedError } from "../../market/feeds/feed.ts";
import { TIMEFRAME_NAMES } from "../../market/timeframes.ts";
import { dateSchema } from "../common/dates.ts";
import { AppError, mustBe } from "../common/errors.ts";
import { holdingKeySchema, holdingKeyText } from "../market_data/holdings.ts";
import { cutPage, decodeCursor, pageShape } from "../common/paging.ts";
import { currencySchema } from "../market_data/currency.ts";
import { marketNameSchema } from "../market_data/market_name.ts";
import { timeZoneSchema } from "../common/time_zone.ts";
import { recordReader, showReadable } from "../common/stored_records.ts";
import { type Context, ingestionProcedure } from "../common/trpc.ts";

const scheduleSchema = z.string().max(100).superRefine((text, context) => {
  const fault = findCronFault(text);
  if (fault !== null) context.addIssue(fault);
});
// The service makes its sample instrument itself.
const providerSchema = z.enum(PROVIDERS).exclude(["sample"]);

const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$|^24:00$/, mustBe("a time HH:MM"));

/** The hours of an instrument's market, where neither its exchange nor its asset class tells them. */
const sessionSchema = z.strictObject({
  timezone: timeZoneSchema,
  open: timeOfDay,
  close: timeOfDay,
  weekdays: z.array(z.int().min(1).max(7)).min(1).max(7).default([1, 2, 3, 4, 5]),
  extended: z.strictObject({ open: timeOfDay, close: timeOfDay }).nullable().default(null),
});

/** The fields that an operator may change. */
const settings = {
  provider: providerSchema,
  timeframe: z.enum(TIMEFRAME_NAMES).nullable(),
  backfill_from: dateSchema.nullable(),
  schedule: scheduleSchema.nullable(),
  session: sessionSchema.nullable(),
  currency: currencySchema.nullable(),
};

const newInstrumentSchema = z.strictObject({
  symbol: marketNameSchema,
  exchange: marketNameSchema,
  assetClass: z.enum(ASSET_CLASSES),
  provider: providerSchema,
  timeframe: settings.timeframe.default(null),
  backfill_from: settings.backfill_from.default(null),
  schedule: settings.schedule.default(null),
  session: settings.session.default(null),
  currency: settings.currency.optional(),
});

const instrumentSchema = z.object({
  id: z.uuid(),
  symbol: z.string(),
  exchange: z.string(),
  assetClass: z.enum(ASSET_CLASSES),
  provider: z.enum(PROVIDERS),
  timeframe: z.string().nullable(),
  backfill_from: z.string().nullable(),
  schedule: z.string().nullable(),
  /** In force: the instrument's own, that of its exchange or that of its asset class. */
  session: sessionSchema,
  currency: z.string().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
}).meta({ id: "IngestedInstrument" });

// A text that is no UUID is an unknown id, like any other.
const idSchema = z.string().max(100);

/** The instruments that ingestion keeps up to date, with their settings. */
export const instrumentProcedures = {
  instruments: ingestionProcedure
    .input(z.strictObject({ ...pageShape, cursor: z.string().max(2_000).optional() }))
    .output(z.object({ instruments: z.array(instrumentSchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input: { limit, cursor } }) => {
      const after = decodeCursor(cursor, holdingKeySchema);
      const rows = (await listHoldings(ctx.db, { after, limit: limit + 1 })).map(({ instrument }) => instrument);
      const { page, next_cursor } = cutPage(rows, limit, holdingKeyText);
      return { instruments: showReadable(page, toInstrument), next_cursor };
    }),

  addInstrument: ingestionProcedure
    .input(z.strictObject({ instrument: newInstrumentSchema }))
    .output(z.object({ instrument: instrumentSchema }))
    .mutation(async ({ ctx, input: { instrument } }) => {
      const { backfill_from: backfillFrom, ...row } = instrument;
      const feed = requireFeed(ctx, { ...row, backfillFrom });
      const currency = row.currency === undefined ? feed?.currencyOf?.(row) ?? null : row.currency;
      const inserted = await insertInstrument(ctx.db, { ...row, currency, backfillFrom });
      if (inserted === undefined) {
        throw new AppError(
          "INSTRUMENT_EXISTS",
          `Cannot add ${row.symbol} on ${row.exchange}: it exists already; change it with PATCH`,
        );
      }
      await ctx.queue.syncSchedules();
      return { instrument: toInstrument(inserted) };
    }),

  updateInstrument: ingestionProcedure
    .input(z.strictObject({ id: idSchema, instrument: z.strictObject(settings).partial() }))
    .output(z.object({ instrument: instrumentSchema }))
    .mutation(async ({ ctx, input: { id, instrument } }) => {
      const held = isUuid(id) ? await findInstrumentById(ctx.db, id) : undefined;
      if (held === undefined) throw notFound(id);
      const changed = {
        provider: instrument.provider ?? held.provider,
        timeframe: instrument.timeframe === undefined ? held.timeframe : instrument.timeframe,
        backfillFrom: instrument.backfill_from === undefined ? held.backfillFrom : instrument.backfill_from,
        schedule: instrument.schedule === undefined ? held.schedule : instrument.schedule,
        session: instrument.session === undefined ? held.session : instrument.session,
        currency: instrument.currency === undefined ? held.currency : instrument.currency,
      };
      requireFeed(ctx, { ...changed, assetClass: held.assetClass });
      const updated = await ctx.db.transaction(async (tx: Db) => {
        const row = await updateInstrument(tx, id, changed);
        // Providers differ, so the new one is asked for the whole history.
        if (changed.provider !== held.provider) await clearCoverage(tx, id);
        return row;
      });
      if (updated === undefined) throw notFound(id);
      await ctx.queue.syncSchedules();
      return { instrument: toInstrument(updated) };
    }),

  /** Removes an instrument with all its candles. */
  deleteInstrument: ingestionProcedure
    .input(z.strictObject({ id: idSchema }))
    .mutation(async ({ ctx, input: { id } }) => {
      if (!isUuid(id) || !await deleteInstrument(ctx.db, id)) throw notFound(id);
      await ctx.queue.syncSchedules();
    }),
};

/** An instrument with a provider needs a timeframe, a start and a feed that works. */
function requireFeed(
  ctx: Context,
  row: Pick<Instrument, "provider" | "assetClass" | "timeframe" | "backfillFrom" | "schedule">,
): Feed | undefined {
  if (!isFed(row)) {
    if (row.schedule !== null && row.provider === "import") throw invalid("schedule", "must be null for an import");
    return undefined;
  }
  if (row.timeframe === null) throw invalid("timeframe", `is required with ${row.provider}`);
  if (row.backfillFrom === null) throw invalid("backfill_from", `is required with ${row.provider}`);
  try {
    return ctx.readThrough.feeds(row);
  } catch (error) {
    if (error instanceof FeedError) throw invalid("provider", `cannot be ${row.provider}: ${error.message}`);
    throw error;
  }
}

function invalid(key: string, message: string): AppError {
  const issues = [{ path: `/instrument/${key}`, message }];
  return new AppError("VALIDATION_FAILED", `Cannot keep the instrument: /instrument/${key} ${message}`, { issues });
}

function notFound(id: string): AppError {
  return new AppError("INSTRUMENT_NOT_FOUND", `Cannot find the instrument ${id}`);
}

function isUuid(text: string): boolean {
  return z.uuid().safeParse(text).success;
}

function toSession({ weekdays, ...session }: Session): z.infer<typeof sessionSchema> {
  return { ...session, weekdays: [...weekdays] };
}

const toInstrument = recordReader(({ id }) => `instrument ${id}`, instrumentSchema, showInstrument);

function showInstrument(row: Instrument): z.infer<typeof instrumentSchema> {
  return {
    id: row.id,
    symbol: row.symbol,
    exchange: row.exchange,
    assetClass: row.assetClass,
    provider: row.provider,
    timeframe: row.timeframe,
    backfill_from: row.backfillFrom,
    schedule: row.schedule,
    session: toSession(sessionOf(row)),
    currency: row.currency,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}
