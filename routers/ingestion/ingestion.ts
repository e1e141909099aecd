import { z } from "zod";
import type { Db } from "../../db/client.ts";
import {
  findRun,
  type IngestionEvent,
  type IngestionRun,
  listEvents,
  listRuns,
  listRunsInFlight,
} from "../../db/ingestion.ts";
import { findInstrument, type InstrumentKey, listIngestedInstruments } from "../../db/instruments.ts";
import { INGESTION_EVENT_TYPES, ingestionRuns } from "../../db/schema.ts";
import { ASSET_CLASSES } from "../../engine/execution.ts";
import { CsvError } from "../../market/csv/csv_error.ts";
import { ImportTooLargeError } from "../../market/csv/file_text.ts";
import { type CsvImport, type CsvImportResult, importCsv, ImportRefusedError } from "../../market/csv/import.ts";
import { FeedError } from "../../market/feeds/feed.ts";
import { EXCHANGE_NAMES, EXCHANGE_SESSIONS } from "../../market/calendar/exchange_sessions.ts";
import { createRun } from "../../market/ingestion/ingestion_run.ts";
import { TIMEFRAME_NAMES } from "../../market/timeframes.ts";
import { dateSchema, parseRange } from "../common/dates.ts";
import { dialectSchema, forcedDialectShape } from "./dialect_schemas.ts";
import { AppError } from "../common/errors.ts";
import { instrumentProcedures } from "./ingestion_instruments.ts";
import { cutPage, decodeCursor, pageShape } from "../common/paging.ts";
import { currencySchema } from "../market_data/currency.ts";
import { marketNameSchema } from "../market_data/market_name.ts";
import { recordReader, showReadable } from "../common/stored_records.ts";
import { ingestionProcedure, router } from "../common/trpc.ts";

const RUN_INSTRUMENTS_MAX = 1_000;

const keySchema = z.strictObject({ symbol: marketNameSchema, exchange: marketNameSchema });
const momentSchema = z.iso.datetime().nullable();

const runSchema = z.object({
  id: z.uuid(),
  status: z.enum(ingestionRuns.status.enumValues),
  trigger: z.enum(ingestionRuns.trigger.enumValues),
  instruments: z.array(z.object({ symbol: z.string(), exchange: z.string() })).nullable(),
  start_date: z.string().nullable(),
  end_date: z.string().nullable(),
  candles: z.int(),
  message: z.string().nullable(),
  created_at: z.iso.datetime(),
  started_at: momentSchema,
  finished_at: momentSchema,
}).meta({ id: "IngestionRun" });

const eventSchema = z.object({
  id: z.uuid(),
  run_id: z.uuid(),
  type: z.enum(INGESTION_EVENT_TYPES),
  provider: z.string().nullable(),
  symbol: z.string().nullable(),
  exchange: z.string().nullable(),
  timeframe: z.string().nullable(),
  start: momentSchema,
  end: momentSchema,
  candles: z.int().nullable(),
  message: z.string().nullable(),
  created_at: z.iso.datetime(),
}).meta({ id: "IngestionEvent" });

// A text that is no UUID is an unknown id, like any other.
const runIdSchema = z.string().max(100);

