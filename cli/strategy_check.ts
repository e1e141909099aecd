import { basename, resolve } from "node:path";
import { Command } from "@commander-js/extra-typings";
import {
  allowOwn,
  type EndpointTrial,
  explainRefusal,
  MODULE_BYTES_MAX,
  prepareLanguage,
  tryEndpoint,
  tryPortfolioEndpoint,
  validateModule,
  validateScript,
} from "../workers/checks/conformance.ts";
import type { Integrity } from "../engine/result.ts";
import type { Outcome } from "../workers/common/outcome.ts";
import type { DryRun, SandboxMarkets, SandboxRun, ScriptLanguage } from "../workers/sandbox/task.ts";
import { RESERVED_PARAMETERS, undeclared } from "../routers/strategies/parameters.ts";
import { usageError } from "./exit_codes.ts";
import { invocationFolder } from "./invocation.ts";
import { say, stop } from "./terminal.ts";
import { readObject } from "./values.ts";

const HELP = `
A script or a module is checked and runs over 512 generated candles in a sandbox process of its own
(strategies/SCRIPTS.md, strategies/PYTHON.md, strategies/ABI.md). An endpoint runs over the same candles as in a
backtest, by default in both modes for one market, with its integrity checks (strategies/REMOTE.md); in mode portfolio
it decides on three generated markets at once. It may be on your own machine.

Exit code 0: accepted. 1: not accepted, with the reason.`;

const MODES = ["batch", "step"] as const;
const LOOKBACK_CANDLES_MAX = 10_000;
const MIB = 2 ** 20;

type Parameters = Readonly<Record<string, unknown>>;

/** `hindcast strategy check`. */
export const checkCommand = new Command("check")
  .description("Check a strategy as a registration does, without a service")
  .argument("<strategy>", "a file (.ts, .py, .wasm) or the URL of an endpoint")
  .option("--parameters <json>", "the strategy's own parameters, as one object", "{}")
  .option("--mode <mode>", "ask an endpoint in this mode alone: batch, step or portfolio")
  .option("--lookback <candles>", "how many earlier candles an endpoint sees", "100")
  .option("--input <names...>", "inputs that an endpoint reads: generated candles of four days")
  .addHelpText("after", HELP)
  .action(checkStrategy);

interface CheckOptions {
  readonly parameters: string;
  readonly mode?: string | undefined;
  readonly lookback: string;
  readonly input?: readonly string[] | undefined;
}

/** @throws Error When the arguments cannot be used or the file cannot be read, with the reason. */
async function checkStrategy(target: string, values: CheckOptions): Promise<void> {
  const parameters = readParameters(values.parameters, target);
  if (languageOf(target) !== null) return await checkScriptFile(resolve(invocationFolder(), target), parameters);
  if (!isEndpoint(target)) return await checkModuleFile(resolve(invocationFolder(), target), parameters);
  const endpoint = {
    ...{ url: target, parameters, lookbackCandles: readLookback(values.lookback), inputs: values.input ?? [] },
  };
  if (values.mode === "portfolio") return await conclude(target, [await tryPortfolio(endpoint)]);
  const modes = values.mode === undefined ? MODES : [readMode(values.mode)];
  const tried = [];
  for (const mode of modes) tried.push(await tryMode({ ...endpoint, mode }));
  await conclude(target, tried);
}

/** The language of a script's file; null: it is none. */
export function languageOf(path: string): ScriptLanguage | null {
  if (/\.py$/.test(path)) return "python";
  return /\.[jt]s$/.test(path) ? "typescript" : null;
}

/** The value of --mode. @throws {RangeError} */
export function readMode(text: string): EndpointTrial["mode"] {
  const mode = MODES.find((known) => known === text);
  if (mode === undefined) throw usageError(`Cannot use the mode ${text}: --mode must be batch or step`);
  return mode;
}

/** The value of --lookback. @throws {RangeError} */
export function readLookback(text: string): number {
  const candles = Number(text);
  if (Number.isInteger(candles) && candles >= 0 && candles <= LOOKBACK_CANDLES_MAX) return candles;
  throw usageError(`Cannot look back ${text} candles: --lookback must be 0 to ${LOOKBACK_CANDLES_MAX}`);
}

/** True for the URL of an endpoint. */
export function isEndpoint(target: string): boolean {
  return /^https?:\/\//i.test(target);
}

/** Substitutes for parameters that mean the run. */
const HINTS: Readonly<Record<string, string>> = {
  execution: "; strategy run has --execution",
  timeframe: "; strategy run has --timeframe",
  inputs: '; only a service has inputs, and resample(candles, "1d") in prepare makes longer candles of the run\'s own',
};

/** The value of --parameters: the target's own. @throws CommandError for names that mean the run. */
export function readParameters(text: string, target: string): Parameters {
  const parameters = readObject("--parameters", text);
  const reserved = RESERVED_PARAMETERS.find((name) => Object.hasOwn(parameters, name));
  if (reserved === undefined) return languageOf(target) === null ? parameters : undeclared(parameters);
  throw usageError(
    `Cannot use --parameters with ${reserved}: it is no parameter of a strategy${HINTS[reserved] ?? ""}`,
  );
}

