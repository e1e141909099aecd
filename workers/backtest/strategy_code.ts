/** Reads the strategy's code from a record, for runs over one market and over many. */
import { Buffer } from "node:buffer";
import process from "node:process";
import type { Db } from "../../db/client.ts";
import { readRecord, requireName, UnreadableRecord } from "../../db/codec/unreadable.ts";
import { readModule } from "../../db/modules.ts";
import { CODE_FORMATS, type SandboxRuntime } from "../../db/schema.ts";
import { ENGINE_VERSION } from "../../engine/version.ts";
import { RunError } from "../common/outcome.ts";
import { readVersions } from "../sandbox/interpreter_files.ts";
import { ZONE_IMPORT } from "../sandbox/contracts/abi.ts";
import type { ScriptJob, WasmJob } from "../sandbox/task.ts";
import type { Parameters, RunRecord } from "./run_settings.ts";

/** A user's module or script, ready for a sandbox. */
interface StrategyCode {
  /** The strategy's part of the run's key. */
  readonly identity: unknown;
  readonly moduleSha256: string;
  /** Candles that the strategy needs before the start date. */
  readonly lookback: number;
  readonly code:
    | Omit<WasmJob, "kind" | "task" | "lookbackWanted">
    | Omit<ScriptJob, "kind" | "task" | "lookbackWanted">;
}

/** The runtime of a record. @throws {UnreadableRecord} For a kind of code, or a language, that this build does not run. */
export function readRuntime({ id, runtime }: RunRecord): SandboxRuntime | null {
  return readRecord(`strategy of the run ${id}`, () => {
    requireName([...CODE_FORMATS, "remote"], runtime?.type ?? "remote", "kind of strategy");
    if (runtime?.type === "script") requireName(["typescript", "python"], runtime.language ?? "typescript", "language");
    return runtime;
  });
}

/** The mode of an endpoint in a run over one market. @throws {RunError} STRATEGY_FAILED for one that decides on many. */
export function modeForOneMarket(
  { mode }: Extract<SandboxRuntime, { readonly type: "remote" }>,
): "batch" | "step" {
  if (mode !== "portfolio") return mode;
  const message = "Cannot run an endpoint of mode portfolio over one market: the run needs instruments or a universe";
  throw new RunError("STRATEGY_FAILED", message);
}

/** Reads the code of a record. @throws {RunError} STRATEGY_FAILED when it is gone. */
export async function readCode(
  db: Db,
  runtime: Exclude<SandboxRuntime, { readonly type: "remote" }>,
  parameters: Parameters,
): Promise<StrategyCode> {
  const { sha256, minCandles, lookbackCandles } = runtime;
  const module = await readModule(db, sha256);
  if (module === null) throw new RunError("STRATEGY_FAILED", `Cannot find the code ${sha256}`);
  const common = { parametersJson: JSON.stringify(parameters), candlesMin: minCandles };
  return {
    identity: { sha256, minCandles, ...await versionsOf(runtime, module) },
    moduleSha256: sha256,
    lookback: Math.max(minCandles, lookbackCandles),
    code: runtime.type === "wasm" ? { module, ...common } : {
      source: new TextDecoder().decode(module),
      language: runtime.language ?? "typescript",
      ...common,
    },
  };
}

/**
 * Makes the built-in strategy of a record.
 *
 * @param create Returns undefined where this build has no strategy of that slug.
 * @throws {UnreadableRecord} For a strategy that only a newer build has.
 * @throws {RunError} STRATEGY_FAILED when it is gone, or when its parameters contradict each other beyond its schema.
 */
export function createBuiltin<Strategy>(
  { id, strategySlug, strategyVersion }: RunRecord,
  create: (slug: string) => Strategy | undefined,
): Strategy {
  let strategy: Strategy | undefined;
  try {
    strategy = create(strategySlug ?? "");
  } catch (error) {
    if (error instanceof RangeError) throw new RunError("STRATEGY_FAILED", error.message);
    throw error;
  }
  if (strategy !== undefined) return strategy;
  const message = `Cannot find the strategy ${strategySlug}`;
  if (isNewer(strategyVersion)) throw new UnreadableRecord(`strategy of the run ${id}`, message);
  throw new RunError("STRATEGY_FAILED", message);
}

/** Versions that code's result depends on: another V8 may round a script's sine otherwise, and time zones change their rules. */
async function versionsOf(
  { type, language }: Exclude<SandboxRuntime, { readonly type: "remote" }>,
  code: Uint8Array,
): Promise<Readonly<Record<string, unknown>>> {
  const { tz = "" } = process.versions;
  // A module that imports it has its import's name among its bytes. Others keep the key that they had before.
  if (type === "wasm") {
    return Buffer.from(code.buffer, code.byteOffset, code.length).includes(ZONE_IMPORT) ? { tz } : {};
  }
  return language === "python" ? { ...await readVersions(), tz } : { v8: Deno.version.v8, tz };
}

function isNewer(version: string | null): boolean {
  return (version ?? "").localeCompare(ENGINE_VERSION, "en", { numeric: true }) > 0;
}
