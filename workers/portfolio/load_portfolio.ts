/** Everything that an account over many markets depends on, besides its strategy. */
import { createHash } from "node:crypto";
import type { ResultInputs } from "../../db/result_inputs.ts";
import { withPeriodsPerYear } from "../../engine/execution.ts";
import type { BacktestResult } from "../../engine/result.ts";
import { sessionWith } from "../../market/calendar/exchange_sessions.ts";
import { fixedMs } from "../../market/timeframes.ts";
import { identifyInputs } from "../backtest/plan.ts";
import { type CandleServices, loadCandles } from "../backtest/run_candles.ts";
import type { MarketSettings, RunRecord, RunSettings } from "../backtest/run_settings.ts";
import type { MarketsTask } from "../common/protocol.ts";
import { type LoadedMarkets, loadMarkets, seriesOf, toEngineMarkets } from "./load_markets.ts";
import { identifyRates, type LoadedRate, loadRates, seriesOfRates } from "./load_rates.ts";

/** The part of a record that decides a run over many markets. */
export type PortfolioRecord = RunRecord & { readonly ownerId: string };

/** The markets of a record, ready to be run. */
export interface LoadedPortfolio extends LoadedMarkets {
  /** The task without a seed: nobody has chosen one. */
  readonly task: MarketsTask;
  /** Everything that identifies the markets and their candles, and the SHA-256 of it, hexadecimal. */
  readonly sums: readonly unknown[];
  readonly sha256: string;
  readonly benchmarkSha256: string;
  readonly rates: readonly LoadedRate[];
  readonly session: NonNullable<BacktestResult["data"]["session"]>;
  readonly series: ResultInputs["series"];
  /** Candles that were wanted before the range; null: there are no more. */
  readonly lookbackWanted: number | null;
}

/**
 * Loads everything that an account over many markets depends on, besides the strategy.
 *
 * @param wanted `lookback`: candles that the strategy needs before the start date.
 * @throws {RunError} As loadMarkets().
 */
export async function loadPortfolio(
  services: CandleServices,
  record: PortfolioRecord,
  settings: RunSettings,
  { markets: wanted, lookback }: { readonly markets: MarketSettings; readonly lookback: number },
): Promise<LoadedPortfolio> {
  const loaded = await loadMarkets(services, record, settings, { markets: wanted, lookback });
  // The record's own instrument is what equity is compared with.
  const beside = await loadCandles(services, record, { ...settings, inputs: [] }, 0);
  const { timeframe, hours } = settings;
  const { assetClass } = beside.instrument;
  const execution = withPeriodsPerYear(settings.execution, assetClass, fixedMs(timeframe));
  const rates = await loadRates(services, record, settings, loaded.markets);
  const { candles: { time, close }, sha256: benchmarkSha256 } = (beside.benchmark ?? beside).read;
  const { timezone, open, close: closes, weekdays } = sessionWith(beside.instrument, hours);
  const sums = sumsOf(loaded, rates);
  const holdsMore = execution.lookback && loaded.markets.some(({ data }) => data.read.lookback === lookback);
  return {
    ...loaded,
    task: {
      ...toEngineMarkets(loaded.markets, rates, settings, record),
      timeframeMs: fixedMs(timeframe),
      initialBalance: record.initialBalance,
      execution,
      benchmark: { time, close },
      assetClass,
      positionsMax: wanted.positionsMax ?? loaded.markets.length,
      rank: wanted.rank,
      seed: 0,
    },
    sums,
    rates,
    sha256: createHash("sha256").update(JSON.stringify([...sums, ...Object.values(identifyRates(rates))])).digest(
      "hex",
    ),
    benchmarkSha256,
    session: { hours, timezone, open, close: closes, weekdays },
    series: [...seriesOf(loaded.markets), ...beside.series, ...seriesOfRates(rates)],
    lookbackWanted: holdsMore ? lookback : null,
  };
}

/** The checksums of each market's candles, as the run's key has them. */
function sumsOf({ markets }: LoadedMarkets, rates: readonly LoadedRate[]): unknown[][] {
  return markets.map(({ id, memberships, data }) => [
    ...[id, memberships.map(({ from, to }) => [from, to]), data.read.sha256, data.finer?.sha256 ?? null],
    ...Object.values(identifyInputs(data.inputs)),
    ...(rates.some(({ currency }) => currency === data.instrument.currency) ? [data.instrument.currency] : []),
  ]);
}
