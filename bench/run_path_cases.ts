/** The backtests of the bench run_path, their candles, and the same work without the service. */
import { writeChunks } from "../db/candle_chunks.ts";
import type { Db } from "../db/client.ts";
import { ensureInstrument } from "../db/instruments.ts";
import type { Candles } from "../engine/candles.ts";
import { resolveExecution } from "../engine/execution.ts";
import { run } from "../engine/run.ts";
import { allocateCandles, concatCandles, copyCandles } from "../market/archive/candle_columns.ts";
import { makeChunk, openChunk } from "../market/archive/chunk.ts";
import { resampleAll } from "../market/archive/resample.ts";
import { SAMPLE_FEED, SAMPLE_INSTRUMENTS, SAMPLE_RANGE } from "../market/feeds/sample.ts";
import { fixedMs, monthOf } from "../market/timeframes.ts";
import { smaCross } from "../strategies/builtin/sma_cross.ts";
import { median } from "./measure.ts";

const ROUNDS = 9;
const COLD_SYMBOLS = ["COLD0", "COLD1", "COLD2"];
const COLD_LARGE = ["COLD3"];
const UNUSED_ID = "00000000-0000-0000-0000-000000000000";

type Timeframe = "1m" | "1h" | "1d";

/** A backtest of a year. */
export interface Case {
  readonly name: string;
  readonly timeframe: Timeframe;
  readonly parameters: { readonly fast: number; readonly slow: number };
  /** A goal in milliseconds instead of a multiple of the engine. */
  readonly warmGoalMs?: number;
  /** Symbols whose candles of the timeframe no earlier case has read. */
  readonly coldSymbols: readonly string[];
  readonly isLarge?: boolean;
}

export const CASES: readonly Case[] = [
  { name: "a year of 1m", timeframe: "1m", parameters: { fast: 120, slow: 360 }, coldSymbols: COLD_SYMBOLS },
  { name: "a year of 1h", timeframe: "1h", parameters: { fast: 10, slow: 30 }, coldSymbols: COLD_SYMBOLS },
  {
    name: "a year of 1d",
    timeframe: "1d",
    parameters: { fast: 5, slow: 20 },
    coldSymbols: COLD_SYMBOLS,
    warmGoalMs: 20,
  },
  { name: "a year of 1m", timeframe: "1m", parameters: { fast: 1, slow: 2 }, coldSymbols: COLD_LARGE, isLarge: true },
];

/** Many runs that differ in one parameter, all quick. */
export const SCAN = {
  count: 200,
  timeframe: "1h",
  shared: (k: number) => ({ fast: 1 + k, slow: 300 }),
  different: (k: number) => ({ fast: 1, slow: 201 + k }),
} as const;

/** A year of candles by timeframe, and the months of 1m as the archive stores them. */
export interface Year {
  readonly candles: Readonly<Record<Timeframe, Candles>>;
  readonly chunks: readonly ReturnType<typeof makeChunk>[];
}

/** The sample's year, in shared memory as a worker reads it. */
export async function readYear(): Promise<Year> {
  const request = { instrument: SAMPLE_INSTRUMENTS[0], timeframe: "1m", ...SAMPLE_RANGE } as const;
  const months = (await Array.fromAsync(SAMPLE_FEED.fetch(request))).map(({ candles }) => candles);
  const minutes = concatCandles(months);
  const share = (candles: Candles) => {
    const shared = allocateCandles(candles.time.length, true);
    copyCandles(candles, shared, 0);
    return shared;
  };
  const candles = {
    "1m": share(minutes),
    "1h": share(resampleAll(minutes, "1m", "1h")),
    "1d": share(resampleAll(minutes, "1m", "1d")),
  };
  const series = { instrumentId: UNUSED_ID, timeframe: "1m" } as const;
  return { candles, chunks: months.map((month) => makeChunk(series, monthOf(month.time[0]!), month)) };
}

/** Archives the year under one symbol to be read again and again, and under others to be read for the first time. */
export async function archiveYears(db: Db, { chunks }: Year): Promise<void> {
  for (const symbol of ["WARM", ...COLD_SYMBOLS, ...COLD_LARGE]) {
    const made = { symbol, exchange: "BENCH", assetClass: "crypto", provider: "import" } as const;
    const { id: instrumentId } = await ensureInstrument(db, made);
    for (const chunk of chunks) await writeChunks(db, [{ ...chunk, instrumentId }]);
  }
}

/** Milliseconds in which the year's chunks are checked and unpacked. */
export function measureUnpacking({ chunks }: Year): number {
  const times = Array.from({ length: ROUNDS }, () => {
    const begun = performance.now();
    for (const chunk of chunks) openChunk({ ...chunk, updatedAt: new Date() });
    return performance.now() - begun;
  });
  return median(times);
}

/** Times the engine alone on the year's candles, warmed up. @returns Milliseconds of a run, and its trades. */
export function measureEngine(
  year: Year,
  timeframe: Timeframe,
  parameters: Case["parameters"],
): { readonly runMs: number; readonly trades: number } {
  const input = () => ({
    candles: year.candles[timeframe],
    firstIndex: 0,
    initialBalance: 10_000,
    execution: resolveExecution({}, "crypto"),
    timeframeMs: fixedMs(timeframe),
    assetClass: "crypto" as const,
    strategy: smaCross.create({ ...parameters, direction: "both", takeProfitLevel: 0, stopLossLevel: 0 }),
    control: null,
    finer: null,
  });
  let trades = 0;
  const times = Array.from({ length: ROUNDS }, () => {
    const given = input();
    const begun = performance.now();
    trades = run(given).trades.count;
    return performance.now() - begun;
  });
  return { runMs: median(times), trades };
}
