/** What operators did to a running archive, and what it has to make of it. */
import { expect } from "@std/expect";
import type { Db } from "../../db/client.ts";
import { clearCoverage, listCoverage } from "../../db/coverage.ts";
import { findRun, listEvents } from "../../db/ingestion.ts";
import {
  deleteInstrument,
  ensureInstrument,
  findInstrument,
  type Instrument,
  updateInstrument,
} from "../../db/instruments.ts";
import { importCsv } from "../../market/csv/import.ts";
import type { Feed } from "../../market/feeds/feed.ts";
import { createRun, executeRun } from "../../market/ingestion_run.ts";
import { ReadThrough } from "../../market/read_through.ts";
import { databaseTest } from "../support/database.ts";
import { dailyFeed, type Script } from "./daily_feed.ts";

const day = (date: string) => Date.parse(`${date}T00:00:00Z`);
const now = day("2024-04-01") + 12 * 3_600_000;

async function makeInstrument(db: Db, symbol: string, more: Partial<Instrument> = {}): Promise<Instrument> {
  const row = { symbol, exchange: "TEST", assetClass: "crypto", provider: "provider_a" } as const;
  return await ensureInstrument(db, { ...row, timeframe: "1d", backfillFrom: "2024-02-02", ...more });
}

/** Runs for one instrument, or for all; how the run ended and what it told. */
async function ingest(db: Db, feed: Feed, symbol?: string) {
  const instruments = symbol === undefined ? undefined : [{ symbol, exchange: "TEST" }];
  const { run } = await db.transaction((tx) => createRun(tx, { trigger: "manual", instruments }));
  const delay = () => Promise.resolve();
  await executeRun(db, run.id, {
    feeds: ({ provider }) => provider === "import" ? undefined : feed,
    now,
    patience: { delay },
  });
  const events = (await listEvents(db, { runId: run.id, limit: 200 })).reverse();
  return { run: await findRun(db, run.id), events: events.map(({ type, message }) => [type, message]) };
}

/** The scripted feed, after whose first part something else happens. */
function interrupted(script: Script, happens: () => Promise<unknown>): Feed {
  const feed = dailyFeed(script);
  return {
    ...feed,
    async *fetch(request) {
      let parts = 0;
      for await (const part of feed.fetch(request)) {
        if (parts++ === 2) await happens();
        yield part;
      }
    },
  };
}

databaseTest("who loses an instrument in the middle is told so in words", async ({ db }) => {
  const script: Script = { asked: [], price: 5 };
  const gone = await makeInstrument(db, "GONE");
  const removed = await ingest(db, interrupted(script, () => deleteInstrument(db, gone.id)), "GONE");
  const message = "Cannot keep candles of GONE on TEST: it was removed meanwhile";
  expect(removed.run).toMatchObject({ status: "failed", message: `GONE on TEST: ${message}` });
  expect(removed.events.slice(-2)).toEqual([["failed", message], ["run_finished", `GONE on TEST: ${message}`]]);

  const moved = await makeInstrument(db, "MOVED");
  const gives = () => updateInstrument(db, moved.id, { provider: "import" });
  expect((await ingest(db, interrupted(script, gives), "MOVED")).run?.message).toBe(
    "MOVED on TEST: Cannot keep candles of MOVED on TEST: it was given to import meanwhile",
  );

  const asked = await makeInstrument(db, "ASKED");
  const readThrough = new ReadThrough(db, () => interrupted(script, () => deleteInstrument(db, asked.id)), {
    now: () => now,
  });
  const wanted = { timeframe: "1d", start: day("2024-01-01"), end: day("2024-03-20") } as const;
  await expect(readThrough.complete(asked, wanted)).rejects.toMatchObject({ fault: "unknown_symbol" });

  // The first batch ends with a month of hours; the second meets no instrument.
  async function* file() {
    const lines = Array.from(
      { length: 40_000 },
      (_, i) => `${new Date(day("2016-01-01") + i * 3_600_000).toISOString()},1,1,1,1,1\n`,
    );
    yield new TextEncoder().encode(`time,open,high,low,close,volume\n${lines.slice(0, 36_000).join("")}`);
    const imported = await findInstrument(db, { symbol: "FILE", exchange: "TEST" });
    await deleteInstrument(db, imported!.id);
    yield new TextEncoder().encode(lines.slice(36_000).join(""));
  }
  const upload = { symbol: "FILE", exchange: "TEST", assetClass: "crypto", timeframe: "1h", bytesMax: 1e8 } as const;
  await expect(importCsv(db, { ...upload, body: file() })).rejects.toThrow("Cannot keep candles of FILE on TEST");
});

