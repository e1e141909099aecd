import { expect } from "@std/expect";
import { eq, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { listEvents, listRuns } from "../../../db/ingestion.ts";
import { findInstrument } from "../../../db/instruments.ts";
import { candleChunks } from "../../../db/schema.ts";
import { readCandles } from "../../support/candles.ts";
import { DamagedChunkError } from "../../../market/archive/chunk.ts";
import { CsvError } from "../../../market/csv/csv_error.ts";
import { ImportTooLargeError } from "../../../market/csv/file_text.ts";
import { type CsvImport, importCsv, ImportRefusedError } from "../../../market/csv/import.ts";
import { archiveSample } from "../../../market/ingestion/archive_sample.ts";
import { databaseTest } from "../../support/database.ts";

const HEADER = "date,open,high,low,close,volume\n";
const FILE = `${HEADER}2024-01-30,1,3,0.5,2,10\n2024-01-31,2,4,1.5,3,20\n2024-02-01,3,5,2.5,4,30\n`;

function body(text: string): ReadableStream<Uint8Array> {
  return new Blob([text]).stream();
}

const request = (file: string, more: Partial<CsvImport> = {}): CsvImport => ({
  symbol: "ACME",
  exchange: "NYSE",
  assetClass: "stock",
  timeframe: "1d",
  body: body(file),
  bytesMax: 1_000_000,
  ...more,
});

async function read(db: Db) {
  const instrument = await findInstrument(db, { symbol: "ACME", exchange: "NYSE" });
  const range = { start: Date.UTC(2024, 0, 1), end: Date.UTC(2024, 5, 1) };
  return await readCandles(db, { instrument: instrument!, timeframe: "1d", ...range });
}

databaseTest("an import keeps good lines, reports bad ones, and changes nothing the second time", async ({ db }) => {
  await leavesNothingOfABadFile(db);
  const first = await importCsv(db, request(FILE));
  expect(first).toMatchObject({ imported: 3, unchanged: 0, revised: 0, rejectedCount: 0, rejected: [] });
  expect(first.run).toMatchObject({ status: "completed", trigger: "import", candles: 3 });
  expect([...(await read(db)).candles.close]).toEqual([2, 3, 4]);

  const again = await importCsv(db, request(FILE, { assetClass: undefined }));
  expect(again).toMatchObject({ imported: 0, unchanged: 3, revised: 0 });
  const newestFirst = HEADER + FILE.trimEnd().split("\n").slice(1).reverse().join("\n");
  expect(await importCsv(db, request(newestFirst))).toMatchObject({ unchanged: 3, revised: 0, rejectedCount: 0 });

  // Another close on the 31st, one day more, and a line that is none.
  const changed = `${HEADER}2024-01-31,2,4,1.5,3.5,20\n2024-02-30,1,1,1,1,1\n2024-02-02,4,6,3.5,5,40\n`;
  const revised = await importCsv(db, request(changed));
  expect(revised).toMatchObject({ imported: 1, unchanged: 0, revised: 1, rejectedCount: 1 });
  expect(revised.rejected).toEqual([{
    line: 3,
    reason: expect.stringContaining('"2024-02-30" is not a time that exists'),
  }]);
  expect([...(await read(db)).candles.close]).toEqual([2, 3.5, 4, 5]);
  const events = (await listEvents(db, { runId: revised.run.id, limit: 50 })).reverse();
  expect(events.map(({ type, candles }) => [type, candles])).toEqual([
    ["run_started", null],
    ["range_ingested", 2],
    ["revised", 1],
    ["rejected", 1],
    ["run_finished", 2],
  ]);
  expect(events[1]).toMatchObject({ symbol: "ACME", provider: "import", start: new Date("2024-01-31") });
  await replacesWhatIsDamaged(db);
  await refusesTheWrongInstrument(db);
  await survivesABrokenUpload(db);
});

async function replacesWhatIsDamaged(db: Db) {
  const { data, month } = candleChunks;
  await db.update(candleChunks).set({ data: sql`set_byte(${data}, 60, 255 - get_byte(${data}, 60))` })
    .where(eq(month, "2024-01-01"));
  await expect(read(db)).rejects.toThrow(DamagedChunkError);
  // A second import of the file restores the damaged chunk and reports the damage.
  const again = await importCsv(db, request(FILE));
  expect(again).toMatchObject({ imported: 2, unchanged: 1, revised: 0 });
  expect([...(await read(db)).candles.close]).toEqual([2, 3, 4, 5]);
  const [failed] = await listEvents(db, { runId: again.run.id, type: "failed", limit: 1 });
  expect(failed).toMatchObject({ start: new Date("2024-01-01"), end: new Date("2024-02-01"), candles: 2 });
}

async function leavesNothingOfABadFile(db: Db) {
  await expect(importCsv(db, request(""))).rejects.toThrow(CsvError);
  await expect(importCsv(db, request("date,open\n"))).rejects.toThrow("Cannot find the column high");
  await expect(importCsv(db, request(FILE, { bytesMax: 20 }))).rejects.toThrow(ImportTooLargeError);
  await expect(importCsv(db, request(FILE, { assetClass: undefined }))).rejects.toMatchObject({ field: "assetClass" });
  expect(await listRuns(db, { limit: 10 })).toEqual([]);
  expect(await findInstrument(db, { symbol: "ACME", exchange: "NYSE" })).toBeUndefined();
  // Without a good line there is a run that reports it, and no instrument.
  const none = await importCsv(db, request(`${HEADER}x\n`));
  expect(none).toMatchObject({ imported: 0, rejectedCount: 1, run: { status: "completed", candles: 0 } });
  expect(await findInstrument(db, { symbol: "ACME", exchange: "NYSE" })).toBeUndefined();
}

async function refusesTheWrongInstrument(db: Db) {
  const refused = importCsv(db, request(FILE, { assetClass: "crypto" }));
  await expect(refused).rejects.toThrow("assetClass must be stock for ACME on NYSE, not crypto");
  await archiveSample(db);
  const sample = importCsv(db, request(FILE, { symbol: "DEMO", exchange: "SAMPLE", assetClass: "crypto" }));
  await expect(sample).rejects.toThrow(ImportRefusedError);
}

async function survivesABrokenUpload(db: Db) {
  const minutes = Array.from({ length: 70_000 }, (_, i) => `${Date.UTC(2024, 1, 1) + i * 60_000},1,1,1,1,1`);
  const april = `\n${Date.UTC(2024, 3, 1)},1,1,1,1,1\n`;
  async function* broken() {
    yield new TextEncoder().encode(HEADER + minutes.join("\n") + april);
    await Promise.resolve();
    throw new Error("The client went away");
  }
  const upload = request("", { symbol: "BROKEN", timeframe: "1m", body: broken(), bytesMax: 10_000_000 });
  await expect(importCsv(db, upload)).rejects.toThrow("The client went away");
  const [run] = await listRuns(db, { limit: 1 });
  // February and March were complete and are kept; the line of April was not stored yet.
  expect(run).toMatchObject({ status: "failed", message: "The client went away", candles: 70_000 });
  const types = (await listEvents(db, { runId: run!.id, limit: 10 })).map(({ type }) => type).reverse();
  expect(types).toEqual(["run_started", "range_ingested", "failed", "run_finished"]);
}
