import type { Candles } from "../../engine/candles.ts";
import { type AssetClass, type Execution, resolveExecution } from "../../engine/execution.ts";
import type { TradingDayColumns } from "../../engine/metrics/input.ts";
import { guardEndpoint, permissionFor } from "../egress/guard.ts";
import type { RemoteMarketsTask, RemoteTask } from "../common/remote_task.ts";
import { buildInterpreter } from "../sandbox/python/build_interpreter.ts";
import {
  SANDBOX_BYTES_MAX,
  type SandboxMarkets,
  type SandboxRun,
  type ScriptLanguage,
  type ValidModule,
  type ValidScript,
} from "../sandbox/task.ts";
import { candlesToDecide, SAMPLE_TIMEFRAME_MS, sampleInput } from "../sandbox/sample_candles.ts";
import { sampleMarkets } from "../sandbox/sample_markets.ts";
import { type Outcome, RunError } from "../common/outcome.ts";
import { runInSandbox, type SandboxLimits } from "../sandbox/process.ts";
import { MODULE } from "../sandbox/contracts/abi.ts";

export const MODULE_BYTES_MAX = MODULE.bytesMax;

const VALIDATION_LIMITS = {
  cpuMsMax: 5000,
  // On a busy machine the same computing takes longer. The caller waits a little longer still for the verdict.
  deadlineMs: 12_000,
  memoryBytesMax: SANDBOX_BYTES_MAX,
  onProgress: () => {},
} as const;
const REQUEST_MS_MAX = 10_000;
const ENDPOINT_MS_MAX = 120_000;
const RUN_MS_MAX = 600_000;
const BALANCE = 10_000;

/** Ends a check, and gives it a process that waits. */
type CheckLimits = Pick<SandboxLimits, "signal" | "spares">;

/**
 * Checks a module as its registration does: structure, then a dry run over sample candles, in a process of its own.
 *
 * @param parameters The strategy's own, defaults filled in.
 * @returns `completed` with a report, or `failed` with the reason.
 */
export async function validateModule(
  module: Uint8Array,
  parameters: Readonly<Record<string, unknown>>,
  within: CheckLimits,
): Promise<Outcome<ValidModule>> {
  return await runInSandbox(
    { kind: "validate", module, parametersJson: JSON.stringify(parameters), candlesMin: 1 },
    { ...VALIDATION_LIMITS, ...within },
  );
}

/**
 * Checks a script as its registration does: types stripped, compiled, and a dry run over sample candles, in a process of its own.
 *
 * @returns `completed` with a report, or `failed` with the reason.
 */
export async function validateScript(
  { source, language, parameters }: ScriptTrial,
  within: CheckLimits & Pick<SandboxLimits, "jitless">,
): Promise<Outcome<ValidScript>> {
  return await runInSandbox(
    { kind: "check_script", source, language, parametersJson: JSON.stringify(parameters), candlesMin: 1 },
    { ...VALIDATION_LIMITS, ...within },
  );
}

/** Makes what scripts of a language need: the interpreter of Python, which may take a minute. */
export async function prepareLanguage(language: ScriptLanguage): Promise<void> {
  if (language === "python") await buildInterpreter();
}

