import { atr } from "../../../engine/indicators/atr.ts";
import { bollinger } from "../../../engine/indicators/bollinger.ts";
import { donchian } from "../../../engine/indicators/donchian.ts";
import { ema } from "../../../engine/indicators/ema.ts";
import { macd } from "../../../engine/indicators/macd.ts";
import { rsi } from "../../../engine/indicators/rsi.ts";
import { sma } from "../../../engine/indicators/sma.ts";
import { stddev } from "../../../engine/indicators/stddev.ts";
import { wilder } from "../../../engine/indicators/wilder.ts";

/** A number of an indicator: a period, which is a whole number of candles, or any finite number. */
export interface NumberRule {
  readonly name: string;
  readonly isPeriod: boolean;
}

/** An indicator as the realm knows it. */
export interface IndicatorRule {
  readonly name: string;
  /** Columns that it reads. */
  readonly inputs: readonly string[];
  readonly numbers: readonly NumberRule[];
  /** Names of its columns; empty: it is one column without a name. */
  readonly outputs: readonly string[];
}

interface Indicator extends Omit<IndicatorRule, "name"> {
  readonly compute: (inputs: readonly Float64Array[], numbers: readonly number[]) => readonly Float64Array[];
}

const PERIOD = { name: "period", isPeriod: true } as const;
const VALUES = ["values"] as const;

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
  atr: {
    inputs: ["high", "low", "close"],
    numbers: [PERIOD],
    outputs: [],
    compute: ([high, low, close], [period]) => [atr(high!, low!, close!, period!)],
  },
  macd: {
    inputs: VALUES,
    numbers: ["fast", "slow", "signal"].map((name) => ({ name, isPeriod: true })),
    outputs: ["macd", "signal", "histogram"],
    compute([values], [fast, slow, signal]) {
      const lines = macd(values!, { fast: fast!, slow: slow!, signal: signal! });
      return [lines.macd, lines.signal, lines.histogram];
    },
  },
  bollinger: {
    inputs: VALUES,
    numbers: [PERIOD, { name: "width", isPeriod: false }],
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
  add: joined((a, b) => a + b),
  subtract: joined((a, b) => a - b),
  multiply: joined((a, b) => a * b),
  divide: joined((a, b) => a / b),
};

/** The indicators without their code, for the realm. */
export function describeIndicators(): readonly IndicatorRule[] {
  return Object.entries(INDICATORS).map(([name, { inputs, numbers, outputs }]) => ({ name, inputs, numbers, outputs }));
}

/**
 * Computes an indicator.
 *
 * @param inputs Columns of equal length, a value a candle.
 * @returns Its columns, of the same length.
 * @throws {RangeError} When there is none of that name with so many inputs and numbers, or a period is not a whole number.
 */
export function computeIndicator(
  name: string,
  inputs: readonly Float64Array[],
  numbers: readonly number[],
): readonly Float64Array[] {
  const indicator = Object.hasOwn(INDICATORS, name) ? INDICATORS[name] : undefined;
  if (indicator?.inputs.length !== inputs.length || indicator.numbers.length !== numbers.length) {
    throw new RangeError(`Cannot compute ${name} from ${inputs.length} columns and ${numbers.length} numbers`);
  }
  return indicator.compute(inputs, numbers);
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

/** The values of so many candles before. */
function shift(values: Float64Array, candles: number): Float64Array {
  const moved = new Float64Array(values.length).fill(NaN);
  moved.set(values.subarray(0, Math.max(0, values.length - candles)), Math.min(candles, values.length));
  return moved;
}
