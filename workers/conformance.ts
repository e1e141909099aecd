import type { Candles } from "../engine/candles.ts";
import { resolveExecution } from "../engine/execution.ts";
import { type EgressRules, guardEndpoint, permissionFor } from "./egress.ts";
import type { RemoteTask } from "./protocol.ts";
import { SAMPLE_TIMEFRAME_MS, sampleCandles } from "./sandbox/sample_candles.ts";
import { runInSandbox, SANDBOX_BYTES_MAX, type SandboxOutcome } from "./sandbox_process.ts";

const VALIDATION_MS_MAX = 5000;
const REQUEST_MS_MAX = 10_000;
const ENDPOINT_MS_MAX = 120_000;
const BALANCE = 10_000;

/**
 * Judges a module as its registration does: structure, then a dry run over sample candles, in a process of its own.
 *
 * @param parameters The strategy's own, defaults filled in.
 * @returns `valid` with a report, or `failed` with the reason in words.
 */
export async function validateModule(
  module: Uint8Array,
  parameters: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<SandboxOutcome> {
  return await runInSandbox(
    { kind: "validate", module, parametersJson: JSON.stringify(parameters), candlesMin: 1 },
    { deadlineMs: VALIDATION_MS_MAX, memoryBytesMax: SANDBOX_BYTES_MAX, onProgress: () => {}, signal },
  );
}

/** How an endpoint is tried. */
export interface EndpointTrial {
  readonly url: string;
  /** The strategy's own, defaults filled in. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly mode: RemoteTask["mode"];
  readonly lookbackCandles: number;
}

/**
 * Runs an endpoint's strategy over the candles that modules are tried on, as a backtest would, integrity checks included.
 *
 * @returns `done` with the result, or `failed` with the reason in words.
 * @throws {RunError} When the rules do not let it be called, or its name has no address.
 */
export async function tryEndpoint(trial: EndpointTrial, rules: EgressRules): Promise<SandboxOutcome> {
  const { url, parameters, mode, lookbackCandles } = trial;
  const candles: Candles = sampleCandles();
  const task: RemoteTask = {
    runId: crypto.randomUUID(),
    endpoint: await guardEndpoint(url, rules),
    mode,
    timeoutMs: REQUEST_MS_MAX,
    lookbackCandles,
    minCandles: 1,
    parameters,
    candles,
    firstIndex: 0,
    initialBalance: BALANCE,
    execution: resolveExecution({}, "crypto"),
    timeframeMs: SAMPLE_TIMEFRAME_MS,
    seed: 1,
  };
  return await runInSandbox({ kind: "remote", task }, {
    deadlineMs: ENDPOINT_MS_MAX,
    memoryBytesMax: SANDBOX_BYTES_MAX,
    address: permissionFor(task.endpoint),
    onProgress: () => {},
    signal: new AbortController().signal,
  });
}