export const ingestionRouter = router({
  ...instrumentProcedures,

  /** Events, newest first: all, or those of a symbol with the start and end of its runs. */
  events: ingestionProcedure
    .input(z.strictObject({
      ...pageShape,
      type: z.enum(INGESTION_EVENT_TYPES).optional(),
      symbol: marketNameSchema.optional(),
      run_id: runIdSchema.optional(),
    }))
    .output(z.object({ events: z.array(eventSchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input }) => {
      const { limit, cursor, type, symbol, run_id: runId } = input;
      const before = decodeCursor(cursor, z.uuid());
      if (runId !== undefined && !isUuid(runId)) return { events: [], next_cursor: null };
      const rows = await listEvents(ctx.db, { type, symbol, runId, before, limit: limit + 1 });
      const { page, next_cursor } = cutPage(rows, limit, (row) => row.id);
      return { events: showReadable(page, toEvent), next_cursor };
    }),

  /** Runs, newest first. */
  runs: ingestionProcedure
    .input(z.strictObject(pageShape))
    .output(z.object({ runs: z.array(runSchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input: { limit, cursor } }) => {
      const rows = await listRuns(ctx.db, { before: decodeCursor(cursor, z.uuid()), limit: limit + 1 });
      const { page, next_cursor } = cutPage(rows, limit, (row) => row.id);
      return { runs: showReadable(page, toRun), next_cursor };
    }),

  run: ingestionProcedure
    .input(z.strictObject({ id: runIdSchema }))
    .output(z.object({ run: runSchema }))
    .query(async ({ ctx, input: { id } }) => {
      const run = isUuid(id) ? await findRun(ctx.db, id) : undefined;
      if (run === undefined) throw new AppError("RUN_NOT_FOUND", `Cannot find the ingestion run ${id}`);
      return { run: toRun(run) };
    }),

  /** The state of ingestion in numbers. */
  status: ingestionProcedure
    .input(z.strictObject({}).optional())
    .output(z.object({ queued: z.int(), running: z.int(), instruments: z.int(), last_run: runSchema.nullable() }))
    .query(async ({ ctx }) => {
      const inFlight = await listRunsInFlight(ctx.db);
      const [last] = await listRuns(ctx.db, { limit: 1 });
      return {
        queued: inFlight.filter(({ status }) => status === "queued").length,
        running: inFlight.filter(({ status }) => status === "running").length,
        instruments: (await listIngestedInstruments(ctx.db)).length,
        last_run: last === undefined ? null : toRun(last),
      };
    }),

  /** Starts a run that fetches the missing candles of the named instruments, or of all with a feed. */
  runOnce: ingestionProcedure
    .input(z.strictObject({
      instruments: z.array(keySchema).min(1).max(RUN_INSTRUMENTS_MAX).optional(),
      start_date: dateSchema.optional(),
      end_date: dateSchema.optional(),
    }))
    .output(z.object({ run: runSchema }))
    .mutation(async ({ ctx, input }) => {
      const { instruments, start_date: startDate, end_date: endDate } = input;
      checkDates(startDate, endDate);
      for (const [index, key] of (instruments ?? []).entries()) await requireInstrument(ctx.db, key, index);
      const run = await ctx.db.transaction(async (tx: Db) => {
        const created = await createRun(tx, { trigger: "manual", instruments, startDate, endDate });
        if (!created.joined) await ctx.queue.enqueueIngestion(tx, created.run.id);
        return created.run;
      });
      return { run: toRun(run) };
    }),
});

export const ingestionStreamsRouter = router({
  /** Archives the candles of a CSV file as it arrives. */
  import: ingestionProcedure
    .input(z.strictObject({
      ...forcedDialectShape,
      symbol: marketNameSchema,
      exchange: marketNameSchema,
      assetClass: z.enum(ASSET_CLASSES).optional(),
      timeframe: z.enum(TIMEFRAME_NAMES).optional(),
      session: z.enum(EXCHANGE_NAMES).transform((name) => EXCHANGE_SESSIONS[name]).optional(),
      currency: currencySchema.optional(),
      body: z.instanceof(ReadableStream<Uint8Array>).nullable(),
    }))
    .output(z.object({
      run: runSchema,
      timeframe: z.enum(TIMEFRAME_NAMES),
      imported: z.int(),
      unchanged: z.int(),
      revised: z.int(),
      rejected_count: z.int(),
      rejected: z.array(z.object({ line: z.int(), reason: z.string() })),
      convention: z.string().nullable(),
      warnings: z.array(z.string()),
      dialect: dialectSchema,
    }))
    .mutation(async ({ ctx, input }) => {
      const { symbol, exchange, assetClass, timeframe, session, currency, body, ...forced } = input;
      const { run, rejectedCount, warnings, ...counts } = await importOrRefuse(ctx.db, {
        ...{ symbol, exchange, assetClass, timeframe, session, currency, forced },
        body: body ?? new Blob([]).stream(),
        bytesMax: ctx.importBytesMax,
      });
      return {
        ...counts,
        run: toRun(run),
        rejected: [...counts.rejected],
        rejected_count: rejectedCount,
        warnings: [...warnings],
      };
    }),
});

async function importOrRefuse(db: Db, request: CsvImport): Promise<CsvImportResult> {
  try {
    return await importCsv(db, request);
  } catch (error) {
    if (error instanceof ImportTooLargeError) throw new AppError("PAYLOAD_TOO_LARGE", error.message, { cause: error });
    if (error instanceof ImportRefusedError) throw invalid(error.message, `/${error.field}`, error.reason);
    if (error instanceof FeedError) throw new AppError("SYMBOL_NOT_FOUND", error.message, { cause: error });
    if (error instanceof CsvError) {
      throw invalid(error.message, error.parameter === null ? "" : `/${error.parameter}`, error.message);
    }
    throw error;
  }
}

function checkDates(startDate: string | undefined, endDate: string | undefined): void {
  // A range may be open at either end: year 1 or today stands for a missing date.
  const today = new Date().toISOString().slice(0, 10);
  const paths = { start: "/start_date", end: endDate === undefined ? "/today" : "/end_date" };
  if (startDate !== undefined || endDate !== undefined) parseRange(startDate ?? "0001-01-01", endDate ?? today, paths);
}

async function requireInstrument(db: Db, key: InstrumentKey, index: number): Promise<void> {
  if (await findInstrument(db, key) !== undefined) return;
  const message = `must be an existing instrument, not ${key.symbol} on ${key.exchange}`;
  throw new AppError("SYMBOL_NOT_FOUND", `Cannot ingest: /instruments/${index} ${message}`, {
    issues: [{ path: `/instruments/${index}`, message }],
  });
}

function invalid(message: string, path: string, issue: string): AppError {
  return new AppError("VALIDATION_FAILED", message, { issues: [{ path, message: issue }] });
}

function isUuid(text: string): boolean {
  return z.uuid().safeParse(text).success;
}

const toRun = recordReader(({ id }) => `ingestion run ${id}`, runSchema, showRun);

function showRun(run: IngestionRun): z.infer<typeof runSchema> {
  return {
    id: run.id,
    status: run.status,
    trigger: run.trigger,
    instruments: run.instruments?.map(({ symbol, exchange }) => ({ symbol, exchange })) ?? null,
    start_date: run.startDate,
    end_date: run.endDate,
    candles: run.candles,
    message: run.message,
    created_at: run.createdAt.toISOString(),
    started_at: run.startedAt?.toISOString() ?? null,
    finished_at: run.finishedAt?.toISOString() ?? null,
  };
}

const toEvent = recordReader(({ id }) => `ingestion event ${id}`, eventSchema, showEvent);

function showEvent(event: IngestionEvent): z.infer<typeof eventSchema> {
  return {
    id: event.id,
    run_id: event.runId,
    type: event.type,
    provider: event.provider,
    symbol: event.symbol,
    exchange: event.exchange,
    timeframe: event.timeframe,
    start: event.start?.toISOString() ?? null,
    end: event.end?.toISOString() ?? null,
    candles: event.candles,
    message: event.message,
    created_at: event.createdAt.toISOString(),
  };
}
