import { z } from "zod";
import type { Backtest } from "../db/backtests.ts";
import type { Db } from "../db/client.ts";
import { readEquity } from "../db/equity.ts";
import { findInstrument } from "../db/instruments.ts";
import type { Candles } from "../engine/candles.ts";
import { planRead } from "../market/archive/read_plan.ts";
import { readPlan, type Repair, retryOnChange } from "../market/archive/read.ts";
import { HOURS } from "../market/calendar/exchange_sessions.ts";
import { candleEnd, isTimeframe } from "../market/timeframes.ts";
import { type ChartColumns, chooseBuckets, emptyChart, mergeRows, type RunRows } from "./chart_columns.ts";

const numbers = z.array(z.number());
const prices = z.array(z.number().nullable());

/** A stretch of a run for drawing: a value per bucket of `step` candles, in columns. */
export const runChartSchema = z.object({
  /** Candles of the whole run. */
  candles: z.int(),
  /** Index of the first candle of the answer, and of the one after its last. */
  from: z.int(),
  until: z.int(),
  /** Candles in a bucket, a power of two; the last bucket may have fewer. */
  step: z.int(),
  /** Open of the bucket's first candle, milliseconds since 1970. */
  time: numbers,
  /** Null where the archive does not hold the candles any more. */
  open: prices,
  high: prices,
  low: prices,
  close: prices,
  volume: prices,
  /** At the close of the bucket's last candle. */
  equity: numbers,
  /** The deepest of the bucket: the fraction lost since the highest equity so far. */
  drawdown: numbers,
  /** Units at the close of the bucket's last candle. */
  position: numbers,
  /** The initial balance if it had held the instrument since the first candle's close, without costs. */
  buy_hold: prices,
});

/** Candles `from` to before `until` by their index, in at most about `points` buckets. */
export interface ChartRange {
  readonly from: number;
  readonly until: number | undefined;
  readonly points: number;
}

/**
 * The candles, equity, drawdown and position of a completed run, merged for drawing; empty until it has completed.
 *
 * @param repair Called with a damaged chunk of candles, which is then read again.
 */
export async function readRunChart(
  db: Db,
  backtest: Backtest,
  range: ChartRange,
  repair: (plan: Awaited<ReturnType<typeof planRead>>) => Repair,
): Promise<ChartColumns> {
  const { id: backtestId, ownerId, initialBalance } = backtest;
  const curve = await readEquity(db, { backtestId, ownerId });
  if (curve === null) return emptyChart();
  const read = (start: number, end: number) =>
    retryOnChange(async () => await readCandles(db, backtest, start, end, repair));
  const rows: RunRows = { ...curve, initialBalance };
  const count = curve.time.length;
  const until = Math.min(range.until ?? count, count);
  const buckets = chooseBuckets(Math.min(range.from, until), until, range.points);
  const first = curve.time[0] ?? 0;
  const begin = curve.time[buckets.from] ?? first;
  const end = (curve.time[until - 1] ?? begin) + 1;
  const candles = await read(begin, end);
  const firstClose = (begin === first ? candles : await read(first, first + 1)).close[0] ?? NaN;
  return mergeRows(rows, candles, firstClose, buckets);
}

async function readCandles(
  db: Db,
  { symbol, exchange, parameters }: Backtest,
  start: number,
  end: number,
  repair: (plan: Awaited<ReturnType<typeof planRead>>) => Repair,
): Promise<Candles> {
  const { timeframe } = parameters;
  const instrument = await findInstrument(db, { symbol, exchange });
  if (instrument === undefined || typeof timeframe !== "string" || !isTimeframe(timeframe)) return NO_CANDLES;
  const hours = HOURS.find((name) => name === parameters.session) ?? "regular";
  const plan = await planRead(db, { instrument, timeframe, hours, start, end: candleEnd(end - 1, timeframe) });
  return (await readPlan(db, plan, { repair: repair(plan) })).candles;
}

const NONE = new Float64Array(0);
const NO_CANDLES: Candles = { time: NONE, open: NONE, high: NONE, low: NONE, close: NONE, volume: NONE };
