import { z } from "zod";
import type { Backtest } from "../../db/backtests.ts";
import { retryOnChange } from "../../market/archive/read.ts";
import {
  bucketStart,
  candleEnd,
  isCoarser,
  isTimeframe,
  shortestMs,
  type Timeframe,
  TIMEFRAME_NAMES,
} from "../../market/timeframes.ts";
import { AppError, quote } from "../common/errors.ts";
import type { Context } from "../common/trpc.ts";
import { marketKey, readCandles } from "./run_chart.ts";

/** More would be narrower than what a screen shows. */
const CANDLES_MAX = 2_000;
const numbers = z.array(z.number());

/** Candles in columns. */
export const runCandlesSchema = z.object({
  /** Milliseconds since 1970; `end` is the open of the next one of its length. */
  time: numbers,
  end: numbers,
  open: numbers,
  high: numbers,
  low: numbers,
  close: numbers,
});

/** Candles that open or end from `from` to `until`, milliseconds since 1970, both included. */
export interface CandlesWanted {
  readonly timeframe: Timeframe;
  readonly from: number;
  readonly until: number;
  /** The market, as `SPY@ARCA`; undefined: the run's own. */
  readonly market?: string | undefined;
}

/**
 * Candles of a run's market that are longer than the run's own. The first and the last one may reach beyond the run.
 *
 * @throws AppError VALIDATION_FAILED for a timeframe that is not coarser, and a market that the run does not have.
 * @throws AppError RANGE_TOO_LARGE for a range of more than 2,000 candles.
 */
export async function readRunCandles(
  ctx: Context,
  backtest: Backtest,
  { timeframe, from, until, market }: CandlesWanted,
): Promise<z.infer<typeof runCandlesSchema>> {
  const own = String(backtest.parameters["timeframe"]);
  if (!isTimeframe(own) || !isCoarser(timeframe, own)) {
    const coarser = TIMEFRAME_NAMES.filter((each) => isTimeframe(own) && isCoarser(each, own)).join(", ");
    const message = `must be coarser than the run's ${quote(own)}, such as ${coarser || "none"}, not ${
      quote(timeframe)
    }`;
    throw new AppError("VALIDATION_FAILED", `Cannot draw the candles: /timeframe ${message}`, {
      issues: [{ path: "/timeframe", message }],
    });
  }
  if ((until - from) / shortestMs(timeframe) > CANDLES_MAX) {
    throw new AppError(
      "RANGE_TOO_LARGE",
      `Cannot draw more than ${CANDLES_MAX} candles of ${timeframe}: ask for a shorter range`,
    );
  }
  return await retryOnChange(async () => {
    const found: z.infer<typeof runCandlesSchema> = { time: [], end: [], open: [], high: [], low: [], close: [] };
    const { parameters } = backtest;
    const question = { ...marketKey(backtest, market), parameters: { ...parameters, timeframe } };
    const opens = { start: bucketStart(from, timeframe), end: bucketStart(until, timeframe) };
    await readCandles(ctx, question, opens, (candles) => {
      for (let i = 0; i < candles.time.length; i++) {
        found.time.push(candles.time[i]!);
        found.end.push(candleEnd(candles.time[i]!, timeframe));
        found.open.push(candles.open[i]!);
        found.high.push(candles.high[i]!);
        found.low.push(candles.low[i]!);
        found.close.push(candles.close[i]!);
      }
    });
    return found;
  });
}
