import { expect } from "@std/expect";
import { eq } from "drizzle-orm";
import { listChunks } from "../../../db/candle_chunks.ts";
import type { Db } from "../../../db/client.ts";
import { listEvents, listRuns } from "../../../db/ingestion.ts";
import { ensureInstrument, findInstrument, type Instrument } from "../../../db/instruments.ts";
import { candleChunks } from "../../../db/schema.ts";
import { candleBatches } from "../../../market/archive/read.ts";
import { readCandles } from "../../support/candles.ts";
import type { DamagedChunkError } from "../../../market/archive/chunk.ts";
import { planRead } from "../../../market/archive/read_plan.ts";
import { concatCandles, hashCandles } from "../../../market/archive/candle_columns.ts";
import { chooseTargets, UnknownTargetError } from "../../../market/on_demand/choose_target.ts";
import { FeedError } from "../../../market/feeds/feed.ts";
import { createFeeds } from "../../../market/feeds/registry.ts";
import { ReadThrough } from "../../../market/on_demand/read_through.ts";
import { databaseTest } from "../../support/database.ts";
import { type Handler, withProvider } from "../../support/provider.ts";

const DAY = 86_400_000;
const HOUR = 3_600_000;
const day = (date: string) => Date.parse(`${date}T00:00:00Z`);
const now = day("2024-03-20") + 30 * 60_000;
const BTC = { symbol: "BTCUSDT", exchange: "BINANCE" };

/** An exchange that opened on 5 March 2024, was shut on the 10th, and has hours and days since, all of one price. */
function exchange(state: { price: string; broken: boolean }): Handler {
  return (url) => {
    if (state.broken) return new Response("down", { status: 503 });
    const get = (name: string) => url.searchParams.get(name) ?? "";
    if (get("symbol") !== "BTCUSDT") return Response.json({ code: -1121, msg: "Invalid symbol." }, { status: 400 });
    const length = get("interval") === "1d" ? DAY : HOUR;
    const rows = [];
    for (let time = Number(get("startTime")); time <= Number(get("endTime")) && rows.length < 1000; time += length) {
      if (time < day("2024-03-05") || Math.floor(time / DAY) === day("2024-03-10") / DAY || time > now) continue;
      rows.push([
        time,
        state.price,
        state.price,
        state.price,
        state.price,
        "1",
        time + length - 1,
        "0",
        1,
        "0",
        "0",
        "0",
      ]);
    }
    return Response.json(rows);
  };
}

databaseTest("missing candles are fetched once and then served from the archive", async ({ db }) => {
  const state = { price: "5", broken: false };
  await withProvider(exchange(state), async (baseUrl, asked) => {
    const feeds = createFeeds({ BINANCE_BASE_URL: baseUrl });
    const delay = () => Promise.resolve();
    const patience = { attemptsMax: 2, waitMsMax: 0, delay };
    const readThrough = new ReadThrough(db, feeds, { now: () => now, patience });
    await fetchesOnce(db, readThrough, asked);
    await asksForWhatIsMissingAlone(db, readThrough, asked);
    await repairsDamage(db, readThrough, asked);
    await surfacesFailures(db, readThrough, state);
    await choosesTargets(db, readThrough);
    await keepsWhatIsNotTheirs(db, readThrough, asked);
  });
});

const hours = (start: string, end: string) => ({ timeframe: "1h", start: day(start), end: day(end) }) as const;

async function fetchesOnce(db: Db, readThrough: ReadThrough, asked: string[]) {
  const target = await chooseFirst(db, readThrough.feeds, { symbol: "BTCUSDT", assetClass: "crypto" });
  expect(target).toEqual({ ...BTC, assetClass: "crypto", provider: "provider_a" });
  // Five at once: one request to the exchange, one instrument.
  const wanted = hours("2024-03-04", "2024-03-07");
  const found = await Promise.all(Array.from({ length: 5 }, () => readThrough.complete(target, wanted)));
  expect(asked.length).toBe(1);
  expect(new Set(found.map(({ id }) => id)).size).toBe(1);
  const { candles } = await readCandles(db, { ...wanted, instrument: found[0]!, now });
  expect(candles.time.length).toBe(48);
  expect(await chooseFirst(db, readThrough.feeds, { symbol: "BTCUSDT" })).toMatchObject({ id: found[0]!.id });
  // Events report the run and its range.
  const [run] = await listRuns(db, { limit: 1 });
  expect(run).toMatchObject({ trigger: "request", status: "completed", candles: 48, instruments: [BTC] });
  const ranges = await listEvents(db, { type: "range_ingested", limit: 10 });
  expect(ranges).toMatchObject([{
    start: new Date("2024-03-04"),
    end: new Date("2024-03-07"),
    provider: "provider_a",
  }]);
}

