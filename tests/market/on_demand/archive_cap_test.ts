import { expect } from "@std/expect";
import { eq } from "drizzle-orm";
import { measureUnconfigured } from "../../../db/archive_size.ts";
import { claimBacktests, insertBacktest } from "../../../db/backtests.ts";
import { listChunks } from "../../../db/candle_chunks.ts";
import type { Db } from "../../../db/client.ts";
import { backtests, instruments } from "../../../db/schema.ts";
import { importCsv } from "../../../market/csv/import.ts";
import { createFeeds } from "../../../market/feeds/registry.ts";
import { chooseTargets } from "../../../market/on_demand/choose_target.ts";
import { ReadThrough } from "../../../market/on_demand/read_through.ts";
import { addUser, newBacktest } from "../../support/backtests.ts";
import { databaseTest } from "../../support/database.ts";
import { withProvider } from "../../support/provider.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const MINUTES_10 = 600_000;
const start = Date.parse("2024-03-01T00:00:00Z");
const wanted = { timeframe: "1h", start, end: start + 10 * DAY } as const;

/** An exchange that has every symbol, with hours of prices that do not compress. */
function answer(url: URL): Response {
  const [from, until] = [Number(url.searchParams.get("startTime")), Number(url.searchParams.get("endTime"))];
  const rows = [];
  for (let time = Math.ceil(from / HOUR) * HOUR; time <= until; time += HOUR) {
    const price = String(1 + Math.random());
    rows.push([time, price, price, price, price, String(Math.random()), time + HOUR - 1, "0", 1, "0", "0", "0"]);
  }
  return Response.json(rows);
}

async function listSymbols(db: Db): Promise<string[]> {
  return (await db.select({ symbol: instruments.symbol }).from(instruments)).map(({ symbol }) => symbol).sort();
}

databaseTest("the archive of what nobody configured has a size, and the least used goes first", async ({ db }) => {
  let now = Date.now();
  await withProvider(answer, async (baseUrl, asked) => {
    const feeds = createFeeds({ BINANCE_BASE_URL: baseUrl });
    const open = (archiveBytesMax: number) => new ReadThrough(db, feeds, { now: () => now, archiveBytesMax });
    const use = async (readThrough: ReadThrough, symbol: string, afterMs = MINUTES_10) => {
      now += afterMs;
      const [target] = await chooseTargets(db, feeds, { symbol, assetClass: "crypto" });
      return await readThrough.complete(target, wanted);
    };
    const unlimited = open(Infinity);
    const configured = await use(unlimited, "CONFIGURED");
    const one = await measureUnconfigured(db);
    expect(one).toBeGreaterThan(1000);
    await db.update(instruments).set({ schedule: "5 * * * *" }).where(eq(instruments.id, configured.id));
    expect(await measureUnconfigured(db)).toBe(0);

    await use(unlimited, "IMPORTED");
    const csv = "timestamp,open,high,low,close,volume\n2020-01-01T00:00:00Z,1,1,1,1,1\n";
    const body = new Blob([csv]).stream();
    await importCsv(db, { symbol: "IMPORTED", exchange: "BINANCE", timeframe: "1h", body, bytesMax: 1000 });
    await use(unlimited, "RUNNING");
    await addUser(db, "ann");
    const { id } = await insertBacktest(db, newBacktest("ann", { symbol: "RUNNING", exchange: "BINANCE" }));
    await claimBacktests(db, [id]);
    for (const symbol of ["USED", "OLD", "OLDER"]) await use(unlimited, symbol);
    const old = await use(unlimited, "OLD");
    await use(unlimited, "USED");

    // Room for five: the imported, the running, the new one and two more.
    const capped = open(5.5 * one);
    await use(capped, "NEW");
    expect(await listSymbols(db)).toEqual(["CONFIGURED", "IMPORTED", "NEW", "OLD", "RUNNING", "USED"]);
    const tight = open(1.5 * one);
    await use(tight, "NEWER");
    expect(await listSymbols(db)).toEqual(["CONFIGURED", "IMPORTED", "NEWER", "RUNNING"]);
    await db.update(backtests).set({ status: "failed" });
    await use(tight, "NEWEST");
    expect(await listSymbols(db)).toEqual(["CONFIGURED", "IMPORTED", "NEWEST"]);

    // The size is measured at most once a minute.
    await use(tight, "FIRST");
    await db.update(instruments).set({ usedAt: new Date(now - MINUTES_10) }).where(eq(instruments.symbol, "FIRST"));
    await use(tight, "SECOND", 59_000);
    expect(await listSymbols(db)).toEqual(["CONFIGURED", "FIRST", "IMPORTED", "SECOND"]);
    await use(tight, "THIRD", 1000);
    expect(await listSymbols(db)).toEqual(["CONFIGURED", "IMPORTED", "SECOND", "THIRD"]);

    // A reader that found the instrument before it was evicted gets its candles again.
    const before = asked.length;
    const again = await unlimited.complete(old, wanted);
    expect([again.symbol, again.id === old.id, asked.length]).toEqual(["OLD", false, before + 1]);
    expect(await listChunks(db, again.id)).toHaveLength(1);
  });
});
