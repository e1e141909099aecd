import { expect } from "@std/expect";
import { UTC_DAYS } from "../../../market/calendar/exchange_sessions.ts";
import type { Db } from "../../../db/client.ts";
import { listCoverage } from "../../../db/coverage.ts";
import { listEvents } from "../../../db/ingestion.ts";
import { type AssetClass, ensureInstrument, type Instrument } from "../../../db/instruments.ts";
import { readCandles } from "../../support/candles.ts";
import { FeedError } from "../../../market/feeds/feed.ts";
import { createRun, executeRun, type RunRequest } from "../../../market/ingestion/ingestion_run.ts";
import { ReadThrough } from "../../../market/on_demand/read_through.ts";
import { databaseTest } from "../../support/database.ts";
import { dailyFeed, type Script } from "./daily_feed.ts";

const DAY = 86_400_000;
const day = (date: string) => Date.parse(`${date}T00:00:00Z`);
const noon = DAY / 2;

/** A daily series that was ingested from 5 March until the first of April 2024, at 100. */
async function ingest(db: Db, symbol: string, assetClass: AssetClass = "stock") {
  const row = { symbol, exchange: "TEST", assetClass, provider: "provider_a", session: UTC_DAYS } as const;
  const instrument = await ensureInstrument(db, { ...row, timeframe: "1d", backfillFrom: "2024-03-05" });
  const script: Script = { asked: [], price: 100 };
  const feeds = () => dailyFeed(script);
  /** Runs at noon of a day. Returns the requested ranges and the number of revised candles. */
  const run = async (date: string, request: Partial<RunRequest> = {}) => {
    script.asked.length = 0;
    const instruments = [{ symbol, exchange: "TEST" }];
    const { run } = await db.transaction((tx) => createRun(tx, { trigger: "manual", instruments, ...request }));
    await executeRun(db, run.id, { feeds, now: day(date) + noon });
    const revised = await listEvents(db, { runId: run.id, type: "revised", limit: 50 });
    return { asked: [...script.asked], revised: revised.reduce((sum, { candles }) => sum + (candles ?? 0), 0) };
  };
  expect((await run("2024-04-01")).asked).toEqual(["2024-03-05..2024-04-01"]);
  return { instrument, script, feeds, run };
}

async function closes(db: Db, instrument: Instrument) {
  const query = {
    instrument,
    timeframe: "1d",
    start: day("2024-03-01"),
    end: day("2024-06-01"),
    now: day("2024-07-01"),
  };
  const { candles } = await readCandles(db, { ...query, timeframe: "1d" });
  return { count: candles.time.length, prices: [...new Set(candles.close)] };
}

databaseTest(
  "a stock's history is fetched again whole after a split",
  async ({ db }) => {
    await atOnce(db);
    await daysLater(db);
    await byARunWithDates(db);
    await whereTheOldestIsGone(db);
    await notForACorrection(db);
    await notForOthers(db);
    await whenAskedFor(db);
    await notMixedWithWhatWasBefore(db);
    await inEveryTimeframe(db);
    await byTheOldestThatIsKnown(db);
    await whenTheLookbackTells(db);
  },
);

async function atOnce(db: Db) {
  const { instrument, script, run } = await ingest(db, "SPLIT");
  // Again on the same day nothing is missing, and the oldest candle is the same.
  expect((await run("2024-04-01")).asked).toEqual(["2024-03-05..2024-03-06"]);
  script.price = 50;
  // The oldest candle differs, so the whole history is fetched. March has 26 of its days from the 5th on, each revised once.
  const { asked, revised } = await run("2024-04-02");
  expect(asked).toEqual(["2024-03-05..2024-03-06", "2024-03-05..2024-04-02"]);
  expect(revised).toBe(26);
  expect(await closes(db, instrument)).toEqual({ count: 27, prices: [50] });
  // The next day only that day is new, and the equal oldest candle makes no event.
  expect((await run("2024-04-03")).asked).toEqual(["2024-03-05..2024-03-06", "2024-03-23..2024-04-03"]);
  const [event] = await listEvents(db, { symbol: "SPLIT", type: "range_ingested", limit: 1 });
  expect(event).toMatchObject({ start: new Date("2024-03-23"), candles: 11 });
}

async function daysLater(db: Db) {
  const { instrument, script, run } = await ingest(db, "LATE");
  // Since the first of April two for one, but what was before is still what it was.
  script.price = 50;
  script.past = { before: day("2024-04-01"), price: 100 };
  expect((await run("2024-04-12")).revised).toBe(0);
  expect((await closes(db, instrument)).prices).toEqual([100, 50]);
  // Then it is adjusted, too far back for the ten candles that are asked for again.
  script.past = undefined;
  const { asked, revised } = await run("2024-04-13");
  expect(asked).toEqual(["2024-03-05..2024-03-06", "2024-03-05..2024-04-13"]);
  expect(revised).toBe(26);
  expect((await closes(db, instrument)).prices).toEqual([50]);
}

