import { adx } from "../../../engine/indicators/adx.ts";
import { atr } from "../../../engine/indicators/atr.ts";
import { bollinger } from "../../../engine/indicators/bollinger.ts";
import { donchian } from "../../../engine/indicators/donchian.ts";
import { ema } from "../../../engine/indicators/ema.ts";
import { ichimoku } from "../../../engine/indicators/ichimoku.ts";
import { keltner } from "../../../engine/indicators/keltner.ts";
import { macd } from "../../../engine/indicators/macd.ts";
import { openingRange } from "../../../engine/indicators/opening_range.ts";
import { realisedVolatility } from "../../../engine/indicators/realised_volatility.ts";
import { rsi } from "../../../engine/indicators/rsi.ts";
import { sma } from "../../../engine/indicators/sma.ts";
import { stddev } from "../../../engine/indicators/stddev.ts";
import { stochastic } from "../../../engine/indicators/stochastic.ts";
import { supertrend } from "../../../engine/indicators/supertrend.ts";
import { tradingDay } from "../../../engine/indicators/trading_day.ts";
import { anchoredVwap, vwap } from "../../../engine/indicators/vwap.ts";
import { wilder } from "../../../engine/indicators/wilder.ts";
import { zscore } from "../../../engine/indicators/zscore.ts";
import type { TradingDayColumns } from "../../../engine/metrics/input.ts";
import { LOCAL_PARTS, localTime } from "./local_time.ts";

/** A number of an indicator: a period, which is a whole number of candles, or any finite number. */
export interface NumberRule {
  readonly name: string;
  readonly isPeriod: boolean;
}

/** An indicator as the realm knows it. */
interface IndicatorRule {
  readonly name: string;
  /** Columns that it reads. */
  readonly inputs: readonly string[];
  readonly numbers: readonly NumberRule[];
  /** Texts that it takes behind its numbers. */
  readonly texts: readonly string[];
  /** Names of its columns; empty: it is one column without a name. */
  readonly outputs: readonly string[];
}

interface Indicator extends Omit<IndicatorRule, "name" | "texts"> {
  /** Absent: it takes none. */
  readonly texts?: readonly string[];
  readonly compute: (
    inputs: readonly Float64Array[],
    numbers: readonly number[],
    days: TradingDayColumns | null,
    texts: readonly string[],
  ) => readonly Float64Array[];
}

const PERIOD = period("period");
const VALUES = ["values"] as const;
const CANDLE = ["high", "low", "close"] as const;
const CANDLE_AND_VOLUME = [...CANDLE, "volume"] as const;

