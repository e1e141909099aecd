import type { Db } from "../../db/client.ts";
import { findBuiltin } from "../../strategies/builtin/catalogue.ts";
import type { SandboxTask } from "../sandbox/task.ts";
import type { Parameters, RunRecord, RunSettings } from "./run_settings.ts";
import type { Run } from "./runner.ts";
import { createBuiltin, modeForOneMarket, readCode, readRuntime } from "./strategy_code.ts";

export interface Decider {
  /** The strategy's part of the run's key. */
  readonly identity: unknown;
  readonly moduleSha256: string | null;
  /** Candles that the strategy needs before the start date. */
  readonly lookback: number;
  /** @param read The task's candles: their checksum, and those that were wanted before the range; null: there are no more. */
  toRun(task: SandboxTask, read: { readonly sha256: string; readonly lookbackWanted: number | null }): Run;
}

/**
 * Finds the strategy of a record.
 *
 * @throws {UnreadableRecord} For a strategy that only a newer build has.
 * @throws {RunError} STRATEGY_FAILED when the strategy is gone, or when its parameters contradict each other beyond its schema.
 */
export async function findDecider(db: Db, record: RunRecord, { own: parameters }: RunSettings): Promise<Decider> {
  const runtime = readRuntime(record);
  if (runtime === null) return builtinDecider(record, parameters);
  if (runtime.type === "remote") {
    const mode = modeForOneMarket(runtime);
    const { endpoint, timeoutMs, isForeign = false, servedBy, minCandles, lookbackCandles } = runtime;
    const served = servedBy === undefined ? {} : { servedBy };
    const instrument = { symbol: record.symbol, exchange: record.exchange };
    const common = { runId: record.id, endpoint, isForeign, mode, timeoutMs, lookbackCandles, minCandles };
    const remote = { ...common, ...served, instrument, parameters };
    return {
      identity: { endpoint, mode, minCandles, lookbackCandles, ...served },
      moduleSha256: null,
      lookback: Math.max(minCandles, lookbackCandles),
      toRun: (task) => ({ kind: "remote", run: { ...remote, ...task } }),
    };
  }
  const { code, ...facts } = await readCode(db, runtime, parameters);
  return {
    ...facts,
    toRun: (task, { lookbackWanted }) => {
      const run = { lookbackWanted, task };
      const job = "module" in code
        ? { ...code, ...run, kind: "run" } as const
        : { ...code, ...run, kind: "script" } as const;
      return { kind: "code", job };
    },
  };
}

function builtinDecider(record: RunRecord, parameters: Parameters): Decider {
  const { slug, lookback } = createBuiltin(record, (slug) => {
    const builtin = findBuiltin(slug);
    if (builtin === undefined) return undefined;
    const { warmup, lookback = 0 } = builtin.create(parameters);
    return { slug, lookback: Math.max(builtin.lookback_candles, warmup, lookback) };
  });
  return {
    identity: slug,
    moduleSha256: null,
    lookback,
    toRun: (task, { sha256 }) => ({ kind: "builtin", task: { ...task, candlesSha256: sha256, slug, parameters } }),
  };
}
