import type { NewBacktest } from "../../db/backtests.ts";
import type { DatabaseHandle, Db } from "../../db/client.ts";
import { ensureInstrument } from "../../db/instruments.ts";
import { user } from "../../db/schema.ts";
import { EXIT_REASONS, STILL_OPEN, type TradeColumns } from "../../engine/trades.ts";
import { storeCandles } from "../../market/archive.ts";
import { DATABASES, openTestDatabase } from "./database.ts";

/** Declares one test of several steps for each kind of database; the steps share it. */
export function databaseSteps(
  name: string,
  body: (handle: DatabaseHandle, step: (name: string, body: () => Promise<void>) => Promise<void>) => Promise<void>,
): void {
  for (const kind of DATABASES) {
    Deno.test(`${name} (${kind})`, async (t) => {
      const handle = await openTestDatabase(kind);
      try {
        await body(handle, async (stepName, run) => void await t.step(stepName, run));
      } finally {
        await handle.close();
      }
    });
  }
}

/** A user who can own backtests. */
export async function addUser(db: Db, id: string): Promise<void> {
  await db.insert(user).values({ id, name: id, email: `${id}@example.com` }).onConflictDoNothing();
}

/** What a submitter of an sma-cross decides, with anything else than the usual in `more`. */
export function newBacktest(ownerId: string, more: Partial<NewBacktest> = {}): NewBacktest {
  return {
    ownerId,
    symbol: "DEMO",
    exchange: "SAMPLE",
    strategy: "SMA Cross",
    strategySlug: "sma-cross",
    strategyVersion: "1",
    startDate: "2024-01-01",
    endDate: "2024-02-01",
    initialBalance: 10_000,
    parameters: {},
    ...more,
  };
}

/** `count` trades of which all differ: trade i (from 0) buys i + 1 units at 100 + i; the last one is still open and tagged. */
export function tradeColumns(count: number, tag = 'a "tag", {with} all\\sorts; NULL'): TradeColumns {
  const column = (value: (i: number) => number) => Float64Array.from({ length: count }, (_, i) => value(i));
  const last = count - 1;
  return {
    count,
    side: Int8Array.from({ length: count }, (_, i) => i % 2 === 0 ? 1 : -1),
    quantity: column((i) => i + 1),
    entryTime: column((i) => 1_704_067_200_000 + i * 60_000),
    entryPrice: column((i) => 100 + i),
    exitTime: column((i) => i === last ? NaN : 1_704_067_200_001 + i * 60_000),
    exitPrice: column((i) => i === last ? NaN : 101 + i),
    fees: column(() => 1e-9),
    pnl: column((i) => (i + 1) * (i % 2 === 0 ? 1 : -1)),
    return: column((i) => 1 / (100 + i)),
    candles: Int32Array.from({ length: count }, (_, i) => i),
    mae: column(() => -0.01),
    mfe: column(() => 0.02),
    exitReason: Uint8Array.from({ length: count }, (_, i) => i === last ? STILL_OPEN : i % EXIT_REASONS.length),
    ambiguous: Uint8Array.from({ length: count }, (_, i) => i % 2),
    tag: Array.from({ length: count }, (_, i) => i === last ? tag : null),
  };
}

/** Opens and closes of ten days from 2024-01-01; high and low are the greater and the lesser of them. */
export const TEN_DAYS = {
  open: [10, 10, 10, 25, 30, 15, 10, 10, 10, 10],
  close: [10, 9, 20, 30, 20, 10, 10, 10, 10, 10],
} as const;

/** Archives TEN_DAYS as the daily candles of a new crypto instrument TEN on TEST. */
export async function archiveTenDays(db: Db): Promise<void> {
  const open = Float64Array.from(TEN_DAYS.open);
  const close = Float64Array.from(TEN_DAYS.close);
  const candles = {
    time: open.map((_, day) => Date.UTC(2024, 0, 1 + day)),
    open,
    high: open.map((price, day) => Math.max(price, close[day]!)),
    low: open.map((price, day) => Math.min(price, close[day]!)),
    close,
    volume: open.map(() => 1000),
  };
  const instrument = await ensureInstrument(db, {
    symbol: "TEN",
    exchange: "TEST",
    assetClass: "crypto",
    provider: "import",
  });
  await db.transaction((tx: Db) => storeCandles(tx, { instrumentId: instrument.id, timeframe: "1d" }, candles));
}

/** An sma-cross of closes and their mean of two over TEN_DAYS, long only. */
export function newTenDaysBacktest(ownerId: string, more: Partial<NewBacktest> = {}): NewBacktest {
  return newBacktest(ownerId, {
    symbol: "TEN",
    exchange: "TEST",
    startDate: "2024-01-01",
    endDate: "2024-01-11",
    parameters: { fast: 1, slow: 2, direction: "long", takeProfitLevel: 0, stopLossLevel: 0, timeframe: "1d" },
    ...more,
  });
}
