import { z } from "zod";
import type { Backtest } from "../../db/backtests.ts";
import { readEquityPieces } from "../../db/equity.ts";
import { findInstrument, type InstrumentKey } from "../../db/instruments.ts";
import type { Candles } from "../../engine/candles.ts";
import { planRead } from "../../market/archive/read_plan.ts";
import { candleBatches, retryOnChange } from "../../market/archive/read.ts";
import { HOURS } from "../../market/calendar/exchange_sessions.ts";
import { candleEnd, isTimeframe } from "../../market/timeframes.ts";
import { type ChartColumns, chooseBuckets, CurveBuckets, emptyChart, PriceBuckets, toChart } from "./chart_columns.ts";
import { curveReader } from "./series.ts";
import { repairer } from "../market_data/ticks.ts";
import { AppError, hintNearest, quote } from "../common/errors.ts";
import type { Context } from "../common/trpc.ts";
import { marketsOf } from "./owned_backtest.ts";

/** A symbol and an exchange. */
export const MARKET_LETTERS_MAX = 400;
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
  readonly until?: number | undefined;
  readonly points: number;
  /** The market whose candles are drawn, as `SPY@ARCA`; undefined: the backtest's own. */
  readonly market?: string | undefined;
}

/**
 * The candles, equity, drawdown and position of a completed run, merged for drawing; empty until it has completed. It holds a piece of
 * the run in memory at a time, however long the run is.
 *
 * @throws AppError VALIDATION_FAILED for a market that the run does not have.
 */
export async function readRunChart(
  ctx: Context,
  backtest: Backtest,
  range: ChartRange,
): Promise<ChartColumns> {
  const { id: backtestId, ownerId, initialBalance: balance, result } = backtest;
  if (result === null) return emptyChart();
  const own = marketKey(backtest, undefined);
  const drawn = marketKey(backtest, range.market);
  const count = result.data.candles;
  const until = Math.min(range.until ?? count, count);
  const buckets = chooseBuckets(Math.min(range.from, until), until, range.points);
  const curve = new CurveBuckets(balance, buckets);
  for await (const piece of readEquityPieces(ctx.db, { backtestId, ownerId }, { decode: curveReader(ctx) })) {
    ctx.answer.takeCandles(piece.time.length);
    if (!curve.add(piece)) break;
  }
  const first = curve.firstTime;
  // The backtest was deleted meanwhile.
  if (Number.isNaN(first)) return emptyChart();
  const [begin = first] = curve.time;
  const { parameters } = backtest;
  const readPrices = (name: InstrumentKey) =>
    retryOnChange(async () => {
      const found = new PriceBuckets(curve);
      const stretch = { start: begin, end: curve.lastTime.at(-1) ?? begin };
      await readCandles(ctx, { ...name, parameters }, stretch, found.add.bind(found));
      return found;
    });
  const prices = await readPrices(drawn);
  const isOwn = drawn.symbol === own.symbol && drawn.exchange === own.exchange;
  const held = isOwn ? prices : await readPrices(own);
  const close = await retryOnChange(async () => {
    let found = NaN;
    const take = (candles: Candles) => found = candles.close[0] ?? NaN;
    await readCandles(ctx, { ...own, parameters }, { start: first, end: first }, take);
    return found;
  });
  return toChart(count, buckets, curve, prices, { balance, close, closes: held.close });
}

/** The instrument of a run's market. @param market As `SPY@ARCA`; undefined: the backtest's own. @throws AppError VALIDATION_FAILED */
export function marketKey(backtest: Backtest, market: string | undefined): InstrumentKey {
  const { symbol, exchange } = backtest;
  if (market === undefined) return { symbol, exchange };
  const markets = [`${symbol}@${exchange}`, ...marketsOf(backtest).map(({ instrument }) => instrument)];
  if (!markets.includes(market)) {
    const message = `must be a market of the run, not ${quote(market)}${hintNearest(market, markets)}`;
    throw new AppError("VALIDATION_FAILED", `Cannot draw the run: /market ${message}`, {
      issues: [{ path: "/market", message }],
    });
  }
  const at = market.lastIndexOf("@");
  return { symbol: market.slice(0, at), exchange: market.slice(at + 1) };
}

/** Reads the candles that open from `start` to `end`, both included, a stored chunk at a time. */
export async function readCandles(
  ctx: Context,
  { symbol, exchange, parameters }: Pick<Backtest, "symbol" | "exchange" | "parameters">,
  { start, end }: { readonly start: number; readonly end: number },
  add: (candles: Candles) => void,
): Promise<void> {
  const { timeframe } = parameters;
  const instrument = await findInstrument(ctx.db, { symbol, exchange });
  if (instrument === undefined || typeof timeframe !== "string" || !isTimeframe(timeframe)) return;
  const hours = HOURS.find((name) => name === parameters.session) ?? "regular";
  const plan = await planRead(ctx.db, { instrument, timeframe, hours, start, end: candleEnd(end, timeframe) });
  ctx.answer.takeCandles(plan.chunks.reduce((sum, chunk) => sum + chunk.candles, 0));
  for await (const candles of candleBatches(ctx.db, plan, repairer(ctx, plan))) add(candles);
}
