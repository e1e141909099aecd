import type { Db } from "../../db/client.ts";
import { findBuiltin } from "../../strategies/builtin/catalogue.ts";
import { findPortfolioBuiltin } from "../../strategies/builtin/portfolio/portfolio_catalogue.ts";
import type { Parameters, RunRecord, RunSettings } from "../backtest/run_settings.ts";
import type { PortfolioRun } from "../backtest/runner.ts";
import { createBuiltin, readCode, readRuntime } from "../backtest/strategy_code.ts";
import type { MarketsTask } from "../common/protocol.ts";

export interface MarketsDecider {
  /** The strategy's part of the run's key. */
  readonly identity: unknown;
  readonly moduleSha256: string | null;
  /** Candles that the strategy needs before the start date. */
  readonly lookback: number;
  /** @param lookbackWanted Candles that were wanted before the range; null: there are no more. */
  toRun(task: MarketsTask, lookbackWanted: number | null): PortfolioRun;
}

/**
 * Finds the strategy of a record over many markets.
 *
 * @throws {UnreadableRecord} For a strategy that only a newer build has.
 * @throws {RunError} STRATEGY_FAILED when it is gone, or when its parameters contradict each other beyond its schema.
 */
export async function findMarketsDecider(
  db: Db,
  record: RunRecord,
  { own: parameters }: RunSettings,
): Promise<MarketsDecider> {
  const runtime = readRuntime(record);
  if (runtime === null) return builtinDecider(record, parameters);
  if (runtime.type === "remote") {
    const { endpoint, mode, every = null, timeoutMs, minCandles, lookbackCandles, isForeign = false, servedBy } =
      runtime;
    const served = servedBy === undefined ? {} : { servedBy };
    const remote = {
      ...served,
      runId: record.id,
      endpoint,
      isForeign,
      mode,
      every,
      timeoutMs,
      lookbackCandles,
      minCandles,
      parameters,
    };
    return {
      identity: { endpoint, mode, minCandles, lookbackCandles, ...(every !== null && { every }), ...served },
      moduleSha256: null,
      lookback: Math.max(minCandles, lookbackCandles),
      toRun: (task) => ({ kind: "remote", run: { ...remote, ...task } }),
    };
  }
  const { code, ...facts } = await readCode(db, runtime, parameters);
  return {
    ...facts,
    toRun: (task, lookbackWanted) => {
      const run = { lookbackWanted, task };
      const job = "module" in code
        ? { ...code, ...run, kind: "run_markets" } as const
        : { ...code, ...run, kind: "script_markets" } as const;
      return { kind: "code", job };
    },
  };
}

function builtinDecider(record: RunRecord, parameters: Parameters): MarketsDecider {
  const { slug, lookback } = createBuiltin(record, (slug) => {
    const builtin = findBuiltin(slug);
    if (builtin === undefined) {
      const portfolio = findPortfolioBuiltin(slug);
      return portfolio && { slug, lookback: portfolio.create(parameters).warmup };
    }
    const { warmup, lookback = 0 } = builtin.create(parameters);
    return { slug, lookback: Math.max(builtin.lookback_candles, warmup, lookback) };
  });
  return {
    identity: slug,
    moduleSha256: null,
    lookback,
    toRun: ({ seed: _seed, ...task }) => ({ kind: "builtin", task: { ...task, slug, parameters } }),
  };
}
