/** A slice of trials over several markets, dates or timeframes, one group after the other. */
import type { Optimization } from "../../db/optimizations.ts";
import { readScanMarkets, type ScanData, type ScanMarket } from "../../db/scan_markets.ts";
import { candlesAt, countGroups, groupAt } from "../../research/candle_axes.ts";
import { isTimeframe } from "../../market/timeframes.ts";
import type { CandleServices } from "../backtest/run_candles.ts";
import type { RunSettings } from "../backtest/run_settings.ts";
import { type Failed, RunError } from "../common/outcome.ts";
import type { TrialTask } from "../common/protocol.ts";
import type { Stretch } from "./points.ts";
import { planSlice, type SlicePlan } from "./slice_plan.ts";
import type { Part } from "./windows.ts";

// Candles of a slice: about 50 MB, whatever the number of its markets. One market may have more.
const SLICE_CANDLES_MAX = 1 << 20;
// Reads wait for the database; the candles of more at once would wait for each other.
const LOADED_AT_ONCE = 8;

/** The trials of a group in a slice: a market, or dates and a timeframe. */
export type MarketTrials =
  | {
    readonly symbol: string;
    readonly exchange: string;
    readonly trials: readonly TrialTask[];
    readonly plan: SlicePlan;
    /** Loads its candles again with more of them before the range. */
    readonly reload: (lookback: number) => Promise<SlicePlan>;
    readonly data: ScanData;
  }
  /** The market's candles are missing, and the scan goes on without it. */
  | { readonly trials: readonly TrialTask[]; readonly error: Failed };

/** The end of a slice of code of users: a process of its own holds the candles of one group. */
export function endOfGroup({ space, points, runtime }: Optimization, from: number): number {
  const groups = countGroups(space);
  if (groups === null || runtime === null) return Infinity;
  const each = points / groups;
  return (Math.floor(from / each) + 1) * each;
}

/**
 * Loads the candles of a stretch's groups, in their order, as many as a slice may hold: one at least.
 *
 * @throws {RunError} As loadCandles(), and NO_DATA of a market unless the scan skips those.
 */
export async function planScan(
  services: CandleServices,
  record: Optimization,
  settings: RunSettings,
  { trials }: Stretch,
  part: Part,
): Promise<MarketTrials[]> {
  const groups = [...Map.groupBy(trials, ({ point }) => groupAt(record.space, point))];
  const planned: MarketTrials[] = [];
  let candles = 0;
  for (let begin = 0; begin < groups.length && candles < SLICE_CANDLES_MAX; begin += LOADED_AT_ONCE) {
    const stretch = groups.slice(begin, begin + LOADED_AT_ONCE);
    const rows = await readScanMarkets(services.db, record.id, stretch.map(([market]) => market));
    const loaded = await Promise.all(stretch.map(([market, own]) => {
      const row = rows.find((each) => each.market === market);
      if (row === undefined) throw new Error(`Cannot find market ${market} of the optimization ${record.id}`);
      return planMarket(services, { record, settings, part }, row, own);
    }));
    planned.push(...loaded);
    candles += loaded.reduce((sum, each) => sum + ("plan" in each ? each.plan.task.candles.time.length : 0), 0);
  }
  return planned;
}

async function planMarket(
  services: CandleServices,
  { record, settings, part }: {
    readonly record: Optimization;
    readonly settings: RunSettings;
    readonly part: Part;
  },
  { market, symbol, exchange, startDate, endDate }: Pick<
    ScanMarket,
    "market" | "symbol" | "exchange" | "startDate" | "endDate"
  >,
  trials: readonly TrialTask[],
): Promise<MarketTrials> {
  const own = withTimeframe(settings, candlesAt(record.space, market).timeframe);
  const reload = (lookback?: number) =>
    planSlice(
      services,
      { ...record, symbol, exchange },
      own,
      { trials },
      { ...part, startDate, endDate },
      lookback,
    );
  try {
    const plan = await reload();
    return { trials, symbol, exchange, plan, reload, data: { market, dataSha256: plan.dataSha256, days: plan.days() } };
  } catch (error) {
    if (!(error instanceof RunError) || error.outcome.type !== "failed") throw error;
    if (record.scan?.skipsMissing !== true || error.outcome.code !== "NO_DATA") throw error;
    return { trials, error: error.outcome };
  }
}

/** @param timeframe That of a group; absent: the record's. */
function withTimeframe(settings: RunSettings, timeframe: string | undefined): RunSettings {
  if (timeframe === undefined) return settings;
  if (!isTimeframe(timeframe)) throw new Error(`Cannot run over candles of ${timeframe}: there is no such timeframe`);
  return { ...settings, timeframe };
}
