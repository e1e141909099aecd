import { expect } from "@std/expect";
import { asc, eq } from "drizzle-orm";
import { type DatabaseHandle, openPglite, openPostgres } from "../../../db/client.ts";
import { listCoverage } from "../../../db/coverage.ts";
import { findRun, type IngestionRun, listEvents } from "../../../db/ingestion.ts";
import { ensureInstrument, type Instrument } from "../../../db/instruments.ts";
import { candleChunks } from "../../../db/schema.ts";
import { createRun, executeRun } from "../../../market/ingestion/ingestion_run.ts";
import { copyFolder } from "../../support/copy_folder.ts";
import { createTestDatabase, DATABASES, eachDatabaseTest } from "../../support/database.ts";
import { prepare } from "../../support/prepare.ts";
import { flakyFeed } from "./flaky_feed.ts";

const WORKER = new URL("./crash_worker.ts", import.meta.url).pathname;
const KILLS = 20;
// Twenty workers cannot get through all of the 176 pages, so each is still at work when it is killed, however late that is.
const PAGES_MAX = 8;
const START = "2020-01-01";
const PAGE_MS = 20;
const now = Date.parse("2024-01-01T00:00:00Z");

async function addInstrument(handle: DatabaseHandle, symbol: string): Promise<Instrument> {
  const row = { symbol, exchange: "TEST", assetClass: "crypto", provider: "provider_a" } as const;
  return await ensureInstrument(handle.db, { ...row, timeframe: "1h", backfillFrom: START });
}

async function addRun(handle: DatabaseHandle, symbol: string): Promise<IngestionRun> {
  const instruments = [{ symbol, exchange: "TEST" }];
  return (await handle.db.transaction((tx) => createRun(tx, { trigger: "manual", instruments, endDate: "2024-01-01" })))
    .run;
}

/** Everything that is stored of an instrument, to the byte. */
async function readArchive(handle: DatabaseHandle, { id }: Instrument) {
  const { month, candles, sha256, data } = candleChunks;
  const chunks = await handle.db.select({ month, candles, sha256, data }).from(candleChunks)
    .where(eq(candleChunks.instrumentId, id)).orderBy(asc(month));
  return chunks.map((chunk) => ({ ...chunk, data: [...chunk.data].join() }));
}

/** Where the database is, for this process and for the one that is killed. */
async function makeDatabase(kind: (typeof DATABASES)[number]) {
  if (kind === "PostgreSQL") {
    const { url, drop } = await createTestDatabase("migrated");
    return { address: url, open: () => openPostgres(url, 2), drop };
  }
  const folder = await Deno.makeTempDir({ prefix: "hindcast-crash-" });
  const address = `${folder}/database`;
  copyFolder(`${await prepare("folder/migrated")}/database`, address);
  return { address, open: () => openPglite(address), drop: () => Deno.remove(folder, { recursive: true }) };
}

function startWorker(address: string, runId: string, ...pagesMax: number[]): Deno.ChildProcess {
  const args = ["run", "--allow-all", "--no-check", WORKER, address, runId, ...pagesMax.map(String)];
  return new Deno.Command(Deno.execPath(), { args, stdout: "piped", stderr: "piped" }).spawn();
}

for (const kind of DATABASES) {
  Deno.test(`a run that is killed many times ends like one that never was (${kind})`, async () => {
    const { address, open, drop } = await makeDatabase(kind);
    let handle = await open();
    const clean = await addInstrument(handle, "CLEAN");
    await executeRun(handle.db, (await addRun(handle, "CLEAN")).id, { feeds: () => flakyFeed(0), now });
    const killed = await addInstrument(handle, "KILLED");
    const run = await addRun(handle, "KILLED");
    await handle.close();

    for (let kills = 0; kills < KILLS; kills++) {
      const worker = startWorker(address, run.id, PAGES_MAX);
      const reader = worker.stdout.getReader();
      // At random moments: some pages on, in the middle of the next one, of a transaction, of nothing.
      const pages = Math.random() * PAGES_MAX;
      for (let seen = 0; seen < pages;) seen += (await reader.read()).value?.length ?? Infinity;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 2 * PAGE_MS));
      worker.kill("SIGKILL");
      const { signal } = await worker.status;
      expect(signal).toBe("SIGKILL");
      await Promise.all([reader.cancel(), worker.stderr.cancel()]);
    }
    handle = await open();
    // The processes died in the middle: some months are there, and the run has not ended.
    const [months, { length: all }] = [await readArchive(handle, killed), await readArchive(handle, clean)];
    expect([months.length > 0, months.length < all]).toEqual([true, true]);
    expect(await findRun(handle.db, run.id)).toMatchObject({ status: "running" });
    await handle.close();
    // The last one is left alone.
    expect((await startWorker(address, run.id).output()).code).toBe(0);

    handle = await open();
    expect(await findRun(handle.db, run.id)).toMatchObject({ status: "completed", message: null });
    expect(await readArchive(handle, killed)).toEqual(await readArchive(handle, clean));
    const series = { instrumentId: killed.id, timeframe: "1h" };
    expect(await listCoverage(handle.db, series)).toEqual([{
      start: new Date(START),
      end: new Date("2024-01-01"),
    }]);
    // Every stored range has its event, and they leave no hole.
    const events = (await listEvents(handle.db, { runId: run.id, type: "range_ingested", limit: 200 })).reverse();
    const ranges = events.map(({ start, end }) => [start!.getTime(), end!.getTime()]).toSorted((a, b) => a[0]! - b[0]!);
    let reached = Date.parse(START);
    for (const [start, end] of ranges) {
      expect(start).toBeLessThanOrEqual(reached);
      reached = Math.max(reached, end!);
    }
    expect(reached).toBe(Date.parse("2024-01-01"));
    await handle.close();
    await drop();
  });
}

eachDatabaseTest("two simultaneous runs of one instrument store the same as one", async (handle) => {
  const clean = await addInstrument(handle, "ONE");
  await executeRun(handle.db, (await addRun(handle, "ONE")).id, { feeds: () => flakyFeed(0), now });
  const doubled = await addInstrument(handle, "TWO");
  const first = await addRun(handle, "TWO");
  // Another range of the same instrument, so that it is not joined.
  const { run: second } = await handle.db.transaction((tx) =>
    createRun(tx, { trigger: "manual", instruments: [{ symbol: "TWO", exchange: "TEST" }] })
  );
  const delay = () => Promise.resolve();
  const options = { feeds: () => flakyFeed(), now, patience: { delay, attemptsMax: 50 } };
  await Promise.all([executeRun(handle.db, first.id, options), executeRun(handle.db, second.id, options)]);
  expect(await readArchive(handle, doubled)).toEqual(await readArchive(handle, clean));
});
