/** The bindings' lines and parameters in each language, against the engine's indicators and JSON's numbers. */
import { expect } from "@std/expect";
import type { Candles } from "../../engine/candles.ts";
import { createControl } from "../../engine/control.ts";
import { atr } from "../../engine/indicators/atr.ts";
import { bollinger } from "../../engine/indicators/bollinger.ts";
import { crossesAbove } from "../../engine/indicators/cross.ts";
import { donchian } from "../../engine/indicators/donchian.ts";
import { ema } from "../../engine/indicators/ema.ts";
import { macd } from "../../engine/indicators/macd.ts";
import { rsi } from "../../engine/indicators/rsi.ts";
import { sma } from "../../engine/indicators/sma.ts";
import { stddev } from "../../engine/indicators/stddev.ts";
import { wilder } from "../../engine/indicators/wilder.ts";
import { localTime } from "../../workers/sandbox/contracts/local_time.ts";
import { Random } from "../../workers/sandbox/random.ts";
import { doWasmJob } from "../../workers/sandbox/wasm/run.ts";
import { dailyCandles, taskOver, wanderingCloses } from "../workers/sandbox/wasm/modules.ts";

const CANDLES = 400;
const PERIODS = [1, 2, 7, 30];
const NUMBERS = 100;

/** Expects a module built from probes/ to have every line and number to the bit. */
export function expectLines(module: Uint8Array): void {
  const candles = dailyCandles([...wanderingCloses(CANDLES / 2), ...standing(CANDLES / 2)]);
  for (const period of PERIODS) {
    const numbers = makeNumbers(period);
    const named = Object.fromEntries(numbers.map((value, n) => [`n${String(n).padStart(2, "0")}`, value]));
    const tricks = { 'a"b,}': { n00: 7, period: 3 }, list: ["n01", { n02: [8] }], text: "plain", yes: true, no: false };
    const parametersJson = JSON.stringify({ ...tricks, ...named, period });
    const job = {
      kind: "run",
      module,
      parametersJson,
      candlesMin: 1,
      lookbackWanted: null,
      task: taskOver(candles),
    } as const;
    const answer = doWasmJob(job, createControl());
    if (answer.type !== "completed") throw new Error(JSON.stringify(answer));
    const { count, limitPrice } = answer.result.orders;
    expect([...limitPrice.subarray(0, count)]).toEqual(expectedPrices(candles, period, numbers));
  }
}

/** The orders' prices: each line at each candle, and after the first candle's lines the parameters. */
function expectedPrices(candles: Candles, period: number, numbers: readonly number[]): number[] {
  const times = [
    localTime(candles.time.map((at, i) => at - i * 129_600_000_017), "UTC"),
    localTime(candles.time.map((at, i) => at + i * 133_200_000), "America/New_York"),
  ];
  const lines = [...times.map(joinParts), ...drawLines(candles, period)];
  const prices = [...candles.close].flatMap((_, i) => {
    const values = lines.map((line) => line[i]!);
    return i === 0 ? [...values, ...numbers, 1, 1] : values;
  });
  return prices.map((value) => Number.isNaN(value) ? 1e300 : value === 0 ? 2e300 : value);
}

/** All parts of a time in one number. */
function joinParts([years, months, days, weekdays, hours, minutes]: readonly Float64Array[]): Float64Array {
  return years!.map((year, i) => {
    const day = (year * 13 + months![i]!) * 32 + days![i]!;
    return ((day * 7 + weekdays![i]!) * 24 + hours![i]!) * 60 + minutes![i]!;
  });
}

function drawLines({ high, low, close }: Candles, period: number): readonly Float64Array[] {
  const mean = sma(close, period);
  const lines = macd(close, { fast: period, slow: 2 * period + 3, signal: period });
  const crosses = close.map((_, i) =>
    Number(crossesAbove(close, mean, i, true)) - Number(crossesAbove(mean, close, i, true))
  );
  return [
    mean,
    ema(close, period),
    wilder(close, period),
    stddev(close, period),
    rsi(close, period),
    donchian(high, low, period).upper,
    donchian(high, low, period).lower,
    atr(high, low, close, period),
    lines.macd,
    lines.signal,
    bollinger(close, period, 2).upper,
    crosses,
  ];
}

/** Prices that often stand still, so that lines meet. */
function standing(count: number): number[] {
  const random = new Random(3);
  let price = 100;
  return Array.from({ length: count }, () => price += random.below(4) === 0 ? random.below(3) - 1 : 0);
}

/** Numbers of every size and length, as JSON writes them. */
function makeNumbers(seed: number): number[] {
  const random = new Random(seed);
  const special = [1e21, 1e-7, 123456789012345680000, 0.1 + 0.2, -1.5e-9, 2 ** 53 + 2, 1.7976931348623157e300, 5e-290];
  return Array.from({ length: NUMBERS }, (_, n) => {
    const value = special[n];
    if (value !== undefined) return value;
    const mantissa = (random.below(2 ** 31) + random.below(2 ** 31) / 2 ** 31) / 2 ** 31 + 1;
    const power = n % 2 === 0 ? random.below(40) - 20 : random.below(560) - 280;
    return (n % 3 === 0 ? -1 : 1) * mantissa * 10 ** power;
  });
}