async function asksForWhatIsMissingAlone(db: Db, readThrough: ReadThrough, asked: string[]) {
  const instrument = await requireBtc(db);
  const before = asked.length;
  // The 4th had no candle: that is known now, and not asked for again.
  await readThrough.complete(instrument, hours("2024-03-04", "2024-03-06"));
  expect(asked.length).toBe(before);
  await readThrough.complete(instrument, hours("2024-03-04", "2024-03-12"));
  expect(asked.slice(before)).toEqual([
    expect.stringContaining(`startTime=${day("2024-03-07")}&endTime=${day("2024-03-12") - 1}`),
  ]);
  // Coarser candles are made from the hours; finer ones are another series.
  await readThrough.complete(instrument, { ...hours("2024-03-05", "2024-03-12"), timeframe: "1d" });
  expect(asked.length).toBe(before + 1);
  const daily = await readCandles(db, { instrument, ...hours("2024-03-04", "2024-03-12"), timeframe: "1d", now });
  expect(daily.candles.time.length).toBe(6);
  expect(daily.gaps).toBe(1);

  // To today: the open hour is not served, and the range is asked for once a minute at most.
  const today = { instrument, ...hours("2024-03-19", "2024-03-21"), now };
  await readThrough.complete(instrument, today);
  expect((await readCandles(db, today)).candles.time.length).toBe(24);
  const settled = asked.length;
  await readThrough.complete(instrument, today);
  expect(asked.length).toBe(settled);
}

async function repairsDamage(db: Db, readThrough: ReadThrough, asked: string[]) {
  const instrument = await requireBtc(db);
  const query = { instrument, ...hours("2024-03-05", "2024-03-12"), now };
  const good = await readCandles(db, query);
  const [row] = await db.select().from(candleChunks).where(eq(candleChunks.instrumentId, instrument.id));
  const data = Uint8Array.from(row!.data);
  data[data.length >> 1]! ^= 1;
  await db.update(candleChunks).set({ data }).where(eq(candleChunks.instrumentId, instrument.id));
  const before = asked.length;
  // The damaged chunk is fetched again and reported.
  const repair = (error: DamagedChunkError) => readThrough.repair(instrument, error);
  const repaired = await Array.fromAsync(candleBatches(db, await planRead(db, query), repair));
  expect(hashCandles(concatCandles(repaired))).toBe(good.sha256);
  // Of the month two stretches were known: the 4th to the 12th, and the 19th to the last closed hour.
  expect(asked.length).toBe(before + 2);
  const [failed] = await listEvents(db, { type: "failed", limit: 1 });
  expect(failed).toMatchObject({ symbol: "BTCUSDT", start: new Date("2024-03-01"), end: new Date("2024-04-01") });
  expect(failed?.message).toContain("Cannot trust the stored 1h candles of 2024-03-01");
}

