/** A slice of the trials of an optimization over many markets with one account. */
import type { Optimization } from "../../db/optimizations.ts";
import { DAY_MS } from "../../engine/time/durations.ts";
import { findRows } from "../../engine/portfolio/portfolio_rows.ts";
import type { CandleServices } from "../backtest/run_candles.ts";
import type { MarketSettings, RunSettings } from "../backtest/run_settings.ts";
import type { MarketsTask, TrialsTask } from "../common/protocol.ts";
import { type LoadedPortfolio, loadPortfolio } from "../portfolio/load_portfolio.ts";
import type { Stretch } from "./points.ts";
import { trialsTask } from "./slice_plan.ts";
import type { Part } from "./windows.ts";

/** The candles and settings of the trials of a slice. */
export interface PortfolioSlice {
  readonly task: MarketsTask;
  readonly trials: TrialsTask;
  /** Of all candles in its range, hexadecimal; independent of the trials' lookback. */
  readonly dataSha256: string;
  /** The trading days of a test window, in days since 1970; null elsewhere. */
  readonly dates: readonly number[] | null;
  /** Loads its candles again with more of them before the range. */
  readonly reload: (lookback: number) => Promise<LoadedPortfolio>;
}

/**
 * Loads the candles of a stretch's trials, of which there is one at least.
 *
 * @param part Its dates, instead of the record's.
 * @throws {RunError} As loadMarkets().
 */
export async function planPortfolioSlice(
  services: CandleServices,
  record: Optimization,
  { settings, markets }: { readonly settings: RunSettings; readonly markets: MarketSettings },
  { trials }: Pick<Stretch, "trials">,
  part: Part,
): Promise<PortfolioSlice> {
  const lookback = trials.reduce((most, trial) => Math.max(most, trial.lookback), 0);
  const dated = { ...record, startDate: part.startDate, endDate: part.endDate };
  const reload = (candles: number) => loadPortfolio(services, dated, settings, { markets, lookback: candles });
  // The first identifies the candles, whatever the lookback.
  const range = await reload(0);
  const { task } = lookback === 0 ? range : await reload(lookback);
  return {
    task,
    trials: trialsTask(record, settings, { trials, part }),
    dataSha256: range.sha256,
    dates: part.kind === "test" ? listPortfolioDays(range.task) : null,
    reload,
  };
}

/** The days of an account over many markets, in days since 1970. */
export function listPortfolioDays(task: MarketsTask): number[] {
  return Array.from(findRows(task).days.dates, (date) => date / DAY_MS);
}
