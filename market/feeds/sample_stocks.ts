/** Invented stocks with days of three years, which rise and fall together in part: a market for portfolios. */
import type { Candles } from "../../engine/candles.ts";
import { allocateCandles, lowerBound, sliceCandles } from "../archive/candle_columns.ts";
import { sessionOf } from "../calendar/exchange_sessions.ts";
import { isForexHoliday, isNewYorkHoliday } from "../calendar/holidays.ts";
import { tradingDaysOf } from "../calendar/trading_days.ts";
import { DAY_MS } from "../timeframes.ts";
import { roundTo, SampleRandom } from "./sample_random.ts";

const TICK = 0.01;
const PRICE_MIN = 0.5;
// The market's own day: some 17% a year, with a drift of 5%.
const MARKET_VOLATILITY = 0.011;
const MARKET_DRIFT = 0.0002;
// GARCH(1,1) of days (Bollerslev 1986).
const SHOCK_WEIGHT = 0.12;
const MEMORY_WEIGHT = 0.86;
// A stock's own drift changes after some 100 days, to at most 15% a year.
const TREND_DAYS = 100;
const TREND_MAX = 0.0006;
// One day in a hundred has news of the company.
const NEWS_DAYS = 100;
const NEWS_SIZE = 4;
/** The share of a day's variance that falls into the night before it. */
const NIGHT = 0.3;
const VOLUME = 400_000;

const SHARED = {
  exchange: "SAMPLE",
  assetClass: "stock",
  provider: "sample",
  timeframe: "1d",
  backfillFrom: "2022-01-01",
  currency: "USD",
} as const;

/** A stock, or a pair of currencies without a beta: its move for one of the market, its own volatility of a day, and the dates between which it trades. */
interface StockShape {
  readonly symbol: string;
  readonly firstPrice: number;
  readonly beta: number;
  readonly own: number;
  /** Prices are multiples of it. */
  readonly tick?: number;
  readonly from: string;
  readonly to: string;
}

const ALWAYS = { from: "2022-01-01", to: "2025-01-01" };
const SHAPES: readonly StockShape[] = [
  { symbol: "ALDER", firstPrice: 48, beta: 0.6, own: 0.008, ...ALWAYS },
  { symbol: "ASPEN", firstPrice: 112, beta: 1.1, own: 0.012, ...ALWAYS },
  { symbol: "BEECH", firstPrice: 75, beta: 0.8, own: 0.009, ...ALWAYS },
  { symbol: "BIRCH", firstPrice: 210, beta: 1.2, own: 0.013, ...ALWAYS },
  { symbol: "CEDAR", firstPrice: 36, beta: 0.9, own: 0.011, ...ALWAYS },
  { symbol: "ELM", firstPrice: 18, beta: 1.3, own: 0.016, ...ALWAYS, to: "2023-03-11" },
  { symbol: "HAZEL", firstPrice: 94, beta: 1.0, own: 0.01, ...ALWAYS },
  { symbol: "LARCH", firstPrice: 61, beta: 0.7, own: 0.009, ...ALWAYS },
  { symbol: "MAPLE", firstPrice: 155, beta: 1.4, own: 0.015, ...ALWAYS },
  { symbol: "OAK", firstPrice: 320, beta: 0.9, own: 0.008, ...ALWAYS },
  { symbol: "PINE", firstPrice: 27, beta: 1.1, own: 0.014, ...ALWAYS, to: "2024-05-18" },
  { symbol: "ROWAN", firstPrice: 40, beta: 1.2, own: 0.017, ...ALWAYS, from: "2023-06-15" },
];

/** Stocks that are quoted in euros, and the euro in dollars. */
const EURO_SHAPES: readonly StockShape[] = [
  { symbol: "OLIVE", firstPrice: 64, beta: 0.8, own: 0.01, ...ALWAYS },
  { symbol: "POPLAR", firstPrice: 138, beta: 1.1, own: 0.012, ...ALWAYS },
];
const PAIR: StockShape = { symbol: "EURUSD", firstPrice: 1.08, beta: 0, own: 0.004, tick: 0.0001, ...ALWAYS };
const ALL_SHAPES = [...SHAPES, ...EURO_SHAPES, PAIR];