async function surfacesFailures(db: Db, readThrough: ReadThrough, state: { broken: boolean }) {
  const instrument = await requireBtc(db);
  state.broken = true;
  const failure = readThrough.complete(instrument, hours("2024-02-01", "2024-02-02"));
  await expect(failure).rejects.toMatchObject({
    fault: "failed",
    message: "Cannot use Binance: it answered 503: down",
  });
  expect((await listRuns(db, { limit: 1 }))[0]).toMatchObject({ status: "failed", trigger: "request" });
  // Stored candles are served as before.
  const kept = hours("2024-03-05", "2024-03-12");
  const held = await readCandles(db, { instrument: await readThrough.complete(instrument, kept), ...kept, now });
  expect(held.candles.time.length).toBe(6 * 24);
  const unset = new ReadThrough(db, () => {
    throw new FeedError("not_configured", "Cannot ask: no key is set");
  }, { now: () => now });
  expect(await unset.complete(instrument, kept)).toBe(instrument);
  await expect(unset.complete(instrument, hours("2024-02-01", "2024-02-02"))).rejects.toThrow("no key is set");
  state.broken = false;
  const unknown = await chooseFirst(db, readThrough.feeds, { symbol: "NOPE", assetClass: "crypto" });
  const missing = readThrough.complete(unknown, hours("2024-03-05", "2024-03-06"));
  await expect(missing).rejects.toMatchObject({ fault: "unknown_symbol" });
  expect(await findInstrument(db, { symbol: "NOPE", exchange: "BINANCE" })).toBeUndefined();
}

async function choosesTargets(db: Db, { feeds }: ReadThrough) {
  const choose = (query: Parameters<typeof chooseTargets>[2]) => chooseFirst(db, feeds, query);
  expect(await choose({ symbol: "EUR/USD", assetClass: "forex" })).toMatchObject({ exchange: "DUKASCOPY" });
  // The exchange shows the asset class of a symbol. Without both, the classes are tried in order.
  expect(await choose({ symbol: "ETHUSDT", exchange: "BINANCE" })).toMatchObject({ assetClass: "crypto" });
  const either = await chooseTargets(db, feeds, { symbol: "ETHUSDT" });
  expect(either.map(({ exchange }) => exchange).toSorted()).toEqual(["BINANCE", "DUKASCOPY"]);
  await expect(choose({ symbol: "ETHUSDT", exchange: "NOWHERE" })).rejects.toThrow(UnknownTargetError);
  const lacking = choose({ symbol: "AAPL", assetClass: "stock" });
  await expect(lacking).rejects.toThrow(FeedError);
  await expect(lacking).rejects.toThrow("MASSIVE_API_KEY is not set");
  // The archive's own candles are those of a provider; another one is asked for by its label.
  await expect(choose({ symbol: "BTCUSDT", provider: "provider_b" })).rejects.toThrow("MASSIVE_API_KEY is not set");
}

async function keepsWhatIsNotTheirs(db: Db, readThrough: ReadThrough, asked: string[]) {
  const taken = { symbol: "MINE", exchange: "BINANCE", assetClass: "crypto" } as const;
  await ensureInstrument(db, { ...taken, provider: "import" });
  await ensureInstrument(db, { ...taken, symbol: "EURUSD", assetClass: "forex", provider: "provider_a" });
  const before = asked.length;
  // Somebody's imported candles would be written over, and candles of two asset classes mixed.
  for (
    const query of [
      { symbol: "MINE", provider: "provider_a" },
      { symbol: "MINE", exchange: "BINANCE", provider: "provider_a" },
      { symbol: "EURUSD", assetClass: "crypto" },
    ] as const
  ) {
    const refused = chooseFirst(db, readThrough.feeds, query);
    await expect(refused).rejects.toThrow(UnknownTargetError);
    await expect(refused).rejects.toThrow(/on BINANCE/);
  }
  expect(asked.length).toBe(before);
  // Nor is that of somebody who comes in between.
  const late = { symbol: "BTC/USDT", exchange: "BINANCE", assetClass: "crypto", provider: "provider_a" } as const;
  const imported = await ensureInstrument(db, { ...late, provider: "import" });
  const fetched = readThrough.complete(late, hours("2024-03-05", "2024-03-06"));
  await expect(fetched).rejects.toMatchObject({ fault: "unknown_symbol", message: expect.stringContaining("import") });
  expect(await listChunks(db, imported.id)).toEqual([]);
}

async function requireBtc(db: Db): Promise<Instrument> {
  const instrument = await findInstrument(db, BTC);
  if (instrument === undefined) throw new Error("Cannot find BTCUSDT");
  return instrument;
}

async function chooseFirst(...query: Parameters<typeof chooseTargets>) {
  return (await chooseTargets(...query))[0];
}
