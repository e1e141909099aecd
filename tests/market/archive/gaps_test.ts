import { expect } from "@std/expect";
import { eq, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { candleChunks } from "../../../db/schema.ts";
import { type AssetClass, findInstrument } from "../../../db/instruments.ts";
import { findGaps } from "../../../market/archive/gaps.ts";
import { importCsv } from "../../../market/csv/import.ts";
import type { Timeframe } from "../../../market/timeframes.ts";
import { AnswerBudget } from "../../../routers/common/answer_budget.ts";
import { marketDataRouter } from "../../../routers/market_data/market_data.ts";
import { createCallerFactory } from "../../../routers/common/trpc.ts";
import { strangerContext } from "../../support/context.ts";
import { databaseTest } from "../../support/database.ts";

/** Imports a candle for each time. */
async function importAt(
  db: Db,
  symbol: string,
  assetClass: AssetClass,
  timeframe: Timeframe,
  times: readonly string[],
) {
  const body = new Blob(["time,open,high,low,close,volume\n", ...times.map((time) => `${time},1,2,1,2,10\n`)]).stream();
  await importCsv(db, { symbol, exchange: "ONE", assetClass, timeframe, body, bytesMax: 1e7 });
}

/** ISO times from a first one on, at a distance in milliseconds. */
function times(first: string, count: number, stepMs: number): string[] {
  return Array.from({ length: count }, (_, i) => new Date(Date.parse(first) + i * stepMs).toISOString());
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

databaseTest("gaps are stretches without candles where trade was to be expected", async ({ db }) => {
  const api = createCallerFactory(marketDataRouter)(strangerContext(db));
  const gapsOf = (symbol: string, timeframe: Timeframe) => api.gaps({ symbol, exchange: "ONE", timeframe });

  // January is whole but for 10:00 to 20:00 of the 5th. February begins on the 2nd, and is whole. March is whole.
  await importAt(db, "COIN", "crypto", "1h", [
    ...times("2024-01-01T00:00:00Z", 4 * 24 + 10, HOUR_MS),
    ...times("2024-01-05T20:00:00Z", 26 * 24 + 4, HOUR_MS),
    ...times("2024-02-02T00:00:00Z", 28 * 24, HOUR_MS),
    ...times("2024-03-01T00:00:00Z", 31 * 24, HOUR_MS),
  ]);
  const holes = [
    { start: "2024-01-05T10:00:00.000Z", end: "2024-01-05T20:00:00.000Z" },
    { start: "2024-02-01T00:00:00.000Z", end: "2024-02-02T00:00:00.000Z" },
  ];
  expect(await gapsOf("COIN", "1h")).toEqual({
    held: { start: "2024-01-01T00:00:00.000Z", end: "2024-04-01T00:00:00.000Z" },
    ...{ gaps: holes, count: 2, next_cursor: null },
  });
  expect(await gapsOf("COIN", "1d")).toEqual({ held: null, gaps: [], count: 0, next_cursor: null });

  // A damaged chunk counts as missing; only one that has a gap is read.
  const { data, month } = candleChunks;
  await db.update(candleChunks).set({ data: sql`set_byte(${data}, 60, 255 - get_byte(${data}, 60))` })
    .where(eq(month, "2024-01-01"));
  await importAt(db, "COIN", "crypto", "1h", ["2023-12-31T23:00:00Z"]);
  expect((await gapsOf("COIN", "1h")).gaps).toEqual([
    { start: "2024-01-01T00:00:00.000Z", end: "2024-02-02T00:00:00.000Z" },
  ]);

  // Monday 1 to Friday 12 January without Wednesday the 10th: the weekend and New Year's Day are none.
  await importAt(db, "SHARE", "stock", "1d", [
    ...times("2023-12-29T00:00:00Z", 1, DAY_MS),
    ...times("2024-01-02T00:00:00Z", 4, DAY_MS),
    ...times("2024-01-08T00:00:00Z", 2, DAY_MS),
    ...times("2024-01-11T00:00:00Z", 2, DAY_MS),
  ]);
  expect((await gapsOf("SHARE", "1d")).gaps).toEqual([
    { start: "2024-01-10T00:00:00.000Z", end: "2024-01-11T00:00:00.000Z" },
  ]);
  await expect(gapsOf("NOTHING", "1d")).rejects.toThrow("Cannot find gaps of NOTHING on ONE: it is not held");
});

databaseTest("a long series is searched in parts, and the longest of many gaps are given", async ({ db }) => {
  // Every other hour of the 91 days of January to March: 1,092 candles. Without 3 February a gap is longer than the others.
  const sparse = times("2024-01-01T00:00:00Z", 91 * 12, 2 * HOUR_MS).filter((time) => !time.startsWith("2024-02-03"));
  await importAt(db, "COIN", "crypto", "1h", sparse);
  const long = { start: Date.parse("2024-02-02T23:00:00Z"), end: Date.parse("2024-02-04T00:00:00Z") };
  const instrument = await findInstrument(db, { symbol: "COIN", exchange: "ONE" });
  const search = (after: string | undefined, candlesMax: number) =>
    findGaps(db, instrument!, "1h", { after, candlesMax });
  const whole = await search(undefined, 5_000);
  expect([whole.count, whole.gaps.length, whole.next]).toEqual([sparse.length - 1, 1_000, undefined]);
  expect(whole.gaps).toContainEqual(long);

  // January has 372 candles and February 336: the first part ends with February, and the second begins with the gap after it.
  const first = await search(undefined, 500);
  expect([first.count, first.candles, first.next]).toEqual([31 * 12 + 28 * 12 - 1, 31 * 12 + 28 * 12, "2024-02-01"]);
  const second = await search(first.next, 500);
  expect([second.count, second.next]).toEqual([31 * 12, undefined]);
  expect(second.gaps[0]).toEqual({
    start: Date.parse("2024-02-29T23:00:00Z"),
    end: Date.parse("2024-03-01T00:00:00Z"),
  });

  // The calls of one request read 4,000,000 candles at most; each of these reads all 1,080 of the series.
  const answer = new AnswerBudget();
  const api = createCallerFactory(marketDataRouter)(strangerContext(db, { answer }));
  const call = () => api.gaps({ symbol: "COIN", exchange: "ONE", timeframe: "1h" });
  answer.takeCandles(4_000_000 - sparse.length - 1);
  expect([(await call()).count, (await call()).count]).toEqual([sparse.length - 1, sparse.length - 1]);
  await expect(call()).rejects.toMatchObject({ appCode: "RANGE_TOO_LARGE" });
});
