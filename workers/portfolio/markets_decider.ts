import type { Db } from "../../db/client.ts";
import { readModule } from "../../db/modules.ts";
import { findBuiltin } from "../../strategies/builtin/catalogue.ts";
import { findPortfolioBuiltin } from "../../strategies/builtin/portfolio/portfolio_catalogue.ts";
import { versionsOf } from "../backtest/decider.ts";
import type { Parameters, RunRecord, RunSettings } from "../backtest/run_settings.ts";
import type { PortfolioRun } from "../backtest/runner.ts";
import { RunError } from "../common/outcome.ts";
import type { MarketsTask } from "../common/protocol.ts";

/** The strategy of a run over many markets. */
export interface MarketsDecider {
  /** Its part of the run's key. */
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
 * @throws {RunError} STRATEGY_FAILED when it is gone.
 */
export async function findMarketsDecider(
  db: Db,
  { runtime, strategySlug }: RunRecord,
  { own: parameters }: RunSettings,
): Promise<MarketsDecider> {
  if (runtime === null) return builtinDecider(strategySlug ?? "", parameters);
  const { minCandles, lookbackCandles } = runtime;
  if (runtime.type === "remote") throw new RunError("STRATEGY_FAILED", "Cannot run an endpoint over many markets");
  const module = await readModule(db, runtime.sha256);
  if (module === null) throw new RunError("STRATEGY_FAILED", `Cannot find the code ${runtime.sha256}`);
  const common = { parametersJson: JSON.stringify(parameters), candlesMin: minCandles };
  const code = runtime.type === "wasm" ? { kind: "run_markets", module, ...common } as const : {
    kind: "script_markets",
    source: new TextDecoder().decode(module),
    language: runtime.language ?? "typescript",
    ...common,
  } as const;
  return {
    identity: { sha256: runtime.sha256, minCandles, ...versionsOf(runtime) },
    moduleSha256: runtime.sha256,
    lookback: Math.max(minCandles, lookbackCandles),
    toRun: (task, lookbackWanted) => ({ kind: "code", job: { ...code, lookbackWanted, task } }),
  };
}

function builtinDecider(slug: string, parameters: Parameters): MarketsDecider {
  const strategy = (findBuiltin(slug) ?? findPortfolioBuiltin(slug))?.create(parameters);
  if (strategy === undefined) throw new RunError("STRATEGY_FAILED", `Cannot find the strategy ${slug}`);
  return {
    identity: slug,
    moduleSha256: null,
    lookback: Math.max(strategy.warmup, "lookback" in strategy ? strategy.lookback ?? 0 : 0),
    toRun: ({ seed: _seed, ...task }) => ({ kind: "builtin", task: { ...task, slug, parameters } }),
  };
}