async function checkModuleFile(path: string, parameters: Parameters): Promise<void> {
  const module = await readModule(path);
  const outcome = await validateModule(module, parameters, { signal: new AbortController().signal });
  if (outcome.type === "failed") return stop(`Not accepted, ${outcome.code}: ${outcome.message}`);
  if (outcome.type !== "completed") throw new Error(`Cannot check the module: ${describe(outcome)}`);
  const { report, log } = outcome;
  const memoryMib = [report.memoryBytesMin, report.memoryBytesMax].map((bytes) => (bytes / MIB).toFixed(1));
  say(`${basename(path)}: ${count(module.length, "byte")}, ABI version ${report.abiVersion}`);
  row("memory", `${memoryMib[0]} MiB at first, ${memoryMib[1]} MiB at most`);
  printDryRun(report, log);
  say(`${verdict(report)}: a registration with these parameters as default_config would take this module.`);
}

async function checkScriptFile(path: string, parameters: Parameters): Promise<void> {
  const source = await readScript(path);
  const language = languageOf(path) ?? "typescript";
  await prepareLanguage(language);
  const outcome = await validateScript({ source, language, parameters }, { signal: new AbortController().signal });
  if (outcome.type === "failed") return stop(`Not accepted, ${outcome.code}: ${outcome.message}`);
  if (outcome.type !== "completed") throw new Error(`Cannot check the script: ${describe(outcome)}`);
  say(`${basename(path)}: ${count(new TextEncoder().encode(source).length, "byte")}`);
  printDryRun(outcome.report, outcome.log);
  say(`${verdict(outcome.report)}: a registration with these parameters as default_config would take this script.`);
}

function printDryRun(report: DryRun, log: readonly string[]): void {
  row("warm-up", `first decision with ${count(report.warmup, "candle")} visible`);
  row("dry run", `${count(report.candles, "candle")}, ${count(report.orders, "order")}`);
  row("orders", `${report.refused.status}: ${report.refused.evidence}`);
  row("time", `${count(report.nanosecondsPerCandle, "nanosecond")} a candle, not yet optimised`);
  for (const note of report.notes) row("note", note);
  for (const line of log) row("log", line);
}

function verdict({ orders }: Pick<DryRun, "orders">): string {
  return orders > 0 ? "Accepted" : "Accepted, but no order was tried";
}

/** The text of a script. @throws Error When the file cannot be read. */
export async function readScript(path: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    const reason = error instanceof Deno.errors.NotFound ? "the file does not exist" : messageOf(error);
    throw new Error(`Cannot read the script ${path}: ${reason}`);
  }
}

/** The bytes of a module. @throws Error When the file cannot be read. */
export async function readModule(path: string): Promise<Uint8Array> {
  try {
    const { size } = await Deno.stat(path);
    if (size <= MODULE_BYTES_MAX) return await Deno.readFile(path);
    throw usageError(`it has ${size} bytes: at most ${MODULE_BYTES_MAX} are allowed`);
  } catch (error) {
    const reason = error instanceof Deno.errors.NotFound ? "the file does not exist" : messageOf(error);
    throw new Error(`Cannot read the module ${path}: ${reason}`);
  }
}

/** The result of trying an endpoint. `isAccepted`: the endpoint decided on every candle and passed the checks of the protocol. */
interface Tried {
  readonly isAccepted: boolean;
  readonly orders: number;
}

async function conclude(url: string, tried: readonly Tried[]): Promise<void> {
  if (tried.some(({ isAccepted }) => !isAccepted)) {
    stop("Not accepted: it does not follow strategies/REMOTE.md, see above.");
  }
  const orders = Math.min(...tried.map((each) => each.orders));
  say(`${verdict({ orders })}: it follows the protocol with these parameters.`);
  const refusal = await explainRefusal(url);
  if (refusal === null) return;
  const [host] = allowOwn(url);
  say(`Start the service with REMOTE_ENDPOINT_ALLOW=${host} to use it. Without that: ${refusal}.`);
}

async function tryPortfolio(trial: Omit<EndpointTrial, "mode" | "data">): Promise<Tried> {
  const { outcome, elapsedMs } = await tryPortfolioEndpoint(trial);
  return report(`${trial.url}, mode portfolio`, outcome, elapsedMs);
}

async function tryMode(trial: EndpointTrial): Promise<Tried> {
  const { outcome, elapsedMs } = await tryEndpoint(trial);
  return report(`${trial.url}, mode ${trial.mode}`, outcome, elapsedMs);
}

function report(title: string, outcome: Outcome<SandboxRun | SandboxMarkets>, elapsedMs: number): Tried {
  say(title);
  if (outcome.type === "failed") {
    row("failed", `${outcome.code}: ${outcome.message}`);
    return { isAccepted: false, orders: 0 };
  }
  if (outcome.type !== "completed") throw new Error(`Cannot try the endpoint: ${describe(outcome)}`);
  const { result, integrity } = outcome;
  const candles = result.equity.length;
  row("dry run", `${count(candles, "candle")}, ${count(result.orders.count, "order")}`);
  row("time", `${count(Math.round(1000 * elapsedMs / candles), "microsecond")} a candle, checks and start included`);
  for (const note of result.notes) row("note", note);
  return { isAccepted: printFindings(integrity), orders: result.orders.count };
}

function printFindings(integrity: Integrity): boolean {
  for (const [name, { status, evidence }] of Object.entries(integrity)) row(name, `${status}: ${evidence}`);
  // The protocol allows orders that the simulator refuses.
  return [integrity.lookahead, integrity.determinism, integrity.warm_up].every(({ status }) => status !== "failed");
}

function row(name: string, text: string): void {
  say(`  ${name.padEnd(12)}${text}`);
}

function count(value: number, unit: string): string {
  return `${value.toLocaleString("en")} ${unit}${value === 1 ? "" : "s"}`;
}

/** An outcome that is no verdict about the strategy. */
function describe(outcome: { readonly type: string; readonly message?: string }): string {
  return outcome.message ?? "this machine is too busy to finish the check; try again later";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
