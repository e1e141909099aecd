import type { Db } from "../../db/client.ts";
import { readRecord, requireName, UnreadableRecord } from "../../db/codec/unreadable.ts";
import { readModule } from "../../db/modules.ts";
import { CODE_FORMATS, type SandboxRuntime } from "../../db/schema.ts";
import { ENGINE_VERSION } from "../../engine/version.ts";
import type { Builtin } from "../../strategies/builtin/builtin.ts";
import { findBuiltin } from "../../strategies/builtin/catalogue.ts";
import { RunError } from "../common/outcome.ts";
import { PYODIDE_VERSION } from "../sandbox/python/files.ts";
import type { SandboxTask } from "../sandbox/task.ts";
import type { Parameters, RunRecord, RunSettings } from "./run_settings.ts";
import type { Run } from "./runner.ts";

/** The strategy of a run. */
export interface Decider {
  /** Its part of the run's key. */
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
  const { runtime } = record;
  requireRuntime(record);
  if (runtime === null) return builtinDecider(record, parameters);
  const { minCandles, lookbackCandles } = runtime;
  const lookback = Math.max(minCandles, lookbackCandles);
  if (runtime.type === "remote") {
    const { endpoint, mode, timeoutMs, isForeign = false } = runtime;
    const remote = { runId: record.id, endpoint, isForeign, mode, timeoutMs, lookbackCandles, minCandles, parameters };
    return {
      identity: { endpoint, mode, minCandles, lookbackCandles },
      moduleSha256: null,
      lookback,
      toRun: (task) => ({ kind: "remote", run: { ...remote, ...task } }),
    };
  }
  const module = await readModule(db, runtime.sha256);
  if (module === null) throw new RunError("STRATEGY_FAILED", `Cannot find the code ${runtime.sha256}`);
  const common = { parametersJson: JSON.stringify(parameters), candlesMin: minCandles };
  const code = runtime.type === "wasm" ? { kind: "run", module, ...common } as const : {
    kind: "script",
    source: new TextDecoder().decode(module),
    language: runtime.language ?? "typescript",
    ...common,
  } as const;
  return {
    identity: { sha256: runtime.sha256, minCandles, ...versionsOf(runtime) },
    moduleSha256: runtime.sha256,
    lookback,
    toRun: (task, { lookbackWanted }) => ({ kind: "code", job: { ...code, lookbackWanted, task } }),
  };
}

/** @throws {UnreadableRecord} For a kind of code, or a language, that this build does not run. */
function requireRuntime({ id, runtime }: RunRecord): void {
  readRecord(`strategy of the run ${id}`, () => {
    requireName([...CODE_FORMATS, "remote"], runtime?.type ?? "remote", "kind of strategy");
    if (runtime?.type === "script") requireName(["typescript", "python"], runtime.language ?? "typescript", "language");
  });
}

/** Versions that a script's result depends on: another V8 may round a sine otherwise. */
export function versionsOf(
  { type, language }: Exclude<SandboxRuntime, { readonly type: "remote" }>,
): Readonly<Record<string, string>> {
  if (type === "wasm") return {};
  return language === "python" ? { pyodide: PYODIDE_VERSION } : { v8: Deno.version.v8 };
}

function builtinDecider(record: RunRecord, parameters: Parameters): Decider {
  const builtin = findBuiltin(record.strategySlug ?? "");
  if (builtin === undefined) {
    const message = `Cannot find the strategy ${record.strategySlug}`;
    if (isNewer(record.strategyVersion)) throw new UnreadableRecord(`strategy of the run ${record.id}`, message);
    throw new RunError("STRATEGY_FAILED", message);
  }
  return {
    identity: builtin.slug,
    moduleSha256: null,
    lookback: Math.max(builtin.lookback_candles, lookbackOf(builtin, parameters)),
    toRun: (task, { sha256 }) => ({
      kind: "builtin",
      task: { ...task, candlesSha256: sha256, slug: builtin.slug, parameters },
    }),
  };
}

/** True for a version of the engine that is above ours. */
function isNewer(version: string | null): boolean {
  return (version ?? "").localeCompare(ENGINE_VERSION, "en", { numeric: true }) > 0;
}

function lookbackOf(builtin: Builtin, parameters: Parameters): number {
  try {
    const { warmup, lookback = 0 } = builtin.create(parameters);
    return Math.max(warmup, lookback);
  } catch (error) {
    if (error instanceof RangeError) throw new RunError("STRATEGY_FAILED", error.message);
    throw error;
  }
}
