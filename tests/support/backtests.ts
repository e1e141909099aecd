import { type AssetClass, resolveExecution } from "../../engine/execution.ts";
import { FILLED, NO_REASON, type OrderColumns, REJECTED, TOO_SMALL } from "../../engine/order_columns.ts";
import {
  type Backtest,
  backtestRecords,
  claimBacktests,
  insertBacktest,
  type NewBacktest,
  storeResults,
} from "../../db/backtests.ts";
import type { Db } from "../../db/client.ts";
import {
  type EquityColumns,
  equityPart,
  ordersPart,
  type ResultChunk,
  tradesPart,
} from "../../db/codec/result_parts.ts";
import { ensureInstrument } from "../../db/instruments.ts";
import { encodeParts } from "../../db/result_chunks.ts";
import { user } from "../../db/schema.ts";
import type { BacktestResult } from "../../engine/result.ts";
import { EXIT_REASONS, NO_ORDER, STILL_OPEN, type TradeColumns } from "../../engine/trade_columns.ts";
import { storeCandles } from "../../market/archive/store.ts";
import { resultSchema } from "../../routers/backtests/backtest_result.ts";
import { subtractSizes } from "../../db/backtest_sizes.ts";
import type { OwnedKey } from "../../db/runs.ts";
import type { OpenQueue } from "../../workers/queue.ts";
import { until } from "./until.ts";

/** A user who can own backtests. */
export async function addUser(db: Db, id: string): Promise<void> {
  await db.insert(user).values({ id, name: id, email: `${id}@example.com` }).onConflictDoNothing();
}

/** The values of a submitted sma-cross, with exceptions from the usual in `more`. */
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
    // Tests of runs want runs.
    fresh: true,
    ...more,
  };
}

/** Submits as the API does: record and job in one transaction. @returns The record's id. */
export async function submitBacktest(db: Db, queue: OpenQueue, backtest: NewBacktest): Promise<string> {
  return await db.transaction(async (tx: Db) => {
    const { id, ownerId } = await insertBacktest(tx, backtest);
    await queue.enqueue(tx, "backtest", { id, ownerId }, backtest.queuePosition ?? 0);
    return id;
  });
}

/** Removes a backtest as its owner does. @returns False if there is none. */
export async function removeBacktest(tx: Db, key: OwnedKey): Promise<boolean> {
  const row = await backtestRecords.get(tx, key);
  const removed = row === null ? [] : await backtestRecords.remove(tx, row);
  await subtractSizes(tx, removed);
  return removed.length > 0;
}

/** The record of a backtest once it has ended. */
export async function untilEnded(db: Db, id: string, ownerId = "ann"): Promise<Backtest> {
  return await until(async () => {
    const record = await backtestRecords.get(db, { id, ownerId });
    if (record === null) throw new Error(`There is no backtest ${id}`);
    return record.finishedAt !== null && record;
  });
}

/** The result of a run of one candle without a check; its metrics are null. */
export function newResult(more: Partial<BacktestResult> = {}): BacktestResult {
  const moment = "2024-01-01T00:00:00.000Z";
  const skipped = { status: "skipped", evidence: "" } as const;
  return {
    run_key: "key",
    engine_version: "1",
    module_sha256: null,
    data: { candles: 1, first: moment, last: moment, sha256: "sum", gaps: 0 },
    execution: resolveExecution({}, "crypto"),
    metrics: resultSchema.shape.metrics.parse({ start: moment, end: moment }),
    undefined_metrics: {},
    bounds: null,
    notes: [],
    integrity: { lookahead: skipped, determinism: skipped, warm_up: skipped, orders: skipped },
    duration_ms: 0,
    ...more,
  };
}

/** The records of a run, encoded as a worker does it: one trade, one order and a curve of one candle, or others. */
export async function newChunks(
  { trades = tradeColumns(1), orders = orderColumns(1), equity = EQUITY_OF_ONE }: {
    readonly trades?: TradeColumns;
    readonly orders?: OrderColumns;
    readonly equity?: EquityColumns;
  } = {},
): Promise<ResultChunk[]> {
  return await encodeParts([tradesPart(trades), ordersPart(orders), equityPart(equity)]);
}

/** Adds a completed backtest of ann's. @returns Its id. */
export async function addCompleted(db: Db, parts: Parameters<typeof newChunks>[0]): Promise<string> {
  const { id } = await insertBacktest(db, newBacktest("ann"));
  await complete(db, id, parts);
  return id;
}

/** Completes a queued backtest, as a worker does. */
export async function complete(db: Db, id: string, parts: Parameters<typeof newChunks>[0]): Promise<void> {
  await completeWith(db, id, newResult(), parts);
}

/** Like complete(), with a result of the caller's. */
export async function completeWith(
  db: Db,
  id: string,
  result: BacktestResult,
  parts: Parameters<typeof newChunks>[0] = {},
): Promise<void> {
  await claimBacktests(db, [id]);
  const run = { id, attempt: 1, result, chunks: await newChunks(parts) };
  await db.transaction((tx: Db) => storeResults(tx, [run]));
}

