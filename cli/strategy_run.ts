import { basename, resolve } from "node:path";
import { Command } from "@commander-js/extra-typings";
import { type Execution, resolveExecution } from "../engine/execution.ts";
import { validationFailed } from "../routers/common/errors.ts";
import { executionRequestSchema } from "../routers/runs/execution_request.ts";
import { sampleCandles } from "../workers/sandbox/sample_candles.ts";
import { prepareLanguage, tryCode, tryEndpoint } from "../workers/checks/conformance.ts";
import { usageError } from "./exit_codes.ts";
import { invocationFolder, manyMarketsInstead, SERVICE_URL } from "./invocation.ts";
import { daysOf, type LocalCandles, readLocalCandles } from "./local_candles.ts";
import { fetchCandles, type ServiceCandles } from "./service_candles.ts";
import {
  isEndpoint,
  languageOf,
  readLookback,
  readMode,
  readModule,
  readParameters,
  readScript,
} from "./strategy_check.ts";
import { documentOf, show } from "./strategy_report.ts";
import { inColor, type Paint, say, showsColor, warn, withoutColor } from "./terminal.ts";
import { COMMISSION_OPTION, type CostOptions, EXECUTION_OPTION, readCosts, SLIPPAGE_OPTION } from "./values.ts";

const HELP = `
Without --data and --symbol it runs over 512 generated days. A stock has the trading days of its exchange, those of New
York by default.

Exit code 0: the run completed, whatever its integrity, unless --strict is given. 1: it failed, or could not begin, with
the reason.`;

const DAY_MS = 86_400_000;
/** Editors write a file in more than one step. */
const QUIET_MS = 50;

interface Settings {
  /** The path of a script or a module, or the URL of an endpoint. */
  readonly target: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly data: Pick<LocalCandles, "candles" | "timeframeMs"> & {
    readonly tradingDays: ReturnType<typeof daysOf>;
  };
  readonly assetClass: "forex" | "crypto" | "stock";
  readonly initialBalance: number;
  readonly mode: "batch" | "step";
  readonly lookbackCandles: number;
  readonly execution: Execution;
  readonly isStrict: boolean;
  readonly isJson: boolean;
  readonly paint: Paint;
}

/** `hindcast strategy run`. */
export const tryCommand = new Command("run")
  .description("Run a strategy over candles of yours or of a service, without a registration, and show the result")
  .argument("<strategy>", "a file (.ts, .py, .wasm) or the URL of an endpoint")
  .option("--data <file>", "candles of a file: any that an import takes")
  .option("--symbol <symbol>", "a market of a service, as DEMO or DEMO@SAMPLE, with --from and --to")
  .option("--from <day>", "the first day, as in 2024-01-01")
  .option("--to <day>", "the day after the last")
  .option("--exchange <exchange>", "the exchange, where several have the symbol")
  .option("--service <url>", "where the service listens", SERVICE_URL)
  .option(
    "--timeframe <t>",
    "the length of a candle (default: with --symbol 1h, else the distance of the file's first lines)",
  )
  .option("--asset-class <class>", "forex, crypto or stock (default: as the service says, or the file's weekends)")
  .option("--mode <mode>", "how an endpoint is asked: batch or step", "batch")
  .option("--lookback <candles>", "how many earlier candles an endpoint sees", "100")
  .option("--parameters <json>", "the strategy's own parameters, as one object", "{}")
  .option("--balance <money>", "the capital at the start", "10000")
  .option(...COMMISSION_OPTION)
  .option(...SLIPPAGE_OPTION)
  .option(...EXECUTION_OPTION)
  .option("--strict", "end with 1 if an integrity check failed")
  .option("--json", "print the result as one JSON document")
  .option("--watch", "run again each time the script or the module is saved")
  .option("--color", "use colours even if the output is no terminal")
  .addHelpText("after", HELP)
  .action(runStrategy);

interface RunOptions extends CandleOptions, CostOptions {
  readonly assetClass?: string | undefined;
  readonly mode: string;
  readonly lookback: string;
  readonly parameters: string;
  readonly balance: string;
  readonly strict?: true | undefined;
  readonly json?: true | undefined;
  readonly watch?: true | undefined;
  readonly color?: true | undefined;
}

/** @throws Error When the arguments cannot be used or a file cannot be read, with the reason. */
async function runStrategy(target: string, values: RunOptions): Promise<void> {
  const initialBalance = Number(values.balance);
  if (!(initialBalance > 0)) throw usageError(`Cannot start with ${values.balance}: --balance must be above 0`);
  if (values.watch === true && isEndpoint(target)) {
    throw usageError("Cannot watch an endpoint: --watch is for the file of a script or a module");
  }
  const isJson = values.json === true;
  if (isJson && values.watch === true) throw usageError("Cannot use --json with --watch: it prints one document");
  const tell = isJson ? () => {} : say;
  const found = await findCandles(values, tell);
  const assetClass = readAssetClass(values.assetClass ?? found.assetClass);
  const settings = {
    target: isEndpoint(target) ? target : resolve(invocationFolder(), target),
    parameters: readParameters(values.parameters, target),
    data: { ...found, tradingDays: daysOf(found, { assetClass, exchange: found.exchange }) },
    assetClass,
    initialBalance,
    mode: readMode(values.mode),
    lookbackCandles: readLookback(values.lookback),
    execution: readExecution(values, assetClass, found.timeframeMs),
    isStrict: values.strict === true,
    isJson,
    paint: values.color ?? showsColor() ? inColor : withoutColor,
  };
  if (values.watch === true) return await watch(settings);
  if (!await runOnce(settings)) Deno.exit(1);
}