/** A script's text and its own parameters, defaults filled in. */
interface ScriptTrial {
  readonly source: string;
  readonly language: ScriptLanguage;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** A module's bytes, or a script's text, and its own parameters. */
interface CodeTrial {
  readonly code: Uint8Array | Pick<ScriptTrial, "source" | "language">;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly candles: Candles;
  /** Length of a candle; null for calendar months. */
  readonly timeframeMs: number | null;
  readonly assetClass: AssetClass;
  readonly initialBalance: number;
  /** Null: days of UTC. */
  readonly tradingDays: TradingDayColumns | null;
  /** Complete rules. */
  readonly execution: Execution;
}

/** Runs a user's code over candles as a backtest would, integrity checks included. */
export async function tryCode(trial: CodeTrial, signal: AbortSignal): Promise<Outcome<SandboxRun>> {
  const { code, parameters, candles, timeframeMs, assetClass, initialBalance, tradingDays, execution } = trial;
  const task = {
    candles,
    firstIndex: 0,
    initialBalance,
    execution,
    timeframeMs,
    assetClass,
    tradingDays,
    finer: null,
    seed: 1,
  };
  const common = { parametersJson: JSON.stringify(parameters), candlesMin: 1, lookbackWanted: null, task };
  const limits = { deadlineMs: RUN_MS_MAX, memoryBytesMax: SANDBOX_BYTES_MAX, onProgress: () => {}, signal };
  return code instanceof Uint8Array
    ? await runInSandbox({ kind: "run", module: code, ...common }, limits)
    : await runInSandbox({ kind: "script", ...code, ...common }, limits);
}

/** An endpoint and how to call it. */
export interface EndpointTrial {
  readonly url: string;
  /** The strategy's own, defaults filled in. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly mode: RemoteTask["mode"];
  readonly lookbackCandles: number;
  /** Names of inputs, which are made-up candles; absent: none. */
  readonly inputs?: readonly string[];
  /** The candles to run over; absent: the sample candles. */
  readonly data?: Pick<
    CodeTrial,
    "candles" | "timeframeMs" | "assetClass" | "initialBalance" | "tradingDays" | "execution"
  >;
}

/** The outcome of a trial. */
interface EndpointVerdict {
  readonly outcome: Outcome<SandboxRun>;
  /** From the start of its process to the end, integrity checks included. */
  readonly elapsedMs: number;
}

/**
 * Runs an endpoint's strategy over candles as a backtest would, integrity checks included. Any host is allowed: the
 * caller is on their own machine.
 *
 * @throws {RunError} When the URL cannot be called, or its name has no address.
 */
export async function tryEndpoint(trial: EndpointTrial): Promise<EndpointVerdict> {
  const { url, parameters, mode, lookbackCandles, inputs = [], data } = trial;
  const { assetClass = "crypto", timeframeMs = SAMPLE_TIMEFRAME_MS } = data ?? {};
  const candles = data?.candles ?? candlesToDecide(lookbackCandles);
  const task: RemoteTask = {
    runId: crypto.randomUUID(),
    endpoint: await guardEndpoint(url, { allow: allowOwn(url) }),
    mode,
    timeoutMs: REQUEST_MS_MAX,
    lookbackCandles,
    minCandles: 1,
    parameters,
    candles,
    inputs: inputs.map((name) => ({ ...sampleInput(candles), name })),
    firstIndex: 0,
    initialBalance: data?.initialBalance ?? BALANCE,
    execution: data?.execution ?? resolveExecution({}, assetClass, timeframeMs),
    timeframeMs,
    assetClass: data?.assetClass ?? null,
    tradingDays: data?.tradingDays ?? null,
    seed: 1,
  };
  const begun = performance.now();
  const outcome = await runInSandbox({ kind: "remote", task }, {
    deadlineMs: data === undefined ? ENDPOINT_MS_MAX : RUN_MS_MAX,
    memoryBytesMax: SANDBOX_BYTES_MAX,
    address: permissionFor(task.endpoint),
    onProgress: () => {},
    signal: new AbortController().signal,
  });
  return { outcome, elapsedMs: performance.now() - begun };
}

/**
 * Runs an endpoint in mode `portfolio` over three made-up markets as a backtest would, integrity checks included.
 *
 * @throws {RunError} As tryEndpoint().
 */
export async function tryPortfolioEndpoint(
  { url, parameters, lookbackCandles, inputs = [] }: Omit<EndpointTrial, "mode" | "data">,
): Promise<{ readonly outcome: Outcome<SandboxMarkets>; readonly elapsedMs: number }> {
  const endpoint = await guardEndpoint(url, { allow: allowOwn(url) });
  const task: RemoteMarketsTask = {
    ...{ runId: crypto.randomUUID(), endpoint, mode: "portfolio", every: null, timeoutMs: REQUEST_MS_MAX },
    ...{ lookbackCandles, minCandles: 1, parameters, positionsMax: 3, rank: "listed", seed: 1 },
    markets: sampleMarkets(inputs),
    initialBalance: BALANCE,
    execution: resolveExecution({}, "crypto", SAMPLE_TIMEFRAME_MS),
    timeframeMs: SAMPLE_TIMEFRAME_MS,
  };
  const begun = performance.now();
  const outcome = await runInSandbox({ kind: "remote_markets", task }, {
    deadlineMs: ENDPOINT_MS_MAX,
    memoryBytesMax: SANDBOX_BYTES_MAX,
    address: permissionFor(endpoint),
    onProgress: () => {},
    signal: new AbortController().signal,
  });
  return { outcome, elapsedMs: performance.now() - begun };
}

/**
 * Explains why a service without REMOTE_ENDPOINT_ALLOW would not call an endpoint; null if it would.
 *
 * @throws {RunError} When its name has no address.
 */
export async function explainRefusal(url: string): Promise<string | null> {
  try {
    await guardEndpoint(url, { allow: new Set() });
    return null;
  } catch (error) {
    if (error instanceof RunError && error.code === "ENDPOINT_NOT_ALLOWED") return error.message;
    throw error;
  }
}

/** The egress rule that allows the URL's own host, in the form that guardEndpoint() compares. */
export function allowOwn(text: string): ReadonlySet<string> {
  const url = URL.parse(text);
  if (url === null) return new Set();
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : url.port;
  return new Set([`${url.hostname.replace(/\.$/, "")}:${port}`]);
}