databaseTest("of an instrument without a candle nothing is known: its name may be wrong", async ({ db }) => {
  const script: Script = { asked: [], price: 5, reachesTo: day("2025-01-01") };
  const { id } = await makeInstrument(db, "APPL");
  const series = { instrumentId: id, timeframe: "1d" };
  const missing = "APPL on TEST: Cannot find candles of APPL on TEST in this range";
  expect((await ingest(db, dailyFeed(script), "APPL")).run).toMatchObject({ status: "failed", message: missing });
  expect(await listCoverage(db, series)).toEqual([]);
  // It has candles by now. What came before the first one is asked for once more, and then known to be empty.
  script.reachesTo = day("2024-03-20");
  expect((await ingest(db, dailyFeed(script), "APPL")).run).toMatchObject({ status: "completed", candles: 12 });
  for (let run = 0; run < 2; run++) expect((await ingest(db, dailyFeed(script), "APPL")).run?.candles).toBe(0);
  expect(script.asked.slice(2)).toEqual(["2024-02-02..2024-03-13"]);
  expect(await listCoverage(db, series)).toEqual([{ start: new Date("2024-02-02"), end: new Date("2024-04-01") }]);
});

databaseTest("what was imported over a provider's candles is told as imported", async ({ db }) => {
  await makeInstrument(db, "BOTH");
  await ingest(db, dailyFeed({ asked: [], price: 5 }), "BOTH");
  const body = new Blob(["date,open,high,low,close,volume\n2024-02-03,6,6,6,6,1\n"]).stream();
  const { run } = await importCsv(db, { symbol: "BOTH", exchange: "TEST", timeframe: "1d", body, bytesMax: 1e6 });
  const events = await listEvents(db, { runId: run.id, symbol: "BOTH", limit: 10 });
  expect(events.flatMap(({ type, provider }) => provider === null ? [] : [[type, provider]])).toEqual([
    ["revised", "import"],
    ["range_ingested", "import"],
  ]);
});

databaseTest("a run of all leaves out what no feed gives, and one that is named is told why", async ({ db }) => {
  const feed = dailyFeed({ asked: [], price: 5 });
  await makeInstrument(db, "KEPT");
  // It was fetched once, and is only imported now.
  await makeInstrument(db, "DISABLED", { provider: "import" });
  await makeInstrument(db, "REQUESTED", { timeframe: null, backfillFrom: null });
  expect((await ingest(db, feed)).run).toMatchObject({ status: "completed", candles: 57 });
  const reasons = {
    DISABLED: "Cannot ingest an instrument that has no feed: its candles are imported",
    REQUESTED: "Cannot ingest an instrument without a timeframe, which is to be set: it came by a request",
  };
  for (const [symbol, reason] of Object.entries(reasons)) {
    expect((await ingest(db, feed, symbol)).run?.message).toBe(`${symbol} on TEST: ${reason}`);
  }
});

databaseTest("a gap is told when it is over, though the runs in between found nothing", async ({ db }) => {
  const script: Script = { asked: [], price: 5, rest: { from: day("2024-02-14"), until: day("2024-03-20") } };
  const { id } = await makeInstrument(db, "PAUSED");
  const run = async (date: string) => {
    const instruments = [{ symbol: "PAUSED", exchange: "TEST" }];
    const { run } = await db.transaction((tx) => createRun(tx, { trigger: "manual", instruments }));
    await executeRun(db, run.id, { feeds: () => dailyFeed(script), now: day(date) });
    const gaps = await listEvents(db, { runId: run.id, type: "gap_found", limit: 10 });
    return gaps.map(({ start, end }) => [start, end]);
  };
  expect(await run("2024-02-12")).toEqual([]);
  // Neither run has a candle that would tell what is missing, nor is one of the ten days before the last near enough.
  expect(await run("2024-03-01")).toEqual([]);
  expect(await run("2024-03-15")).toEqual([]);
  expect(await run("2024-03-21")).toEqual([[new Date("2024-02-13"), new Date("2024-03-20")]]);
  expect(await run("2024-03-25")).toEqual([]);
  // What nobody has asked for is no gap.
  await db.transaction((tx) => clearCoverage(tx, id));
  script.rest = { from: day("2024-03-25"), until: day("2024-05-01") };
  const late = await updateInstrument(db, id, { backfillFrom: "2024-05-01" });
  expect(late?.backfillFrom).toBe("2024-05-01");
  expect(await run("2024-05-10")).toEqual([]);
});
