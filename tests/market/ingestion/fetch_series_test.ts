import { expect } from "@std/expect";
import { listChunks } from "../../../db/candle_chunks.ts";
import { listCoverage } from "../../../db/coverage.ts";
import { insertRun } from "../../../db/ingestion.ts";
import { ensureInstrument, findInstrument } from "../../../db/instruments.ts";
import { allocateCandles } from "../../../market/archive/candle_columns.ts";
import { DamagedChunkError } from "../../../market/archive/chunk.ts";
import type { Feed, FeedPart } from "../../../market/feeds/feed.ts";
import { fetchSeries, IMPATIENT } from "../../../market/ingestion/fetch_series.ts";
import { ReadThrough } from "../../../market/on_demand/read_through.ts";
import { databaseTest } from "../../support/database.ts";

const DAY = 86_400_000;
const at = (iso: string) => Date.parse(iso);

/** A candle a day of price 1 up to a day, as a feed that needs an hour after a close to be sure of it. */
function feedUntil(last: number): Feed & { asked: number } {
  return {
    asked: 0,
    name: "the test's feed",
    exchange: "TEST",
    settleMs: 3_600_000,
    sourceTimeframe: (timeframe) => timeframe,
    async *fetch({ start, end }): AsyncGenerator<FeedPart> {
      this.asked++;
      const days = Math.max(0, (Math.min(end, last + DAY) - start) / DAY);
      const { time, ...values } = allocateCandles(days);
      for (let i = 0; i < days; i++) time[i] = start + i * DAY;
      for (const column of Object.values(values)) column.fill(1);
      yield await Promise.resolve({ start, end, candles: { time, ...values } });
    },
  };
}

databaseTest("a candle that may still come is not covered", async ({ db }) => {
  const feed = feedUntil(at("2024-03-30"));
  const { id: runId } = await insertRun(db, { status: "running", trigger: "manual" });
  const target = { symbol: "LATE", exchange: "TEST", assetClass: "crypto", provider: "provider_a" } as const;
  const work = { runId, timeframe: "1d", feed, patience: IMPATIENT } as const;
  // Half an hour after the close of 31 March that day is not there yet.
  const range = { start: at("2024-03-25"), end: at("2024-04-01") };
  const now = at("2024-04-01T00:30Z");
  const { instrument } = await fetchSeries(db, { ...work, target, now }, [range]);
  if (instrument === undefined) throw new Error("Cannot find the instrument");
  const series = { instrumentId: instrument.id, timeframe: "1d" };
  expect(await listCoverage(db, series)).toEqual([{ start: new Date(range.start), end: new Date("2024-03-31") }]);
  // An hour and a half after it, it would be.
  const rest = [{ start: at("2024-03-31"), end: at("2024-04-01") }];
  await fetchSeries(db, { ...work, target: instrument, now: now + 3_600_000 }, rest);
  expect(await listCoverage(db, series)).toEqual([{ start: new Date(range.start), end: new Date(range.end) }]);
});

databaseTest("a candle that may still come is requested once a minute for all callers", async ({ db }) => {
  const feed = feedUntil(at("2024-03-30"));
  let clock = at("2024-04-01T00:30Z");
  const readThrough = new ReadThrough(db, () => feed, { now: () => clock });
  const target = { symbol: "SOON", exchange: "TEST", assetClass: "crypto", provider: "provider_a" } as const;
  const wanted = { timeframe: "1d", start: at("2024-03-25"), end: at("2024-04-01") } as const;
  const instrument = await readThrough.complete(target, wanted);
  await readThrough.complete(instrument, wanted);
  expect(feed.asked).toBe(1);
  clock += 60_000;
  await readThrough.complete(instrument, wanted);
  expect(feed.asked).toBe(2);
  // A clock that is put back does not keep anybody from asking until it is as late again.
  clock -= 120_000;
  await readThrough.complete(instrument, wanted);
  expect(feed.asked).toBe(3);
  await readThrough.close();
});

databaseTest("a damaged chunk is fetched again at once, even after a recent request", async ({ db }) => {
  const feed = feedUntil(at("2024-04-01"));
  const readThrough = new ReadThrough(db, () => feed, { now: () => at("2024-04-02T00:30Z") });
  const target = { symbol: "HURT", exchange: "TEST", assetClass: "crypto", provider: "provider_a" } as const;
  const wanted = { timeframe: "1d", start: at("2024-03-25"), end: at("2024-04-02") } as const;
  const instrument = await readThrough.complete(target, wanted);
  // Finer candles are no substitute: the reader of the days continues with days.
  await readThrough.complete(instrument, { ...wanted, timeframe: "1h" });
  const days = async () => (await listChunks(db, instrument.id)).filter(({ timeframe }) => timeframe === "1d");
  const held = await days();
  for (const chunk of held) await readThrough.repair(instrument, new DamagedChunkError(chunk));
  const sums = (chunks: typeof held) => chunks.map(({ month, sha256 }) => [month, sha256]);
  expect(sums(await days())).toEqual(sums(held));
  expect(held.length).toBe(2);
  await readThrough.close();
});

databaseTest(
  "a damaged import is fetched again after its instrument gets a provider",
  async ({ db }) => {
    const readThrough = new ReadThrough(db, () => feedUntil(at("2024-04-01")), { now: () => at("2024-04-02T00:30Z") });
    const target = { symbol: "MOVED", exchange: "TEST", assetClass: "crypto", provider: "provider_a" } as const;
    const range = { start: at("2024-03-25"), end: at("2024-04-01") };
    const fed = await readThrough.complete(target, { timeframe: "1d", ...range });
    const [held] = await listChunks(db, fed.id);
    const damage = new DamagedChunkError(held!);
    await expect(readThrough.repair({ ...fed, provider: "import" }, damage)).rejects.toThrow("import them again");
    await readThrough.repair(fed, damage);
    expect((await listChunks(db, fed.id)).map(({ sha256, updatedAt }) => [sha256, updatedAt > held!.updatedAt]))
      .toEqual([[held!.sha256, true]]);
    await readThrough.close();
  },
);

databaseTest(
  "rows without a candle create no instrument, but count as coverage of an existing one",
  async ({ db }) => {
    const feed: Feed = {
      ...feedUntil(0),
      async *fetch({ start, end }) {
        yield await Promise.resolve({ start, end, candles: allocateCandles(0), rejected: 1 });
      },
    };
    const { id: runId } = await insertRun(db, { status: "running", trigger: "manual" });
    const row = { exchange: "TEST", assetClass: "crypto", provider: "provider_a" } as const;
    const now = at("2024-04-02");
    const work = { runId, timeframe: "1d", feed, patience: IMPATIENT, now } as const;
    const range = { start: at("2024-03-25"), end: at("2024-04-01") };
    const { instrument } = await fetchSeries(db, { ...work, target: { ...row, symbol: "NEW" } }, [range]);
    expect(instrument).toBeUndefined();
    expect(await findInstrument(db, { ...row, symbol: "NEW" })).toBeUndefined();
    const held = await ensureInstrument(db, { ...row, symbol: "HELD" });
    await fetchSeries(db, { ...work, target: held }, [range]);
    const known = [{ start: new Date(range.start), end: new Date(range.end) }];
    expect(await listCoverage(db, { instrumentId: held.id, timeframe: "1d" })).toEqual(known);
  },
);
