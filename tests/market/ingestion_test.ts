import { expect } from "@std/expect";
import type { Db } from "../../db/client.ts";
import { findRun, type IngestionEvent, listEvents } from "../../db/ingestion.ts";
import { ensureInstrument, findInstrument, type Instrument } from "../../db/instruments.ts";
import { readCandles } from "../../market/archive.ts";
import { allocateCandles } from "../../market/candle_columns.ts";
import type { Feed, FeedPart } from "../../market/feeds.ts";
import { createRun, executeRun, missingRanges, type RunRequest } from "../../market/ingestion.ts";
import { archiveSample } from "../../market/sample.ts";
import { databaseTest } from "../support/database.ts";

const DAY = 86_400_000;
const day = (date: string) => Date.parse(`${date}T00:00:00Z`);
const now = day("2024-04-01") + 12 * 3_600_000;

/** Daily candles of price 5 for every day asked for but the 13th of a month, in parts of 20 days. */
function dailyFeed(asked: string[], failAt = Infinity): Feed {
  return {
    async *fetch({ start, end }): AsyncGenerator<FeedPart> {
      asked.push(`${new Date(start).toISOString().slice(0, 10)}..${new Date(end).toISOString().slice(0, 10)}`);
      for (let from = start; from < end; from += 20 * DAY) {
        if (from >= failAt) throw new Error("Cannot reach the provider");
        const until = Math.min(end, from + 20 * DAY);
        const times = [];
        for (let time = from; time < until; time += DAY) if (new Date(time).getUTCDate() !== 13) times.push(time);
        const { time, volume, ...prices } = allocateCandles(times.length);
        time.set(times);
        for (const price of Object.values(prices)) price.fill(5);
        yield { start: from, end: until, candles: { time, volume, ...prices } };
        await Promise.resolve();
      }
    },
  };
}

async function makeInstrument(db: Db, symbol: string): Promise<Instrument> {
  const row = { symbol, exchange: "TEST", assetClass: "crypto", provider: "provider_a" } as const;
  return await ensureInstrument(db, { ...row, timeframe: "1d", backfillFrom: "2024-03-05" });
}

const create = (db: Db, request: Omit<RunRequest, "trigger">) =>
  db.transaction((tx) => createRun(tx, { trigger: "manual", ...request }));

async function eventsOf(db: Db, runId: string): Promise<IngestionEvent[]> {
  return (await listEvents(db, { runId, limit: 200 })).reverse();
}

databaseTest(
  "a run fetches what is missing, tells of it, goes on behind a failure and is never doubled",
  async ({ db }) => {
    await joinsRunsInFlight(db);
    await fetchesWhatIsMissing(db);
    await goesOnBehindAFailure(db);
    await failsWithoutAFeed(db);
  },
);

