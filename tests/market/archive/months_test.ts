import { expect } from "@std/expect";
import type { Db } from "../../../db/client.ts";
import { type AssetClass, ensureInstrument, type Instrument } from "../../../db/instruments.ts";
import type { Candles } from "../../../engine/candles.ts";
import type { CandleQuery } from "../../../market/archive/read_plan.ts";
import { storeCandles } from "../../../market/archive/store.ts";
import type { Timeframe } from "../../../market/timeframes.ts";
import { readCandles } from "../../support/candles.ts";
import { eachDatabaseTest } from "../../support/database.ts";

const DAY_MS = 86_400_000;
/** Long after every candle here. */
const now = Date.parse("2030-01-01");

const at = (iso: string) => Date.parse(iso);

async function makeInstrument(db: Db, symbol: string, assetClass: AssetClass = "crypto"): Promise<Instrument> {
  return await ensureInstrument(db, { symbol, exchange: "TEST", assetClass, provider: "import" });
}

/** Candles with a price of 1 and a volume of 10. */
function traded(times: readonly number[]): Candles {
  const ones = Float64Array.from(times, () => 1);
  const volume = Float64Array.from(times, () => 10);
  return {
    time: Float64Array.from(times),
    open: ones,
    high: ones.slice(),
    low: ones.slice(),
    close: ones.slice(),
    volume,
  };
}

function days(from: string, count: number): number[] {
  return Array.from({ length: count }, (_, index) => at(from) + index * DAY_MS);
}

const store = (db: Db, instrument: Instrument, timeframe: Timeframe, candles: Candles) =>
  db.transaction((tx) => storeCandles(tx, { instrumentId: instrument.id, timeframe }, candles));

eachDatabaseTest("months are made of whole days of trade, or read as they are stored", async ({ db }) => {
  const range = { start: at("2024-01-01"), end: at("2024-12-15"), timeframe: "1M", now } as const;
  const read = async (instrument: Instrument, more: Partial<CandleQuery> = {}) => {
    const { candles, gaps, source, lookback } = await readCandles(db, { ...range, instrument, ...more });
    return {
      months: Array.from(candles.time, (time) => new Date(time).toISOString().slice(0, 10)),
      volume: [...candles.volume],
      gaps,
      source,
      lookback,
    };
  };
  // 31, 29 and 31 days of 10 each, and an April that has not ended.
  const crypto = await makeInstrument(db, "MONTHS");
  await store(db, crypto, "1d", traded(days("2024-01-01", 31 + 29 + 31 + 29)));
  const whole = { months: ["2024-01-01", "2024-02-01", "2024-03-01"], volume: [310, 290, 310], gaps: 0, source: "1d" };
  expect(await read(crypto)).toMatchObject(whole);
  await store(db, crypto, "1d", traded([at("2024-04-30")]));
  expect((await read(crypto)).months).toEqual([...whole.months, "2024-04-01"]);
  expect((await read(crypto, { now: at("2024-05-01") - 1 })).months).toEqual(whole.months);
  // A month is in the range if it opens there, and comes whole.
  expect(await read(crypto, { start: at("2024-01-02"), end: at("2024-02-02") })).toMatchObject({ volume: [290] });
  expect(await read(crypto, { start: at("2024-03-01"), lookback: 2 })).toMatchObject({
    ...{ months: ["2024-01-01", "2024-02-01", "2024-03-01", "2024-04-01"], lookback: 2 },
  });

  // 1 June 2024 was a Saturday, and Friday 28 June the month's last trading day.
  const stock = await makeInstrument(db, "WORKDAYS", "stock");
  const workdays = days("2024-06-03", 26).filter((day) => ![0, 6].includes(new Date(day).getUTCDay()));
  await store(db, stock, "1d", traded(workdays));
  expect(await read(stock)).toMatchObject({ months: ["2024-06-01"], volume: [200] });

  // Stored months are months as well; one is missing.
  const stored = await makeInstrument(db, "STORED");
  await store(db, stored, "1M", traded([at("2024-01-01"), at("2024-02-01"), at("2024-04-01")]));
  expect(await read(stored)).toMatchObject({ source: "1M", gaps: 1, volume: [10, 10, 10] });
  expect((await read(stored, { now: at("2024-05-01") - 1 })).months).toEqual(["2024-01-01", "2024-02-01"]);
  const finer = readCandles(db, { ...range, instrument: stored, timeframe: "1d" });
  await expect(finer).rejects.toMatchObject({ finest: "1M", asked: "1d" });
});
