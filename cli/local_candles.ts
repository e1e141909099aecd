import { resolve } from "node:path";
import type { Candles } from "../engine/candles.ts";
import type { TradingDayColumns } from "../engine/metrics/input.ts";
import type { Traded } from "../market/calendar/exchange_sessions.ts";
import { daysOfCandles } from "../market/calendar/run_days.ts";
import { FileText } from "../market/csv/file_text.ts";
import { CsvReader, type Rejection } from "../market/csv/reader.ts";
import { fixedMs, isTimeframe, type Timeframe, TIMEFRAME_NAMES } from "../market/timeframes.ts";
import { guessSeries } from "./guess_series.ts";

/** Candles of a file, and facts about them. */
export interface LocalCandles {
  readonly candles: Candles;
  readonly timeframe: Timeframe;
  /** Null for calendar months. */
  readonly timeframeMs: number | null;
  readonly restsOnWeekends: boolean;
  readonly rejectedCount: number;
  readonly rejected: readonly Rejection[];
}

/**
 * Reads candles from a file of any kind that an import takes, without a database.
 *
 * @param timeframe Absent: guessed from the distance of the first lines.
 * @throws Error When the file cannot be read, or holds no candle.
 */
export async function readLocalCandles(path: string, timeframe: string | undefined): Promise<LocalCandles> {
  const guess = await guessSeries(path, { timeframe });
  if (!isTimeframe(guess.timeframe)) {
    throw new RangeError(
      `Cannot use the timeframe ${guess.timeframe}: it must be one of ${TIMEFRAME_NAMES.join(", ")}`,
    );
  }
  const reader = new CsvReader(guess.timeframe, Date.now());
  const file = await Deno.open(resolve(path));
  const batches: Candles[] = [];
  for await (const piece of new FileText(file.readable, Infinity).pieces()) batches.push(...copies(reader.push(piece)));
  batches.push(...copies(reader.end()));
  const candles = join(batches);
  if (candles.time.length === 0) throw new Error(`Cannot run on ${path}: it holds no usable candle`);
  return {
    candles,
    timeframe: guess.timeframe,
    timeframeMs: fixedMs(guess.timeframe),
    restsOnWeekends: guess.restsOnWeekends,
    rejectedCount: reader.rejectedCount,
    rejected: reader.rejected,
  };
}

/** The trading days of candles, as a service counts them in a run; null where candles are longer than a day. */
export function daysOf(
  { candles, timeframe }: Pick<LocalCandles, "candles" | "timeframe">,
  traded: Traded,
): TradingDayColumns | null {
  return daysOfCandles(traded, timeframe, candles.time);
}

/** A batch is valid only until the next one. */
function* copies(batches: Iterable<Candles>): Generator<Candles> {
  for (const batch of batches) yield mapColumns((name) => batch[name].slice());
}

/** Batches in order of time: a file may begin with its newest candles. */
function join(batches: Candles[]): Candles {
  batches.sort((a, b) => a.time[0]! - b.time[0]!);
  const count = batches.reduce((sum, { time }) => sum + time.length, 0);
  return mapColumns((name) => {
    const column = new Float64Array(count);
    let at = 0;
    for (const batch of batches) {
      column.set(batch[name], at);
      at += batch[name].length;
    }
    return column;
  });
}

function mapColumns(make: (name: keyof Candles) => Float64Array): Candles {
  return {
    time: make("time"),
    open: make("open"),
    high: make("high"),
    low: make("low"),
    close: make("close"),
    volume: make("volume"),
  };
}