async function byARunWithDates(db: Db) {
  const { instrument, script, run } = await ingest(db, "DATES");
  script.price = 50;
  const { asked } = await run("2024-04-02", { startDate: "2024-03-20", endDate: "2024-03-25" });
  expect(asked).toEqual(["2024-03-05..2024-03-06", "2024-03-05..2024-04-01"]);
  expect((await closes(db, instrument)).prices).toEqual([50]);
}

async function whereTheOldestIsGone(db: Db) {
  const { instrument, script, run } = await ingest(db, "ROLLING");
  // The plan reaches back two weeks, so only the ten candles of overlap can show the split.
  script.reachesTo = day("2024-03-18");
  script.price = 50;
  const { asked } = await run("2024-04-02");
  expect(asked).toEqual(["2024-03-05..2024-03-06", "2024-03-22..2024-04-02", "2024-03-05..2024-04-02"]);
  // Older candles cannot be adjusted, and an event says so.
  expect((await closes(db, instrument)).prices).toEqual([100, 50]);
  const [failed] = await listEvents(db, { symbol: "ROLLING", type: "failed", limit: 1 });
  expect(failed).toMatchObject({ start: new Date("2024-03-05"), end: new Date("2024-03-18") });
  // A provider that refuses it instead breaks that run, and not the next one.
  script.refusal = { before: day("2024-03-18"), error: new FeedError("refused", "Cannot ask for so old candles") };
  script.price = 25;
  expect((await run("2024-04-03")).asked.length).toBe(3);
  const [refused] = await listEvents(db, { symbol: "ROLLING", type: "failed", limit: 1 });
  expect(refused?.message).toBe("Cannot ask for so old candles");
  expect((await run("2024-04-04")).asked).toEqual(["2024-03-05..2024-03-06", "2024-03-24..2024-04-04"]);
}

async function notForACorrection(db: Db) {
  const { instrument, script, run } = await ingest(db, "CORRECTED");
  script.price = 101;
  script.past = { before: day("2024-03-31"), price: 100 };
  // The last day is another than it was said at first, and a new one comes.
  const { asked, revised } = await run("2024-04-02");
  expect(asked).toEqual(["2024-03-05..2024-03-06", "2024-03-22..2024-04-02"]);
  expect(revised).toBe(1);
  expect(await closes(db, instrument)).toEqual({ count: 27, prices: [100, 101] });
}

async function notForOthers(db: Db) {
  const { script, run } = await ingest(db, "COIN", "crypto");
  script.price = 50;
  const { asked, revised } = await run("2024-04-02");
  expect(asked).toEqual(["2024-03-22..2024-04-02"]);
  expect(revised).toBe(10);
}

async function whenAskedFor(db: Db) {
  const { instrument, script, feeds } = await ingest(db, "ASKED");
  let clock = day("2024-04-05") + noon;
  const readThrough = new ReadThrough(db, feeds, { now: () => clock });
  script.asked.length = 0;
  script.price = 50;
  // Stored candles need no request. A later day does, and it would not fit the stored ones.
  await readThrough.complete(instrument, { timeframe: "1d", start: day("2024-03-10"), end: day("2024-03-20") });
  expect(script.asked).toEqual([]);
  await readThrough.complete(instrument, { timeframe: "1d", start: day("2024-03-20"), end: day("2024-04-03") });
  expect(script.asked).toEqual(["2024-03-05..2024-03-06", "2024-03-20..2024-04-03"]);
  expect(await listCoverage(db, { instrumentId: instrument.id, timeframe: "1d" })).toEqual([
    { start: new Date("2024-03-05"), end: new Date("2024-03-06") },
    { start: new Date("2024-03-20"), end: new Date("2024-04-03") },
  ]);
  // The rest is not known any more, and fetched when it is asked for.
  await readThrough.complete(instrument, { timeframe: "1d", start: day("2024-03-05"), end: day("2024-04-03") });
  expect((await closes(db, instrument)).prices).toEqual([50]);
  expect(script.asked.length).toBe(3);
  // Within the hour the oldest candle is not asked for again, and afterwards it is.
  const later = { timeframe: "1d", start: day("2024-04-03"), end: day("2024-04-04") } as const;
  await readThrough.complete(instrument, later);
  clock += 3_600_000;
  await readThrough.complete(instrument, { ...later, start: later.end, end: day("2024-04-05") });
  expect(script.asked.slice(3)).toEqual([
    "2024-04-03..2024-04-04",
    "2024-03-05..2024-03-06",
    "2024-04-04..2024-04-05",
  ]);
  await readThrough.close();
}