/** The instruments of the portfolio sample, in the order of their symbols. */
export const SAMPLE_STOCKS = SHAPES.map(({ symbol }) => ({ ...SHARED, symbol }));
/** Instruments of another currency, and the pair that converts it. */
export const SAMPLE_EUROS = [
  ...EURO_SHAPES.map(({ symbol }) => ({ ...SHARED, symbol, currency: "EUR" })),
  { ...SHARED, symbol: PAIR.symbol, assetClass: "forex" },
] as const;

/** The same as members: two left the market within the three years, and one joined it. */
export const SAMPLE_MEMBERS = SHAPES.map(({ symbol, from, to }) => ({
  symbol,
  exchange: SHARED.exchange,
  ...(from === ALWAYS.from ? {} : { from }),
  ...(to === ALWAYS.to ? {} : { to }),
}));

/** The days of one stock in [start, end), without holidays; undefined for a symbol that is none of theirs. */
export function generateDays(symbol: string, { start, end }: { start: number; end: number }): Candles | undefined {
  const index = ALL_SHAPES.findIndex((each) => each.symbol === symbol);
  const shape = ALL_SHAPES[index];
  if (shape === undefined) return undefined;
  const { tick = TICK } = shape;
  const dates = listDates(shape === PAIR);
  const market = marketReturns(dates.length);
  const random = new SampleRandom(0x54726565 + index);
  const [from, to] = [Date.parse(shape.from), Date.parse(shape.to)];
  const candles = allocateCandles(dates.length);
  let close = shape.firstPrice;
  let trend = 0;
  let count = 0;
  for (const [i, date] of dates.entries()) {
    if (random.uniform() * TREND_DAYS < 1 || i === 0) trend = TREND_MAX * (2 * random.uniform() - 1);
    const news = random.uniform() * NEWS_DAYS < 1 ? NEWS_SIZE : 1;
    const move = shape.beta * market[i]! + trend + news * shape.own * random.normal();
    const size = Math.sqrt(shape.beta * shape.beta * MARKET_VOLATILITY * MARKET_VOLATILITY + shape.own * shape.own);
    const night = NIGHT * move + 0.3 * size * random.normal();
    const ranges = [0.6 * size * random.uniform(), 0.6 * size * random.uniform()] as const;
    const excitement = (0.5 + Math.abs(move) / size) * (0.5 + random.uniform());
    // A stock that is not listed yet stands still.
    if (date < from || date >= to) continue;
    const open = Math.max(PRICE_MIN, roundTo(close * (1 + night), tick));
    close = Math.max(PRICE_MIN, roundTo(close * (1 + move), tick));
    candles.time[count] = date;
    candles.open[count] = open;
    candles.close[count] = close;
    candles.high[count] = roundTo(Math.max(open, close) * (1 + ranges[0]), tick);
    candles.low[count] = roundTo(Math.min(open, close) * (1 - ranges[1]), tick);
    candles.volume[count] = roundTo(VOLUME * excitement, 1);
    count++;
  }
  const [first, last] = [start, end].map((time) => lowerBound(candles.time.subarray(0, count), time));
  return sliceCandles(candles, first!, last!);
}

/** The market's return of each day: clusters of volatility, and a drift. */
function marketReturns(days: number): Float64Array {
  const random = new SampleRandom(0x466f7204);
  const returns = new Float64Array(days);
  let variance = 1;
  for (let i = 0; i < days; i++) {
    const shock = random.normal();
    returns[i] = MARKET_DRIFT + MARKET_VOLATILITY * Math.sqrt(variance) * shock;
    variance = 1 - SHOCK_WEIGHT - MEMORY_WEIGHT + variance * (MEMORY_WEIGHT + SHOCK_WEIGHT * shock * shock);
  }
  return returns;
}

/** 00:00 UTC of each date on which New York trades, or the currency market. */
function listDates(isForex: boolean): number[] {
  const days = tradingDaysOf(sessionOf({ ...SHARED, assetClass: isForex ? "forex" : "stock", session: null }));
  const rests = isForex ? isForexHoliday : isNewYorkHoliday;
  const dates: number[] = [];
  for (let date = Date.parse(ALWAYS.from); date < Date.parse(ALWAYS.to); date += DAY_MS) {
    if (days.isTraded(date) && !rests(date / DAY_MS)) dates.push(date);
  }
  return dates;
}