interface CandleOptions {
  readonly data?: string | undefined;
  readonly symbol?: string | undefined;
  readonly exchange?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly service: string;
  readonly timeframe?: string | undefined;
}

/** The candles that the options ask for: of a file, of a service, or generated ones. */
async function findCandles({ data, ...options }: CandleOptions, tell: typeof say): Promise<ServiceCandles> {
  const { from, to, service, timeframe } = options;
  const { symbol, exchange } = readMarketOf(options);
  if (symbol !== undefined) {
    if (data !== undefined) throw usageError("Cannot run over both --data and --symbol: choose one");
    if (from === undefined || to === undefined) {
      throw usageError(`Cannot run over ${symbol} without --from and --to`);
    }
    const found = await fetchCandles({ service, symbol, exchange, from, to, timeframe: timeframe ?? "1h" });
    tell(
      `${symbol}: ${found.candles.time.length.toLocaleString("en-US")} candles of ${timeframe ?? "1h"} from ${service}`,
    );
    return found;
  }
  if (from !== undefined || to !== undefined) throw usageError("Cannot use --from and --to without --symbol");
  const made = { timeframe: "1d", timeframeMs: DAY_MS, assetClass: "crypto" } as const;
  if (data === undefined) return { candles: sampleCandles(), ...made, exchange: "" };
  const file = await readLocalCandles(resolve(invocationFolder(), data), timeframe);
  describeFile(data, file, tell);
  return { ...file, assetClass: file.restsOnWeekends ? "stock" : "crypto", exchange: exchange ?? "" };
}

/** The symbol and the exchange, where `DEMO@SAMPLE` may name both. */
function readMarketOf({ symbol, exchange }: CandleOptions): Pick<CandleOptions, "symbol" | "exchange"> {
  // Symbols may hold an @.
  const at = symbol?.lastIndexOf("@") ?? -1;
  if (symbol === undefined || exchange !== undefined || at < 1) return { symbol, exchange };
  return { symbol: symbol.slice(0, at), exchange: symbol.slice(at + 1) };
}

/** The rules of a run, with all defaults. @throws CommandError for settings that a backtest could not have either. */
function readExecution(costs: CostOptions, assetClass: Settings["assetClass"], timeframeMs: number | null): Execution {
  const read = executionRequestSchema.safeParse(readCosts(costs) ?? {});
  if (!read.success) throw usageError(validationFailed(read.error, "--execution").message);
  if (read.data.benchmark === undefined) return resolveExecution(read.data, assetClass, timeframeMs);
  throw usageError("Cannot use --execution with a benchmark: only the service has other instruments");
}

function readAssetClass(text: string): Settings["assetClass"] {
  if (text === "forex" || text === "crypto" || text === "stock") return text;
  throw usageError(`Cannot use --asset-class ${text}: it must be forex, crypto or stock`);
}

function describeFile(
  path: string,
  { candles, timeframe, rejectedCount, rejected }: LocalCandles,
  tell: typeof say,
): void {
  const count = candles.time.length.toLocaleString("en-US");
  tell(`${basename(path)}: ${count} candles of ${timeframe}, ${rejectedCount} lines rejected`);
  for (const { line, reason } of rejected.slice(0, 5)) tell(`  line ${line}: ${reason}`);
}

async function watch(settings: Settings): Promise<void> {
  // Editors replace the file, so its folder is watched; from before the first run, which a save may overtake.
  const changes = Deno.watchFs(resolve(settings.target, ".."));
  let running = runOnce(settings);
  void running.then(() => say(`\nWatching ${basename(settings.target)}: save it to run again, Ctrl+C ends.`));
  let timer: ReturnType<typeof setTimeout> | undefined;
  for await (const { paths, kind } of changes) {
    if (kind === "access" || !paths.includes(settings.target)) continue;
    clearTimeout(timer);
    timer = setTimeout(() => running = running.then(() => runOnce(settings)), QUIET_MS);
  }
}

/** Runs the strategy and prints its result. @returns True if it completed, and held what --strict asks for. */
async function runOnce(
  { target, paint, data, mode, lookbackCandles, isStrict, isJson, ...trial }: Settings,
): Promise<boolean> {
  const begun = performance.now();
  const complain = isJson ? warn : say;
  try {
    const outcome = isEndpoint(target)
      ? (await tryEndpoint({ ...trial, url: target, mode, lookbackCandles, data: { ...trial, ...data } })).outcome
      : await tryCode({ ...trial, ...data, code: await readCode(target) }, new AbortController().signal);
    const seconds = ((performance.now() - begun) / 1000).toFixed(2);
    if (outcome.type === "completed") {
      if (isJson) say(JSON.stringify(documentOf(outcome, trial.execution), null, 2));
      else {
        const count = data.candles.time.length.toLocaleString("en-US");
        say(`\n${paint("bold", isEndpoint(target) ? target : basename(target))}: ${count} candles in ${seconds} s`);
        show(outcome, data.candles.time, trial.execution, paint);
      }
      return !isStrict || Object.values(outcome.integrity).every(({ status }) => status !== "failed");
    }
    complain(paint("red", `\n${outcome.type === "failed" ? describeFailure(outcome, target) : outcome.type}`));
  } catch (error) {
    complain(paint("red", error instanceof Error ? error.message : String(error)));
  }
  return false;
}

/** Tells what failed, or what to do instead. */
function describeFailure({ code, message }: { readonly code: string; readonly message: string }, target: string) {
  return manyMarketsInstead("run", message, target) ?? `${code}: ${message}`;
}

async function readCode(path: string): Promise<Parameters<typeof tryCode>[0]["code"]> {
  const language = languageOf(path);
  if (language === null) return await readModule(path);
  await prepareLanguage(language);
  return { source: await readScript(path), language };
}
