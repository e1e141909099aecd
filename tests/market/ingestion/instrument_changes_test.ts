/** Instruments that operators remove, hand over or leave without a feed while runs go on. */
import { expect } from "@std/expect";
import { listEvents } from "../../../db/ingestion.ts";
import { deleteInstrument, findInstrument, updateInstrument } from "../../../db/instruments.ts";
import { importCsv } from "../../../market/csv/import.ts";
import { ReadThrough } from "../../../market/on_demand/read_through.ts";
import { databaseTest } from "../../support/database.ts";
import { dailyFeed, type Script } from "./daily_feed.ts";
import { day, ingest, interrupted, makeInstrument, now } from "./ingest.ts";

databaseTest("a run, a read and an import each name the instrument that they lost midway", async ({ db }) => {
  const script: Script = { asked: [], price: 5 };
  const gone = await makeInstrument(db, "GONE");
  const removed = await ingest(db, interrupted(script, () => deleteInstrument(db, gone.id)), "GONE");
  const message = "Cannot store candles of GONE on TEST: the instrument was removed during the fetch";
  expect(removed.run).toMatchObject({ status: "failed", message: `GONE on TEST: ${message}` });
  expect(removed.events.slice(-2)).toEqual([["failed", message], ["run_finished", `GONE on TEST: ${message}`]]);

  const moved = await makeInstrument(db, "MOVED");
  const gives = () => updateInstrument(db, moved.id, { provider: "import" });
  expect((await ingest(db, interrupted(script, gives), "MOVED")).run?.message).toBe(
    "MOVED on TEST: Cannot store candles of MOVED on TEST: the instrument was moved to import during the fetch",
  );

  const asked = await makeInstrument(db, "ASKED");
  const readThrough = new ReadThrough(db, () => interrupted(script, () => deleteInstrument(db, asked.id)), {
    now: () => now,
  });
  const wanted = { timeframe: "1d", start: day("2024-01-01"), end: day("2024-03-20") } as const;
  await expect(readThrough.complete(asked, wanted)).rejects.toMatchObject({ fault: "unknown_symbol" });

  // The first batch ends with the second month of minutes; one of the two meets no instrument.
  async function* file() {
    const lines = Array.from(
      { length: 100_000 },
      (_, i) => `${new Date(day("2016-01-01") + i * 60_000).toISOString()},1,1,1,1,1\n`,
    );
    yield new TextEncoder().encode(`time,open,high,low,close,volume\n${lines.slice(0, 90_000).join("")}`);
    const imported = await findInstrument(db, { symbol: "FILE", exchange: "TEST" });
    await deleteInstrument(db, imported!.id);
    yield new TextEncoder().encode(lines.slice(90_000).join(""));
  }
  const upload = { symbol: "FILE", exchange: "TEST", assetClass: "crypto", timeframe: "1m", bytesMax: 1e8 } as const;
  await expect(importCsv(db, { ...upload, body: file() })).rejects.toThrow("Cannot store candles of FILE on TEST");
});

databaseTest("an import over a provider's candles is recorded as an import", async ({ db }) => {
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

databaseTest("a run of all instruments skips those without a feed; a run of one says why it cannot", async ({ db }) => {
  const feed = dailyFeed({ asked: [], price: 5 });
  await makeInstrument(db, "KEPT");
  // It was fetched once, and is only imported now.
  await makeInstrument(db, "DISABLED", { provider: "import" });
  await makeInstrument(db, "REQUESTED", { timeframe: null, backfillFrom: null });
  expect((await ingest(db, feed)).run).toMatchObject({ status: "completed", candles: 57 });
  const reasons = {
    DISABLED: "Cannot ingest an instrument without a feed: its candles are imported",
    REQUESTED:
      "Cannot ingest an instrument without a timeframe: set one, since a request for candles created it without",
  };
  for (const [symbol, reason] of Object.entries(reasons)) {
    expect((await ingest(db, feed, symbol)).run?.message).toBe(`${symbol} on TEST: ${reason}`);
  }
});
