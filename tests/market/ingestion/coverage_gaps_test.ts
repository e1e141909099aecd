/** Covered ranges, and reported gaps. */
import { expect } from "@std/expect";
import { clearCoverage, listCoverage } from "../../../db/coverage.ts";
import { listEvents } from "../../../db/ingestion.ts";
import { updateInstrument } from "../../../db/instruments.ts";
import { createRun, executeRun } from "../../../market/ingestion/ingestion_run.ts";
import { databaseTest } from "../../support/database.ts";
import { dailyFeed, type Script } from "./daily_feed.ts";
import { day, ingest, makeInstrument } from "./ingest.ts";

databaseTest("nothing is covered for an instrument without candles: its name may be wrong", async ({ db }) => {
  const script: Script = { asked: [], price: 5, reachesTo: day("2025-01-01") };
  const { id } = await makeInstrument(db, "APPL");
  const series = { instrumentId: id, timeframe: "1d" };
  const missing = "APPL on TEST: Cannot find candles of APPL on TEST in this range";
  expect((await ingest(db, dailyFeed(script), "APPL")).run).toMatchObject({ status: "failed", message: missing });
  expect(await listCoverage(db, series)).toEqual([]);
  // Now it has candles. The range before the first one is requested once more, and then known to be empty.
  script.reachesTo = day("2024-03-20");
  expect((await ingest(db, dailyFeed(script), "APPL")).run).toMatchObject({ status: "completed", candles: 12 });
  for (let run = 0; run < 2; run++) expect((await ingest(db, dailyFeed(script), "APPL")).run?.candles).toBe(0);
  expect(script.asked.slice(2)).toEqual(["2024-02-02..2024-03-13"]);
  expect(await listCoverage(db, series)).toEqual([{ start: new Date("2024-02-02"), end: new Date("2024-04-01") }]);
});

databaseTest("a gap is reported when it ends, even after runs that found nothing", async ({ db }) => {
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
  // Neither run has a candle after the gap, and no candle of the ten days before the last is near enough.
  expect(await run("2024-03-01")).toEqual([]);
  expect(await run("2024-03-15")).toEqual([]);
  expect(await run("2024-03-21")).toEqual([[new Date("2024-02-13"), new Date("2024-03-20")]]);
  expect(await run("2024-03-25")).toEqual([]);
  // A range that nobody requested is no gap.
  await db.transaction((tx) => clearCoverage(tx, id));
  script.rest = { from: day("2024-03-25"), until: day("2024-05-01") };
  const late = await updateInstrument(db, id, { backfillFrom: "2024-05-01" });
  expect(late?.backfillFrom).toBe("2024-05-01");
  expect(await run("2024-05-10")).toEqual([]);
});
