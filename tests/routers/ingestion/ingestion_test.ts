import { expect } from "@std/expect";
import type { Db } from "../../../db/client.ts";
import { addCoverage, listCoverage } from "../../../db/coverage.ts";
import { ensureInstrument } from "../../../db/instruments.ts";
import { executeRun } from "../../../market/ingestion/ingestion_run.ts";
import { AppError, type ErrorCode } from "../../../routers/common/errors.ts";
import { ingestionRouter, ingestionStreamsRouter } from "../../../routers/ingestion/ingestion.ts";
import type { RunQueue } from "../../../db/run_queue.ts";
import { createCallerFactory } from "../../../routers/common/trpc.ts";
import { databaseTest } from "../../support/database.ts";
import { strangerContext } from "../../support/context.ts";

const FILE = "Date,Open,High,Low,Close,Volume\n2024-01-02,1,3,0.5,2,10\nbad,1,1,1,1,1\n";
const UNKNOWN = "01890a5d-ac96-774b-bcce-b302099a8057";

const stream = (text: string) => new Blob([text]).stream();
const operator = (db: Db) => createCallerFactory(ingestionRouter)(strangerContext(db, { hasIngestionSecret: true }));
const uploads = (db: Db, importBytesMax = 1_000_000) =>
  createCallerFactory(ingestionStreamsRouter)(strangerContext(db, { hasIngestionSecret: true, importBytesMax }));

async function code(attempt: Promise<unknown>): Promise<ErrorCode | string> {
  const error: unknown = await attempt.then(() => null, (reason) => reason);
  return error instanceof AppError ? error.appCode : error instanceof Error ? error.constructor.name : "none";
}

databaseTest("an operator imports candles, starts runs and reads their events", async ({ db }) => {
  await imports(db);
  await runsOnce(db);
  await lists(db);
  await keepsInstruments(db);
  await watchesARunOfAll(db);
  const stranger = createCallerFactory(ingestionRouter)(strangerContext(db));
  expect(await code(stranger.events({}))).toBe("UNAUTHENTICATED");
  expect(await code(stranger.runOnce({}))).toBe("UNAUTHENTICATED");
});

async function imports(db: Db) {
  const target = { symbol: "ACME", exchange: "NYSE", assetClass: "stock", timeframe: "1d" } as const;
  const answer = await uploads(db).import({ ...target, body: stream(FILE) });
  expect(answer).toMatchObject({
    imported: 1,
    unchanged: 0,
    revised: 0,
    rejected_count: 1,
    rejected: [{ line: 3, reason: '"bad" is not a time that exists (write 2024-12-31 or 2024-12-31 23:59)' }],
    run: { status: "completed", trigger: "import", instruments: [{ symbol: "ACME", exchange: "NYSE" }], candles: 1 },
  });
  expect(await code(uploads(db).import({ ...target, body: null }))).toBe("VALIDATION_FAILED");
  expect(await code(uploads(db).import({ ...target, body: stream("date,open\n") }))).toBe("VALIDATION_FAILED");
  expect(await code(uploads(db).import({ ...target, assetClass: "forex", body: stream(FILE) }))).toBe(
    "VALIDATION_FAILED",
  );
  expect(await code(uploads(db, 10).import({ ...target, body: stream(FILE) }))).toBe("PAYLOAD_TOO_LARGE");
}

async function runsOnce(db: Db) {
  const feedless = { symbol: "ACME", exchange: "NYSE" };
  await ensureInstrument(db, { ...feedless, symbol: "OTHER", assetClass: "stock", provider: "import" });
  const queued: string[] = [];
  const queue: RunQueue = {
    ...strangerContext(db).queue,
    enqueueIngestion: (_tx, runId) => Promise.resolve(void queued.push(runId)),
  };
  const api = createCallerFactory(ingestionRouter)(strangerContext(db, { hasIngestionSecret: true, queue }));
  const { run } = await api.runOnce({ instruments: [feedless], start_date: "2024-01-01" });
  expect(run).toMatchObject({ status: "queued", trigger: "manual", start_date: "2024-01-01", started_at: null });
  const joined = await api.runOnce({ instruments: [feedless], start_date: "2024-01-01" });
  expect(joined.run.id).toBe(run.id);
  // The run that was joined is not queued again.
  expect(queued).toEqual([run.id]);
  await executeRun(db, run.id);
  const ended = await api.run({ id: run.id });
  expect(ended.run).toMatchObject({ status: "failed", finished_at: expect.stringMatching(/Z$/) });
  expect(ended.run.message).toContain("ACME on NYSE: Cannot ingest an instrument without a feed");

  expect(await code(api.run({ id: UNKNOWN }))).toBe("RUN_NOT_FOUND");
  expect(await code(api.run({ id: "x" }))).toBe("RUN_NOT_FOUND");
  expect(await code(api.runOnce({ instruments: [{ symbol: "NOPE", exchange: "X" }] }))).toBe("SYMBOL_NOT_FOUND");
  expect(await code(api.runOnce({ start_date: "2024-01-02", end_date: "2024-01-02" }))).toBe("INVALID_DATE_RANGE");
  expect(await code(api.runOnce({ end_date: "2999-01-01" }))).toBe("FUTURE_DATE_RANGE");
  expect(await code(api.runOnce({ start_date: "2999-01-01" }))).toBe("INVALID_DATE_RANGE");
  expect(await code(api.runOnce({ instruments: [] }))).toBe("TRPCError");
}

