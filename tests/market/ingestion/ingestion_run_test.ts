import { expect } from "@std/expect";
import { and, eq, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { findRun, type IngestionEvent, insertEvents, insertRun, listEvents } from "../../../db/ingestion.ts";
import { ensureInstrument, findInstrument, type Instrument } from "../../../db/instruments.ts";
import { candleChunks } from "../../../db/schema.ts";
import { readCandles } from "../../support/candles.ts";
import { missingRanges } from "../../../market/archive/held.ts";
import { type Feed, FeedError } from "../../../market/feeds/feed.ts";
import { createRun, executeRun, type RunRequest } from "../../../market/ingestion/ingestion_run.ts";
import { archiveSample } from "../../../market/ingestion/archive_sample.ts";
import { databaseTest } from "../../support/database.ts";
import { dailyFeed, type Script } from "./daily_feed.ts";

const DAY = 86_400_000;
const day = (date: string) => Date.parse(`${date}T00:00:00Z`);
const now = day("2024-04-01") + 12 * 3_600_000;

async function makeInstrument(db: Db, symbol: string, more: Partial<Instrument> = {}): Promise<Instrument> {
  const row = { symbol, exchange: "TEST", assetClass: "crypto", provider: "provider_a" } as const;
  return await ensureInstrument(db, { ...row, timeframe: "1d", backfillFrom: "2024-03-05", ...more });
}

const create = (db: Db, request: Omit<RunRequest, "trigger">) =>
  db.transaction((tx) => createRun(tx, { trigger: "manual", ...request }));

async function eventsOf(db: Db, runId: string): Promise<IngestionEvent[]> {
  return (await listEvents(db, { runId, limit: 200 })).reverse();
}

databaseTest(
  "a run fetches missing candles, reports them, continues after a failure and is never doubled",
  async ({ db }) => {
    await joinsRunsInFlight(db);
    await fetchesWhatIsMissing(db);
    await goesOnBehindAFailure(db);
    await isPatient(db);
    await seesCorrections(db);
    await seesNoGapInWhatIsHeld(db);
    await replacesDamage(db);
    await failsWithoutAFeed(db);
    await storesWhatProvidersSay(db);
    await endsAbandonedRuns(db);
  },
);

// Eleven stocks trade on all 753 days of three years; two leave and one joins on the way. The euro trades on 779.
const DAYS = 11 * 753 + 298 + 597 + 389 + 779;

databaseTest("the samples are archived once, through a run like any other", async ({ db }) => {
  expect(await archiveSample(db)).toBe(true);
  expect(await archiveSample(db)).toBe(false);
  const instrument = await findInstrument(db, { symbol: "DEMO", exchange: "SAMPLE" });
  const range = { start: day("2024-01-01"), end: day("2025-01-01") };
  const read = await readCandles(db, { instrument: instrument!, timeframe: "1m", ...range });
  expect(read.candles.time.length).toBe(366 * 1440);
  expect(read.gaps).toBe(0);
  const events = (await listEvents(db, { symbol: "DEMO", limit: 200 })).reverse();
  expect(events.map(({ type, provider }) => [type, provider])).toEqual([
    ["run_started", null],
    ...Array(12).fill(["range_ingested", "sample"]),
    ["run_finished", null],
  ]);
  expect(events[2]).toMatchObject({ start: new Date("2024-02-01"), end: new Date("2024-03-01"), candles: 29 * 1440 });
  const run = await findRun(db, events[0]!.runId);
  expect(run).toMatchObject({ status: "completed", trigger: "start", candles: 366 * 1440 + 252 * 390 + DAYS });
  const stock = await findInstrument(db, { symbol: "STOCK", exchange: "SAMPLE" });
  const sessions = await readCandles(db, { instrument: stock!, timeframe: "1m", ...range });
  expect([sessions.candles.time.length, sessions.gaps]).toEqual([252 * 390, 0]);
  for (const [symbol, days] of [["ELM", 298], ["ROWAN", 389], ["OAK", 753]] as const) {
    const daily = await findInstrument(db, { symbol, exchange: "SAMPLE" });
    const years = { start: day("2022-01-01"), end: day("2025-01-01") };
    const held = await readCandles(db, { instrument: daily!, timeframe: "1d", ...years });
    expect([symbol, held.candles.time.length]).toEqual([symbol, days]);
  }
});

async function joinsRunsInFlight(db: Db) {
  const a = { symbol: "A", exchange: "X" };
  const b = { symbol: "B", exchange: "X" };
  const first = await create(db, { instruments: [a, b] });
  expect(first).toMatchObject({ joined: false, run: { status: "queued", startedAt: null } });
  const same = await create(db, { instruments: [b, a, b] });
  expect([same.joined, same.run.id]).toEqual([true, first.run.id]);
  expect((await create(db, { instruments: [a] })).joined).toBe(false);
  expect((await create(db, { instruments: [a, b], startDate: "2024-01-01" })).joined).toBe(false);
  const all = await Promise.all([create(db, {}), create(db, {}), create(db, {})]);
  expect(all.filter(({ joined }) => !joined).length).toBe(1);
  // Neither A nor B exists, so both fail; afterwards the same request is a new run.
  await executeRun(db, first.run.id);
  expect(await findRun(db, first.run.id)).toMatchObject({ status: "failed", candles: 0 });
  expect((await create(db, { instruments: [a, b] })).joined).toBe(false);
}

async function fetchesWhatIsMissing(db: Db) {
  const instrument = await makeInstrument(db, "FETCH");
  const key = { symbol: "FETCH", exchange: "TEST" };
  const script: Script = { asked: [], price: 5 };
  const feeds = () => dailyFeed(script);
  const march = await create(db, { instruments: [key], startDate: "2024-03-10", endDate: "2024-03-20" });
  await executeRun(db, march.run.id, { feeds, now });
  // Ten days without the 13th.
  expect(await findRun(db, march.run.id)).toMatchObject({ status: "completed", candles: 9, message: null });
  const events = await eventsOf(db, march.run.id);
  expect(events.map(({ type, candles }) => [type, candles])).toEqual([
    ["run_started", null],
    ["range_ingested", 9],
    ["gap_found", 0],
    ["run_finished", 9],
  ]);
  expect(events[1]).toMatchObject({ symbol: "FETCH", timeframe: "1d", provider: "provider_a" });
  expect(events[2]).toMatchObject({ start: new Date("2024-03-13"), end: new Date("2024-03-14") });

  // From the backfill's start to the last closed candle: what was not asked for, and ten candles before it.
  const rest = await create(db, { instruments: [key] });
  await executeRun(db, rest.run.id, { feeds, now });
  expect(script.asked).toEqual(["2024-03-10..2024-03-20", "2024-03-05..2024-03-10", "2024-03-10..2024-04-01"]);
  const wanted = { start: day("2024-03-01"), end: day("2024-05-01") };
  expect(await missingRanges(db, { instrumentId: instrument.id, timeframe: "1d" }, wanted)).toEqual([
    { start: day("2024-03-01"), end: day("2024-03-05") },
    { start: day("2024-04-01"), end: day("2024-05-01") },
  ]);
  const { candles, gaps } = await readCandles(db, { instrument, timeframe: "1d", ...wanted, now });
  expect([candles.time.length, gaps]).toEqual([26, 1]);

  // Delivered once more, an ended run does nothing, and a new one finds nothing missing: the 13th was asked for.
  await executeRun(db, rest.run.id, { feeds, now });
  const none = await create(db, { instruments: [key] });
  await executeRun(db, none.run.id, { feeds, now });
  expect((await eventsOf(db, none.run.id)).map(({ type }) => type)).toEqual(["run_started", "run_finished"]);
  expect(script.asked.length).toBe(3);
}

async function goesOnBehindAFailure(db: Db) {
  const backfillFrom = "2024-02-02";
  const instrument = await makeInstrument(db, "FLAPS", { backfillFrom });
  const healthy = await makeInstrument(db, "STEADY", { backfillFrom });
  const instruments = [{ symbol: "FLAPS", exchange: "TEST" }, { symbol: "STEADY", exchange: "TEST" }];
  // The first instrument fails at its third part, after 40 of 59 days.
  const error = new FeedError("refused", "Cannot use the provider");
  const script: Script = { asked: [], price: 5, failure: { at: day("2024-03-13"), error } };
  const feeds = () => dailyFeed(script);
  const { run } = await create(db, { instruments });
  await executeRun(db, run.id, { feeds, now });
  const message = "FLAPS on TEST: Cannot use the provider";
  expect(await findRun(db, run.id)).toMatchObject({ status: "failed", message });
  const failed = (await eventsOf(db, run.id)).filter(({ type }) => type === "failed");
  expect(failed).toMatchObject([{ symbol: "FLAPS", message: "Cannot use the provider" }]);

  const again = await create(db, { instruments });
  await executeRun(db, again.run.id, { feeds, now });
  expect(script.asked).toEqual(["2024-02-02..2024-04-01", "2024-02-02..2024-04-01", "2024-03-03..2024-04-01"]);
  const query = { timeframe: "1d", start: day("2024-02-01"), end: day("2024-05-01"), now } as const;
  const flapped = await readCandles(db, { ...query, instrument });
  const steady = await readCandles(db, { ...query, instrument: healthy });
  expect(flapped.sha256).toBe(steady.sha256);
  expect(flapped.candles.time.length).toBe(57);
}

async function isPatient(db: Db) {
  await makeInstrument(db, "PATIENT", { backfillFrom: "2024-02-02" });
  const waits: number[] = [];
  const delay = (ms: number) => Promise.resolve(void waits.push(ms));
  const limited = new FeedError("rate_limited", "Cannot ask it more often", { retryAfterSeconds: 7 });
  const script: Script = { asked: [], price: 5, failure: { at: day("2024-03-13"), error: limited } };
  const feeds = () => dailyFeed(script);
  const { run } = await create(db, { instruments: [{ symbol: "PATIENT", exchange: "TEST" }] });
  await executeRun(db, run.id, { feeds, now, patience: { delay } });
  expect(waits).toEqual([7000]);
  // It goes on behind what it has, which is not asked for again.
  expect(script.asked).toEqual(["2024-02-02..2024-04-01", "2024-03-13..2024-04-01"]);
  const waited = (await eventsOf(db, run.id)).filter(({ type }) => type === "rate_limited");
  expect(waited).toMatchObject([{
    symbol: "PATIENT",
    message: "Cannot ask it more often; ingestion continues in 7 s",
  }]);
  expect((await findRun(db, run.id))?.status).toBe("completed");

  // A provider that is down is asked six times, each time after twice as long.
  await makeInstrument(db, "DOWN");
  let attempts = 0;
  const down: Feed = {
    ...dailyFeed(script),
    // deno-lint-ignore require-yield
    async *fetch() {
      attempts++;
      await Promise.resolve();
      throw new FeedError("failed", "Cannot reach it");
    },
  };
  waits.length = 0;
  const second = await create(db, { instruments: [{ symbol: "DOWN", exchange: "TEST" }] });
  await executeRun(db, second.run.id, { feeds: () => down, now, patience: { delay } });
  expect(attempts).toBe(6);
  waits.forEach((ms, i) => {
    expect(ms).toBeGreaterThanOrEqual(500 * 2 ** i);
    expect(ms).toBeLessThanOrEqual(1000 * 2 ** i);
  });
  expect((await findRun(db, second.run.id))?.message).toBe("DOWN on TEST: Cannot reach it");
}

async function seesCorrections(db: Db) {
  const instrument = await makeInstrument(db, "CORRECTED");
  const key = { symbol: "CORRECTED", exchange: "TEST" };
  const script: Script = { asked: [], price: 5 };
  const feeds = () => dailyFeed(script);
  const first = await create(db, { instruments: [key] });
  await executeRun(db, first.run.id, { feeds, now });
  const query = { instrument, timeframe: "1d", start: day("2024-03-01"), end: day("2024-05-01"), now } as const;
  const before = await readCandles(db, query);
  script.price = 6;
  const second = await create(db, { instruments: [key], startDate: "2024-03-20", endDate: "2024-03-25" });
  await executeRun(db, second.run.id, { feeds, now });
  const revised = (await eventsOf(db, second.run.id)).filter(({ type }) => type === "revised");
  expect(revised).toMatchObject([{ candles: 5, start: new Date("2024-03-20"), end: new Date("2024-03-25") }]);
  const after = await readCandles(db, query);
  expect(after.sha256).not.toBe(before.sha256);
  expect([...after.candles.close].filter((price) => price === 6).length).toBe(5);
}

async function seesNoGapInWhatIsHeld(db: Db) {
  await makeInstrument(db, "HELD", { backfillFrom: "2024-01-15" });
  const instruments = [{ symbol: "HELD", exchange: "TEST" }];
  const script: Script = { asked: [], price: 5 };
  const feeds = () => dailyFeed(script);
  const middle = await create(db, { instruments, startDate: "2024-02-01", endDate: "2024-03-20" });
  await executeRun(db, middle.run.id, { feeds, now });
  const { run } = await create(db, { instruments });
  await executeRun(db, run.id, { feeds, now });
  expect(script.asked.slice(1)).toEqual(["2024-01-15..2024-02-01", "2024-03-10..2024-04-01"]);
  const gaps = (await eventsOf(db, run.id)).filter(({ type }) => type === "gap_found");
  expect(gaps.map(({ start }) => start)).toEqual([new Date("2024-03-13")]);
}

async function replacesDamage(db: Db) {
  const instrument = await makeInstrument(db, "DAMAGED", { backfillFrom: "2024-02-02" });
  const script: Script = { asked: [], price: 5 };
  const feeds = () => dailyFeed(script);
  const run = async (at: number) => {
    const { run } = await create(db, { instruments: [{ symbol: "DAMAGED", exchange: "TEST" }] });
    await executeRun(db, run.id, { feeds, now: at });
    return await eventsOf(db, run.id);
  };
  await run(now - DAY);
  const { data } = candleChunks;
  await db.update(candleChunks).set({ data: sql`set_byte(${data}, 60, 255 - get_byte(${data}, 60))` })
    .where(and(eq(candleChunks.instrumentId, instrument.id), eq(candleChunks.month, "2024-03-01")));
  const failed = (await run(now)).filter(({ type }) => type === "failed");
  expect(failed).toMatchObject([{ start: new Date("2024-03-01"), end: new Date("2024-04-01"), candles: 29 }]);
  // The new day with ten before it, and then what else was in the month.
  expect(script.asked.slice(1)).toEqual(["2024-03-21..2024-04-01", "2024-03-01..2024-03-21"]);
  const query = { instrument, timeframe: "1d", start: day("2024-02-01"), end: day("2024-05-01"), now } as const;
  expect((await readCandles(db, query)).candles.time.length).toBe(57);
}

async function failsWithoutAFeed(db: Db) {
  await ensureInstrument(db, { symbol: "FILE", exchange: "X", assetClass: "stock", provider: "import" });
  const { run } = await create(db, { instruments: [{ symbol: "FILE", exchange: "X" }] });
  await executeRun(db, run.id);
  expect((await findRun(db, run.id))?.message).toBe(
    "FILE on X: Cannot ingest an instrument without a feed: its candles are imported",
  );
}

async function storesWhatProvidersSay(db: Db) {
  await makeInstrument(db, "ODD");
  const error = new FeedError("refused", "Cannot use it: a\0b");
  const script: Script = { asked: [], price: 5, failure: { at: 0, error } };
  const { run } = await create(db, { instruments: [{ symbol: "ODD", exchange: "TEST" }] });
  await executeRun(db, run.id, { feeds: () => dailyFeed(script), now });
  expect(await findRun(db, run.id)).toMatchObject({
    status: "failed",
    message: "ODD on TEST: Cannot use it: a\ufffdb",
  });
}

async function endsAbandonedRuns(db: Db) {
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
  const row = { status: "running", startedAt: hoursAgo(2) } as const;
  const upload = await insertRun(db, { ...row, trigger: "import" });
  const busy = await insertRun(db, { ...row, trigger: "request" });
  const young = await insertRun(db, { ...row, trigger: "import", startedAt: new Date() });
  const queued = await insertRun(db, { ...row, trigger: "manual" });
  await insertEvents(db, [{ runId: busy.id, type: "range_ingested", candles: 1 }]);
  await executeRun(db, (await create(db, { instruments: [{ symbol: "NONE", exchange: "X" }] })).run.id);
  const statuses = await Promise.all(
    [upload, busy, young, queued].map(async ({ id }) => (await findRun(db, id))?.status),
  );
  // A run with a recent event or a recent start, or in the queue, is alive.
  expect(statuses).toEqual(["failed", "running", "running", "running"]);
  expect((await eventsOf(db, upload.id)).map(({ type, message }) => [type, message])).toEqual([
    ["run_finished", "its process ended before the run did"],
  ]);
}