/** The indicators of scripts: the engine's own, and what joins columns. Each value depends on its own candle and those before. */
const INDICATORS: Readonly<Record<string, Indicator>> = {
  sma: smoothed(sma),
  ema: smoothed(ema),
  wilder: smoothed((values, period) => wilder(values, period, null)),
  stddev: smoothed(stddev),
  rsi: smoothed(rsi),
  highest: smoothed((values, period) => donchian(values, values, period).upper),
  lowest: smoothed((values, period) => donchian(values, values, period).lower),
  shift: smoothed(shift),
  zscore: smoothed(zscore),
  atr: {
    inputs: CANDLE,
    numbers: [PERIOD],
    outputs: [],
    compute: ([high, low, close], [period]) => [atr(high!, low!, close!, period!)],
  },
  macd: {
    inputs: VALUES,
    numbers: ["fast", "slow", "signal"].map(period),
    outputs: ["macd", "signal", "histogram"],
    compute([values], [fast, slow, signal]) {
      const lines = macd(values!, { fast: fast!, slow: slow!, signal: signal! });
      return [lines.macd, lines.signal, lines.histogram];
    },
  },
  bollinger: {
    inputs: VALUES,
    numbers: [PERIOD, number("width")],
    outputs: ["upper", "middle", "lower"],
    compute([values], [period, width]) {
      const { upper, middle, lower } = bollinger(values!, period!, width!);
      return [upper, middle, lower];
    },
  },
  donchian: {
    inputs: ["high", "low"],
    numbers: [PERIOD],
    outputs: ["upper", "lower"],
    compute([high, low], [period]) {
      const { upper, lower } = donchian(high!, low!, period!);
      return [upper, lower];
    },
  },
  adx: {
    inputs: CANDLE,
    numbers: [PERIOD],
    outputs: ["adx", "plus", "minus"],
    compute([high, low, close], [period]) {
      const lines = adx(high!, low!, close!, period!);
      return [lines.adx, lines.plus, lines.minus];
    },
  },
  supertrend: {
    inputs: CANDLE,
    numbers: [PERIOD, number("multiple")],
    outputs: ["line", "direction"],
    compute([high, low, close], [period, multiple]) {
      const { line, direction } = supertrend(high!, low!, close!, period!, multiple!);
      return [line, direction];
    },
  },
  keltner: {
    inputs: CANDLE,
    numbers: [PERIOD, period("rangePeriod"), number("width")],
    outputs: ["upper", "middle", "lower"],
    compute([high, low, close], [average, range, width]) {
      const { upper, middle, lower } = keltner(high!, low!, close!, { average: average!, range: range! }, width!);
      return [upper, middle, lower];
    },
  },
  stochastic: {
    inputs: CANDLE,
    numbers: [PERIOD, period("slowing"), period("signal")],
    outputs: ["k", "d"],
    compute([high, low, close], [period, slowing, signal]) {
      const periods = { period: period!, slowing: slowing!, signal: signal! };
      const { k, d } = stochastic(high!, low!, close!, periods);
      return [k, d];
    },
  },
  ichimoku: {
    inputs: ["high", "low"],
    numbers: ["conversion", "base", "span", "displacement"].map(period),
    outputs: ["conversion", "base", "leadingA", "leadingB"],
    compute([high, low], [conversion, base, span, displacement]) {
      const periods = { conversion: conversion!, base: base!, span: span! };
      const lines = ichimoku(high!, low!, periods, displacement!);
      return [lines.conversion, lines.base, lines.leadingA, lines.leadingB];
    },
  },
  vwap: {
    inputs: CANDLE_AND_VOLUME,
    numbers: [PERIOD],
    outputs: ["mean", "deviation"],
    compute([high, low, close, volume], [period]) {
      const { mean, deviation } = vwap({ high: high!, low: low!, close: close!, volume: volume! }, period!);
      return [mean, deviation];
    },
  },
  anchoredVwap: {
    inputs: [...CANDLE_AND_VOLUME, "anchors"],
    numbers: [],
    outputs: ["mean", "deviation"],
    compute([high, low, close, volume, anchors]) {
      const candles = { high: high!, low: low!, close: close!, volume: volume! };
      const { mean, deviation } = anchoredVwap(candles, anchors!);
      return [mean, deviation];
    },
  },
  tradingDay: {
    inputs: ["time"],
    numbers: [],
    outputs: ["candle", "length"],
    compute([time], _numbers, days) {
      const { candle, length } = tradingDay(time!, days);
      return [candle, length];
    },
  },
  local: {
    inputs: ["time"],
    numbers: [],
    texts: ["zone"],
    outputs: LOCAL_PARTS,
    compute: ([time], _numbers, _days, [zone]) => localTime(time!, zone!),
  },
  openingRange: {
    inputs: ["high", "low", "anchors"],
    numbers: [PERIOD],
    outputs: ["upper", "lower"],
    compute([high, low, anchors], [period]) {
      const { upper, lower } = openingRange(high!, low!, anchors!, period!);
      return [upper, lower];
    },
  },
  realisedVolatility: {
    inputs: ["time", "close"],
    numbers: [PERIOD],
    outputs: [],
    compute: ([time, close], [period]) => [realisedVolatility(time!, close!, period!)],
  },
  add: joined((a, b) => a + b),
  subtract: joined((a, b) => a - b),
  multiply: joined((a, b) => a * b),
  divide: joined((a, b) => a / b),
};

/** The indicators without their code, for the realm. */
export function describeIndicators(): readonly IndicatorRule[] {
  return Object.entries(INDICATORS).map(([name, { inputs, numbers, texts = [], outputs }]) => ({
    name,
    inputs,
    numbers,
    texts,
    outputs,
  }));
}

/**
 * Computes an indicator.
 *
 * @param inputs Columns of equal length, a value a candle.
 * @param days The market's own trading days; null: days of UTC.
 * @returns Its columns, of the same length.
 * @throws {RangeError} When there is none of that name with these arguments, or a period is not a whole number.
 */
export function computeIndicator(
  name: string,
  inputs: readonly Float64Array[],
  numbers: readonly number[],
  days: TradingDayColumns | null,
  texts: readonly string[] = [],
): readonly Float64Array[] {
  const indicator = Object.hasOwn(INDICATORS, name) ? INDICATORS[name] : undefined;
  const isTaken = indicator?.inputs.length === inputs.length && indicator.numbers.length === numbers.length &&
    (indicator.texts?.length ?? 0) === texts.length;
  if (!isTaken) {
    throw new RangeError(`Cannot compute ${name} from ${inputs.length} columns and ${numbers.length} numbers`);
  }
  return indicator.compute(inputs, numbers, days, texts);
}

function period(name: string): NumberRule {
  return { name, isPeriod: true };
}

function number(name: string): NumberRule {
  return { name, isPeriod: false };
}

function smoothed(compute: (values: Float64Array, period: number) => Float64Array): Indicator {
  return {
    inputs: VALUES,
    numbers: [PERIOD],
    outputs: [],
    compute: ([values], [period]) => [compute(values!, period!)],
  };
}

function joined(join: (a: number, b: number) => number): Indicator {
  return {
    inputs: ["a", "b"],
    numbers: [],
    outputs: [],
    compute: ([a, b]) => [a!.map((value, i) => join(value, b![i]!))],
  };
}

/** The values of `candles` candles before. */
function shift(values: Float64Array, candles: number): Float64Array {
  const moved = new Float64Array(values.length).fill(NaN);
  moved.set(values.subarray(0, Math.max(0, values.length - candles)), Math.min(candles, values.length));
  return moved;
}