async function notMixedWithWhatWasBefore(db: Db) {
  const { instrument, script, feeds } = await ingest(db, "LOOKBACK");
  const readThrough = new ReadThrough(db, feeds, { now: () => day("2024-04-05") + noon });
  const query = { instrument, timeframe: "1d", start: day("2024-03-28"), end: day("2024-04-03"), lookback: 5 } as const;
  const read = async () => {
    const { candles, lookback } = await readCandles(db, { ...query, now: day("2024-04-05") });
    return [lookback, ...candles.close];
  };
  script.price = 50;
  await readThrough.complete(instrument, query);
  // Six days that are new; what is held before them does not go with them.
  expect(await read()).toEqual([0, 50, 50, 50, 50, 50, 50]);
  script.asked.length = 0;
  await readThrough.refresh(query);
  // The months that hold the lookback, as far as they are held: what was asked for already is not asked for again.
  expect(script.asked).toEqual(["2024-03-06..2024-03-28"]);
  expect(await read()).toEqual([5, ...Array(11).fill(50)]);
  await readThrough.refresh(query);
  expect(script.asked.length).toBe(1);
  await readThrough.close();
}

async function inEveryTimeframe(db: Db) {
  const { instrument, script, feeds } = await ingest(db, "TWICE");
  const hours = { timeframe: "30m", start: day("2024-03-18"), end: day("2024-03-25") } as const;
  const clock = day("2024-04-05") + noon;
  script.asked.length = 0;
  await new ReadThrough(db, feeds, { now: () => clock }).complete(instrument, hours);
  // No hour is stored, so the oldest day is compared.
  expect(script.asked).toEqual(["2024-03-05..2024-03-06", "2024-03-18..2024-03-25"]);
  script.price = 50;
  const readThrough = new ReadThrough(db, feeds, { now: () => clock });
  // A request for hours shows the split of the days.
  await readThrough.complete(instrument, { ...hours, start: day("2024-03-11"), end: day("2024-03-25") });
  const week = { instrument, timeframe: "1w", start: day("2024-03-11"), end: day("2024-03-25"), now: clock } as const;
  // A week is made of the coarsest candles that are held; the days are, but are those of before.
  const { source, candles } = await readCandles(db, week);
  expect([source, ...candles.close]).toEqual(["30m", 50, 50]);
  await readThrough.refresh({ ...week, timeframe: "1d" });
  expect((await readCandles(db, { ...week, timeframe: "1d" })).candles.close).toEqual(new Float64Array(13).fill(50));
  await readThrough.close();
}

async function byTheOldestThatIsKnown(db: Db) {
  const { instrument, script, feeds } = await ingest(db, "AGAIN");
  const now = () => day("2024-04-05") + noon;
  const first = new ReadThrough(db, feeds, { now });
  await first.complete(instrument, { timeframe: "30m", start: day("2024-03-11"), end: day("2024-03-20") });
  script.price = 50;
  // The days show a split; the hours from the 13th on are covered again. On the 13th there was no trade.
  const second = new ReadThrough(db, feeds, { now });
  await second.complete(instrument, { timeframe: "1d", start: day("2024-03-28"), end: day("2024-04-03") });
  const hours = { timeframe: "30m", start: day("2024-03-13"), end: day("2024-03-20") } as const;
  await second.complete(instrument, hours);
  script.price = 25;
  script.asked.length = 0;
  const third = new ReadThrough(db, feeds, { now });
  await third.complete(instrument, { ...hours, start: hours.end, end: day("2024-03-22") });
  expect(script.asked).toEqual(["2024-03-14..2024-03-14", "2024-03-20..2024-03-22"]);
  await third.complete(instrument, { ...hours, end: day("2024-03-22") });
  const { candles } = await readCandles(db, { instrument, ...hours, end: day("2024-03-22"), now: now() });
  expect(candles.close).toEqual(new Float64Array(8).fill(25));
}

async function whenTheLookbackTells(db: Db) {
  const row = {
    symbol: "HOLE",
    exchange: "TEST",
    assetClass: "stock",
    provider: "provider_a",
    session: UTC_DAYS,
  } as const;
  const instrument = await ensureInstrument(db, row);
  const script: Script = { asked: [], price: 100 };
  const now = () => day("2024-04-05") + noon;
  const through = () => new ReadThrough(db, () => dailyFeed(script), { now });
  const query = { instrument, timeframe: "1d", start: day("2024-03-20"), end: day("2024-03-25"), lookback: 3 } as const;
  await through().complete(instrument, { timeframe: "1d", start: day("2024-03-05"), end: day("2024-03-10") });
  await through().complete(instrument, query);
  script.price = 50;
  // All that is asked for is held. The candles before it are not, and fetching them shows the split.
  const readThrough = through();
  const read = async () => {
    const { candles, lookback } = await readCandles(db, { ...query, now: now() });
    return [lookback, ...candles.close];
  };
  script.failure = { at: day("2024-03-20"), error: new FeedError("refused", "Cannot go on") };
  await readThrough.complete(instrument, query);
  await expect(readThrough.refresh(query)).rejects.toThrow("Cannot go on");
  // The refresh failed, but candles of another adjustment are at least not read as lookback.
  expect(await read()).toEqual([0, ...Array(5).fill(100)]);
  await readThrough.refresh(query);
  expect(await read()).toEqual([3, ...Array(8).fill(50)]);
}
