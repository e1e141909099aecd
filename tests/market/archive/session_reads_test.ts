import { expect } from "@std/expect";
import type { Db } from "../../../db/client.ts";
import { ensureInstrument, type Instrument } from "../../../db/instruments.ts";
import type { Candles } from "../../../engine/candles.ts";
import { planRead, planTag } from "../../../market/archive/read_plan.ts";
import { storeCandles } from "../../../market/archive/store.ts";
import { readCandles } from "../../support/candles.ts";
import { databaseTest } from "../../support/database.ts";

const at = (iso: string) => Date.parse(iso);
const iso = (times: Float64Array) => [...times].map((time) => new Date(time).toISOString().slice(0, 16));
/** Long after every candle here. */
const now = at("2030-01-01");

async function storeMinutes(db: Db, times: readonly number[]): Promise<Instrument> {
  const row = { symbol: "SESSION", exchange: "TEST", assetClass: "stock", provider: "import" } as const;
  const instrument = await ensureInstrument(db, row);
  const open = Float64Array.from(times, (_, index) => 1 + index);
  const candles: Candles = {
    time: Float64Array.from(times),
    open,
    high: open.slice(),
    low: open.slice(),
    close: open.slice(),
    volume: open.map(() => 10),
  };
  await db.transaction((tx: Db) => storeCandles(tx, { instrumentId: instrument.id, timeframe: "1m" }, candles));
  return instrument;
}

databaseTest("hours and days of stored minutes keep to the session of their instrument", async ({ db }) => {
  // New York's clock goes forward between Friday 8 and Monday 11 March 2024. The first and last minute of each day are outside of the session.
  const friday = ["14:29", "14:30", "15:29", "15:30", "20:59", "21:00"].map((time) => at(`2024-03-08T${time}Z`));
  const monday = ["13:29", "13:30", "19:59", "20:00"].map((time) => at(`2024-03-11T${time}Z`));
  const instrument = await storeMinutes(db, [...friday, ...monday]);
  const all = { instrument, start: at("2024-03-08"), end: at("2024-03-12"), now };
  const hours = await readCandles(db, { ...all, timeframe: "1h" });
  expect(iso(hours.candles.time)).toEqual([
    ...["2024-03-08T14:30", "2024-03-08T15:30", "2024-03-08T20:30"],
    ...["2024-03-11T13:30", "2024-03-11T19:30"],
  ]);
  const days = await readCandles(db, { ...all, timeframe: "1d" });
  expect(iso(days.candles.time)).toEqual(["2024-03-08T00:00", "2024-03-11T00:00"]);
  // The minutes open at 1, 2, 3 ...; each day leaves out its first and its last.
  expect([[...days.candles.open], [...days.candles.close], [...days.candles.volume]]).toEqual([[2, 8], [5, 9], [
    40,
    20,
  ]]);
  const extended = await readCandles(db, { ...all, timeframe: "1d", hours: "extended" });
  expect([[...extended.candles.open], [...extended.candles.volume]]).toEqual([[1], [60]]);
  expect((await readCandles(db, { ...all, timeframe: "1d", end: at("2024-03-11") })).candles.time.length).toBe(1);
  // On Monday in the session its day is not over.
  const during = { ...all, timeframe: "1d", now: at("2024-03-11T19:59:30Z") } as const;
  expect(iso((await readCandles(db, during)).candles.time)).toEqual(["2024-03-08T00:00"]);
  const after = await readCandles(db, { ...all, timeframe: "1d", start: at("2024-03-11"), lookback: 3 });
  expect([after.lookback, after.candles.time.length]).toEqual([1, 2]);
  // Another session makes other candles of the same minutes.
  const berlin = { timezone: "Europe/Berlin", open: "09:00", close: "17:30", weekdays: [5], extended: null };
  const moved = { ...instrument, session: berlin };
  expect((await readCandles(db, { ...all, instrument: moved, timeframe: "1d" })).candles.volume).toEqual(
    Float64Array.of(40),
  );
  const tag = async (each: Instrument) =>
    planTag(await planRead(db, { ...all, instrument: each, timeframe: "1d" }), "");
  expect(await tag(moved)).not.toBe(await tag(instrument));
});