const EQUITY_OF_ONE = { time: Float64Array.of(1), equity: Float64Array.of(100), position: Float64Array.of(0) };

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
    entryOrder: Int32Array.from({ length: count }, (_, i) => 2 * i),
    exitOrder: Int32Array.from({ length: count }, (_, i) => i === last ? NO_ORDER : 2 * i + 1),
    tag: Array.from({ length: count }, (_, i) => i === last ? tag : null),
    exitTag: Array.from({ length: count }, (_, i) => i === 0 && i !== last ? "out" : null),
  };
}

/** Opens and closes of ten days from 2024-01-01; high and low are the greater and the lesser of them. */
export const TEN_DAYS = {
  open: [10, 10, 10, 25, 30, 15, 10, 10, 10, 10],
  close: [10, 9, 20, 30, 20, 10, 10, 10, 10, 10],
} as const;

/** Archives TEN_DAYS as the daily candles of a new instrument TEN on TEST, or another symbol there. */
export async function archiveTenDays(db: Db, symbol = "TEN", assetClass: AssetClass = "crypto"): Promise<void> {
  const days = TEN_DAYS.open.map((open, day) => {
    const close = TEN_DAYS.close[day]!;
    return { time: Date.UTC(2024, 0, 1 + day), open, high: Math.max(open, close), low: Math.min(open, close), close };
  });
  await archive(db, symbol, "1d", days, assetClass);
}

/**
 * Archives TEN_DAYS as the hourly candles of a new crypto instrument HOURS on TEST: each day stays at its open until its last hour.
 * But for the day numbered 3, which rises from 25 to 28 in its hour 5 and falls to 22 in its hour 10.
 */
export async function archiveHours(db: Db): Promise<void> {
  const hours = TEN_DAYS.open.flatMap((open, day) =>
    Array.from({ length: 24 }, (_, hour) => {
      const close = hour === 23 ? TEN_DAYS.close[day]! : open;
      const high = day === 3 && hour === 5 ? 28 : Math.max(open, close);
      const low = day === 3 && hour === 10 ? 22 : Math.min(open, close);
      return { time: Date.UTC(2024, 0, 1 + day, hour), open, high, low, close };
    })
  );
  await archive(db, "HOURS", "1h", hours);
}

interface Row {
  readonly time: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
}

async function archive(
  db: Db,
  symbol: string,
  timeframe: "1h" | "1d",
  rows: readonly Row[],
  assetClass: AssetClass = "crypto",
): Promise<void> {
  const column = (name: keyof Row) => Float64Array.from(rows, (row) => row[name]);
  const candles = {
    time: column("time"),
    open: column("open"),
    high: column("high"),
    low: column("low"),
    close: column("close"),
    volume: new Float64Array(rows.length).fill(1000),
  };
  const instrument = await ensureInstrument(db, { symbol, exchange: "TEST", assetClass, provider: "import" });
  await db.transaction((tx: Db) => storeCandles(tx, { instrumentId: instrument.id, timeframe }, candles));
}

/** An sma-cross of closes and their mean of two over TEN_DAYS, long only. */
export function newTenDaysBacktest(ownerId: string, more: Partial<NewBacktest> = {}): NewBacktest {
  return newBacktest(ownerId, {
    symbol: "TEN",
    exchange: "TEST",
    startDate: "2024-01-01",
    endDate: "2024-01-11",
    parameters: {
      fast: 1,
      slow: 2,
      direction: "long",
      takeProfitLevel: 0,
      stopLossLevel: 0,
      timeframe: "1d",
      execution: resolveExecution({}, null),
    },
    ...more,
  });
}

/** Orders as a run gives them: buys and sells at market in queuePosition, a candle of a minute each, every third one refused. */
export function orderColumns(count: number): OrderColumns {
  const column = (value: (i: number) => number) => Float64Array.from({ length: count }, (_, i) => value(i));
  const isRefused = (i: number) => i % 3 === 2;
  return {
    count,
    time: column((i) => i * 60_000),
    side: Int8Array.from({ length: count }, (_, i) => i % 2 === 0 ? 1 : -1),
    type: new Uint8Array(count),
    quantity: column((i) => isRefused(i) ? NaN : i + 1),
    limitPrice: column(() => NaN),
    stopPrice: column(() => NaN),
    status: Uint8Array.from({ length: count }, (_, i) => isRefused(i) ? REJECTED : FILLED),
    reason: Uint8Array.from({ length: count }, (_, i) => isRefused(i) ? TOO_SMALL : NO_REASON),
    filledQuantity: column((i) => isRefused(i) ? 0 : i + 1),
    price: column((i) => isRefused(i) ? NaN : 100 + i),
    fillTime: column((i) => isRefused(i) ? NaN : (i + 1) * 60_000),
    tag: Array.from({ length: count }, (_, i) => i === 1 ? "second" : null),
  };
}