databaseTest("the sample is archived once, through the same path as all else", async ({ db }) => {
  expect(await archiveSample(db)).toBe(true);
  expect(await archiveSample(db)).toBe(false);
  const instrument = await findInstrument(db, { symbol: "DEMO", exchange: "SAMPLE" });
  const range = { start: day("2024-01-01"), end: day("2025-01-01") };
  const read = await readCandles(db, { instrument: instrument!, timeframe: "1m", ...range });
  expect(read.candles.time.length).toBe(366 * 1440);
  expect(read.gaps).toBe(0);
  const events = (await listEvents(db, { symbol: "DEMO", limit: 200 })).reverse();
  expect(events.map(({ type, provider }) => [type, provider])).toEqual(Array(12).fill(["range_ingested", "sample"]));
  expect(events[1]).toMatchObject({ start: new Date("2024-02-01"), end: new Date("2024-03-01"), candles: 29 * 1440 });
  const run = await findRun(db, events[0]!.runId);
  expect(run).toMatchObject({ status: "completed", trigger: "start", candles: 366 * 1440 });
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
  const asked: string[] = [];
  const feeds = () => dailyFeed(asked);
  const march = await create(db, { instruments: [key], startDate: "2024-03-10", endDate: "2024-03-20" });
  await executeRun(db, march.run.id, { feeds, now });
  // Ten days without the 13th.
  expect(await findRun(db, march.run.id)).toMatchObject({ status: "completed", candles: 9, message: null });
  const events = await eventsOf(db, march.run.id);
  expect(events.map(({ type, candles }) => [type, candles])).toEqual([
    ["run_started", null],
    ["range_ingested", 9],
    ["run_finished", 9],
  ]);
  expect(events[1]).toMatchObject({ symbol: "FETCH", timeframe: "1d", provider: "provider_a" });

  // From the backfill's start to the last closed candle: only what was not asked for, the 13th neither.
  const rest = await create(db, { instruments: [key] });
  await executeRun(db, rest.run.id, { feeds, now });
  expect(asked).toEqual(["2024-03-10..2024-03-20", "2024-03-05..2024-03-10", "2024-03-20..2024-04-01"]);
  const wanted = { start: day("2024-03-01"), end: day("2024-05-01") };
  expect(await missingRanges(db, { instrumentId: instrument.id, timeframe: "1d" }, wanted)).toEqual([
    { start: day("2024-03-01"), end: day("2024-03-05") },
    { start: day("2024-04-01"), end: day("2024-05-01") },
  ]);
  const { candles, gaps } = await readCandles(db, { instrument, timeframe: "1d", ...wanted, now });
  expect([candles.time.length, gaps]).toEqual([26, 1]);

  // Delivered once more, an ended run does nothing.
  await executeRun(db, rest.run.id, { feeds, now });
  expect((await eventsOf(db, rest.run.id)).length).toBe(4);
  expect(asked.length).toBe(3);
}

async function goesOnBehindAFailure(db: Db) {
  const instrument = await makeInstrument(db, "FLAPS");
  const healthy = await makeInstrument(db, "STEADY");
  const instruments = [{ symbol: "FLAPS", exchange: "TEST" }, { symbol: "STEADY", exchange: "TEST" }];
  const asked: string[] = [];
  let calls = 0;
  // The first instrument fails at its third part, after 40 of 59 days.
  const feeds = () => dailyFeed(asked, calls++ === 0 ? day("2024-03-13") : Infinity);
  const request = { instruments, startDate: "2024-02-02", endDate: "2024-04-01" };
  const { run } = await create(db, request);
  await executeRun(db, run.id, { feeds, now });
  const message = "FLAPS on TEST: Cannot reach the provider";
  expect(await findRun(db, run.id)).toMatchObject({ status: "failed", message });
  const failed = (await eventsOf(db, run.id)).filter(({ type }) => type === "failed");
  expect(failed).toMatchObject([{ symbol: "FLAPS", message: "Cannot reach the provider" }]);

  const again = await create(db, request);
  await executeRun(db, again.run.id, { feeds, now });
  expect(asked).toEqual(["2024-02-02..2024-04-01", "2024-02-02..2024-04-01", "2024-03-13..2024-04-01"]);
  const query = { timeframe: "1d", start: day("2024-02-01"), end: day("2024-05-01"), now } as const;
  const flapped = await readCandles(db, { ...query, instrument });
  const steady = await readCandles(db, { ...query, instrument: healthy });
  expect(flapped.sha256).toBe(steady.sha256);
  expect(flapped.candles.time.length).toBe(57);
}

async function failsWithoutAFeed(db: Db) {
  await ensureInstrument(db, { symbol: "FILE", exchange: "X", assetClass: "stock", provider: "import" });
  const { run } = await create(db, { instruments: [{ symbol: "FILE", exchange: "X" }] });
  await executeRun(db, run.id);
  expect((await findRun(db, run.id))?.message).toBe(
    "FILE on X: Cannot ingest an instrument that has no feed: its candles are imported",
  );
}
