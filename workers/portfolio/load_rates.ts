/** The rates of a run's foreign currencies: candles of held forex instruments. */
import type { RateColumns } from "../../engine/portfolio/portfolio.ts";
import type { Instrument } from "../../db/instruments.ts";
import type { ResultConversion } from "../../engine/result.ts";
import { CurrencyError, findConversions, foreignCurrencies } from "../../market/on_demand/conversions.ts";
import { candleEnd, DAY_MS, isCoarser, type Timeframe } from "../../market/timeframes.ts";
import type { CandlesRecord } from "../backtest/candles_record.ts";
import { isoTime } from "../backtest/plan.ts";
import { describeSeries, type LoadedCandles } from "../backtest/read_series.ts";
import { type CandleServices, type MarketData, readInstrumentCandles } from "../backtest/run_candles.ts";
import type { RunSettings } from "../backtest/run_settings.ts";
import { instantsOf } from "../backtest/trading_instants.ts";
import { RunError } from "../common/outcome.ts";

// The market of currencies may rest before the range begins.
const RATES_BEFORE = 2;
// A rate this much older than the last mark is worth a note.
const OLD_MS = 10 * DAY_MS;

/** A market of the run, with its candles. */
interface RatedMarket {
  readonly id: string;
  readonly data: MarketData;
}

/** The worth of one unit of a currency in the account's, and the candles that say so. */
export interface LoadedRate {
  readonly currency: string;
  readonly base: string;
  readonly instrument: Instrument;
  /** True if the candles say what the account's currency is worth in this one. */
  readonly isInverse: boolean;
  /** The run's timeframe, or a day where no finer candles are held. */
  readonly timeframe: Timeframe;
  readonly read: LoadedCandles;
}

/**
 * Loads the rates of all currencies that a run's markets have and its account has not.
 *
 * @throws {RunError} NO_DATA with the name of the pair, where none is held or its candles begin too late; as loadCandles().
 */
export async function loadRates(
  services: CandleServices,
  record: CandlesRecord,
  settings: RunSettings,
  markets: readonly RatedMarket[],
): Promise<readonly LoadedRate[]> {
  const base = settings.execution.baseCurrency ?? null;
  try {
    const foreign = foreignCurrencies(markets.map(({ data }) => data.instrument), base);
    return await Promise.all(
      foreign.map((currency) => loadRate(services, record, settings, { currency, base: base ?? currency, markets })),
    );
  } catch (error) {
    if (error instanceof CurrencyError) {
      throw new RunError("NO_DATA", `Cannot hold several currencies: ${error.message}`);
    }
    throw error;
  }
}

async function loadRate(
  services: CandleServices,
  record: CandlesRecord,
  settings: RunSettings,
  { currency, base, markets }: {
    readonly currency: string;
    readonly base: string;
    readonly markets: readonly RatedMarket[];
  },
): Promise<LoadedRate> {
  const conversions = await findConversions(services.db, {
    from: currency,
    to: base,
    instruments: markets.map(({ data }) => data.instrument),
  });
  const timeframes = isCoarser("1d", settings.timeframe) ? [settings.timeframe, "1d"] as const : [settings.timeframe];
  let refused: RunError | undefined;
  const tries = conversions.flatMap((conversion) => timeframes.map((timeframe) => ({ ...conversion, timeframe })));
  for (const { instrument, isInverse, timeframe } of tries) {
    try {
      const wanted = { timeframe, hours: settings.hours };
      const read = await readInstrumentCandles(services, record, wanted, instrument, RATES_BEFORE);
      const rate = { currency, base, instrument, isInverse, timeframe, read };
      requireEarly(rate, settings, markets);
      return rate;
    } catch (error) {
      if (!(error instanceof RunError) || error.code !== "NO_DATA") throw error;
      refused ??= new RunError("NO_DATA", `Cannot convert ${currency} into ${base}: ${error.message}`);
    }
  }
  throw refused;
}

/** @throws {RunError} When a market has a candle before the first rate. */
function requireEarly(
  { currency, instrument, timeframe, read }: LoadedRate,
  settings: RunSettings,
  markets: readonly RatedMarket[],
): void {
  const ofRate = { timeframe, hours: settings.hours };
  const [first = Infinity] = instantsOf(instrument, read.candles.time.subarray(0, 1), ofRate).closes;
  for (const { id, data } of markets) {
    if (data.instrument.currency !== currency) continue;
    const { candles: { time }, lookback } = data.read;
    const [opens = Infinity] = instantsOf(data.instrument, time.subarray(lookback, lookback + 1), settings).opens;
    if (first <= opens) continue;
    throw new RunError(
      "NO_DATA",
      `${id} trades from ${isoTime(opens)} on, and the first candle of ${nameOf(instrument)} closes at ${
        isoTime(first)
      }; begin the run later, or import earlier candles`,
    );
  }
}

/**
 * The rates as the engine takes them: each from the close of its candle on.
 *
 * @param isPlain True if every market's candles begin and end with the stretches that their times name.
 */
export function toRateColumns(
  { instrument, isInverse, timeframe, read: { candles: { time, close } } }: LoadedRate,
  settings: RunSettings,
  isPlain: boolean,
): RateColumns {
  const closes = isPlain && timeframe === settings.timeframe
    ? time.map((open) => candleEnd(open, timeframe))
    : instantsOf(instrument, time, { timeframe, hours: settings.hours }).closes;
  return { time: closes, rate: isInverse ? close.map((price) => 1 / price) : close };
}

/** The conversions as a result states them. */
export function summarizeRates(rates: readonly LoadedRate[]): ResultConversion[] {
  return rates.map(({ currency, instrument, isInverse, timeframe, read: { candles: { time }, sha256 } }) => ({
    currency,
    symbol: instrument.symbol,
    exchange: instrument.exchange,
    is_inverse: isInverse,
    timeframe,
    candles: time.length,
    first: isoTime(time[0]!),
    last: isoTime(time.at(-1)!),
    sha256,
  }));
}

/** The rates' part of a run's key; empty where nothing is converted. */
export function identifyRates(rates: readonly LoadedRate[]) {
  if (rates.length === 0) return {};
  return { conversions: rates.map(({ currency, isInverse, read }) => [currency, isInverse, read.sha256]) };
}

/** The stored candles that they were made of. */
export function seriesOfRates(rates: readonly LoadedRate[]) {
  return rates.map(({ instrument, timeframe, read }) => describeSeries(instrument, read, timeframe));
}

/** Notes on the conversions. @param last The open of the last candle of all markets. */
export function describeRates(rates: readonly LoadedRate[], last: number): string[] {
  return rates.flatMap(({ currency, base, instrument, isInverse, timeframe, read }) => {
    const end = candleEnd(read.candles.time.at(-1)!, timeframe);
    const how = isInverse ? ", the other way round" : "";
    return [
      `${currency} counts in ${base} by the last close of ${nameOf(instrument)}${how}`,
      ...(last - end > OLD_MS
        ? [`The candles of ${nameOf(instrument)} end at ${isoTime(end)}: ${currency} keeps that rate`]
        : []),
    ];
  });
}

function nameOf({ symbol, exchange }: Instrument): string {
  return `${symbol}@${exchange}`;
}