async function lists(db: Db) {
  const api = operator(db);
  const { events } = await api.events({});
  // Newest first: the failed run, then the import.
  expect(events.map(({ type }) => type)).toEqual([
    "run_finished",
    "failed",
    "run_started",
    "run_finished",
    "rejected",
    "range_ingested",
    "run_started",
  ]);
  const [ingested] = (await api.events({ type: "range_ingested" })).events;
  expect(ingested).toMatchObject({
    symbol: "ACME",
    exchange: "NYSE",
    provider: "import",
    timeframe: "1d",
    start: "2024-01-02T00:00:00.000Z",
    end: "2024-01-03T00:00:00.000Z",
    candles: 1,
  });
  expect((await api.events({ run_id: ingested!.run_id })).events.length).toBe(4);
  expect((await api.events({ run_id: "no such run" })).events).toEqual([]);
  expect((await api.events({ symbol: "NOPE" })).events).toEqual([]);
  // The events of a symbol include the start and end of its runs, also of runs with several instruments, and no others.
  expect((await api.events({ symbol: "ACME" })).events).toEqual(events);
  expect((await api.events({ symbol: "OTHER" })).events).toEqual([]);
  const first = await api.events({ limit: 3 });
  const rest = await api.events({ limit: 200, cursor: first.next_cursor! });
  expect([...first.events, ...rest.events]).toEqual(events);
  const { runs } = await api.runs({});
  expect(runs.map(({ trigger }) => trigger)).toEqual(["manual", "import"]);
  const older = await api.runs({ limit: 1, cursor: (await api.runs({ limit: 1 })).next_cursor! });
  expect(older.runs.map(({ trigger }) => trigger)).toEqual(["import"]);
}

async function watchesARunOfAll(db: Db) {
  const api = operator(db);
  const row = { exchange: "X", assetClass: "crypto", provider: "sample", backfillFrom: "2024-01-01" } as const;
  await ensureInstrument(db, { ...row, symbol: "KEPT", timeframe: "1m" });
  const { run } = await api.runOnce({ end_date: "2024-01-02" });
  await executeRun(db, run.id);
  const types = async (symbol: string) => (await api.events({ symbol, run_id: run.id })).events.map(({ type }) => type);
  expect(await types("KEPT")).toEqual(["run_finished", "range_ingested", "run_started"]);
  // It has no feed, and no run of all is for it.
  expect(await types("ACME")).toEqual([]);
}

async function keepsInstruments(db: Db) {
  let synced = 0;
  const queue: RunQueue = { ...strangerContext(db).queue, syncSchedules: () => Promise.resolve(void synced++) };
  const api = createCallerFactory(ingestionRouter)(strangerContext(db, { hasIngestionSecret: true, queue }));
  const btc = { symbol: "BTCUSDT", exchange: "BINANCE", assetClass: "crypto", provider: "provider_a" } as const;
  const settings = { timeframe: "1m", backfill_from: "2024-01-01", schedule: "5 0 * * *" } as const;
  const { instrument } = await api.addInstrument({ instrument: { ...btc, ...settings } });
  expect(instrument).toMatchObject({ ...btc, ...settings });
  expect(await code(api.addInstrument({ instrument: { ...btc, ...settings } }))).toBe("INSTRUMENT_EXISTS");
  expect(await code(api.addInstrument({ instrument: { ...btc, symbol: "NEW" } }))).toBe("VALIDATION_FAILED");
  const stock = { ...btc, ...settings, symbol: "AAPL", assetClass: "stock", provider: "provider_b" } as const;
  expect(await code(api.addInstrument({ instrument: stock }))).toBe("VALIDATION_FAILED");
  const wrong = { ...btc, ...settings, symbol: "NEW", schedule: "every day" };
  expect(await code(api.addInstrument({ instrument: wrong }))).toBe("TRPCError");

  const { id } = instrument;
  const changed = await api.updateInstrument({ id, instrument: { schedule: null } });
  expect(changed.instrument).toMatchObject({ schedule: null, timeframe: "1m", backfill_from: "2024-01-01" });
  expect(await code(api.updateInstrument({ id, instrument: { timeframe: null } }))).toBe("VALIDATION_FAILED");
  expect(await code(api.updateInstrument({ id: UNKNOWN, instrument: {} }))).toBe("INSTRUMENT_NOT_FOUND");
  // Another provider's candles are no coverage.
  const series = { instrumentId: id, timeframe: "1m" };
  await addCoverage(db, series, { start: new Date("2024-01-01"), end: new Date("2024-01-02") });
  await api.updateInstrument({ id, instrument: { provider: "provider_a" } });
  expect((await listCoverage(db, series)).length).toBe(1);
  await api.updateInstrument({ id, instrument: { provider: "import" } });
  expect(await listCoverage(db, series)).toEqual([]);
  const listed = (await api.instruments({})).instruments.map(({ symbol }) => symbol);
  expect(listed).toEqual(["ACME", "BTCUSDT", "OTHER"]);
  const first = await api.instruments({ limit: 1 });
  expect((await api.instruments({ limit: 1, cursor: first.next_cursor! })).instruments[0]?.symbol).toBe("BTCUSDT");
  expect(await api.status()).toMatchObject({ queued: 0, running: 0, instruments: 0, last_run: { trigger: "manual" } });
  await api.deleteInstrument({ id });
  expect(await code(api.deleteInstrument({ id }))).toBe("INSTRUMENT_NOT_FOUND");
  expect(synced).toBe(5);
}
