import { basename, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Integrity } from "../engine/result.ts";
import { EXIT_REASONS, NO_ORDER } from "../engine/trade_columns.ts";
import { sampleCandles } from "../workers/sandbox/sample_candles.ts";
import { tryCode } from "../workers/sandbox/conformance.ts";
import type { SandboxRun } from "../workers/sandbox/task.ts";
import { drawEquity, drawMetrics, type DrawnTrade, drawTrades, pointsIn } from "./drawing.ts";
import { invocationFolder } from "./invocation.ts";
import { type LocalCandles, readLocalCandles } from "./local_candles.ts";
import { readModule, readParameters, readScript } from "./strategy_check.ts";
import { columnsOf, inColor, type Paint, say, showsColor, stop, withoutColor } from "./terminal.ts";

const USAGE = `Runs a strategy over candles and shows the result, without a service.

  deno task strategy run FILE.ts|FILE.wasm [--data FILE] [--timeframe 1h] [--parameters JSON] [--watch]

  --data FILE         candles: any file that an import takes (default: 512 generated days)
  --timeframe T       the file's candles (default: the distance of its first lines)
  --asset-class C     forex, crypto or stock (default: stock for days that rest on weekends, else crypto)
  --parameters JSON   the strategy's own parameters, as one object (default {})
  --balance N         money at the start (default 10000)
  --watch             run again each time the file is saved
  --color             use colours even if the output is no terminal
  --help              this text

Exit code 0: the run completed. 1: it failed, with the reason.`;

const DAY_MS = 86_400_000;
const TRADES_SHOWN = 8;
const LOG_LINES_SHOWN = 20;
/** Editors write a file in more than one step. */
const QUIET_MS = 50;

interface Settings {
  readonly path: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly data: Pick<LocalCandles, "candles" | "timeframeMs">;
  readonly assetClass: "forex" | "crypto" | "stock";
  readonly initialBalance: number;
  readonly paint: Paint;
}

/** `deno task strategy run`. @throws Error When the arguments cannot be used or a file cannot be read, with the reason. */
export async function runStrategy(args: readonly string[]): Promise<void> {
  const { values, positionals: [target, ...rest] } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      data: { type: "string" },
      timeframe: { type: "string" },
      "asset-class": { type: "string" },
      parameters: { type: "string", default: "{}" },
      balance: { type: "string", default: "10000" },
      watch: { type: "boolean", default: false },
      color: { type: "boolean", default: showsColor() },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return say(USAGE);
  if (target === undefined || rest.length > 0) return stop(USAGE);
  const initialBalance = Number(values.balance);
  if (!(initialBalance > 0)) throw new RangeError(`Cannot start with ${values.balance}: --balance must be above 0`);
  const file = values.data === undefined
    ? null
    : await readLocalCandles(resolve(invocationFolder(), values.data), values.timeframe);
  if (file !== null) describeFile(values.data ?? "", file);
  const settings = {
    path: resolve(invocationFolder(), target),
    parameters: readParameters(values.parameters),
    data: file ?? { candles: sampleCandles(), timeframeMs: DAY_MS },
    assetClass: readAssetClass(values["asset-class"] ?? (file?.restsOnWeekends === true ? "stock" : "crypto")),
    initialBalance,
    paint: values.color ? inColor : withoutColor,
  };
  if (values.watch) return await watch(settings);
  if (!await runOnce(settings)) Deno.exit(1);
}

function readAssetClass(text: string): Settings["assetClass"] {
  if (text === "forex" || text === "crypto" || text === "stock") return text;
  throw new RangeError(`Cannot use --asset-class ${text}: it must be forex, crypto or stock`);
}

function describeFile(path: string, { candles, timeframe, rejectedCount, rejected }: LocalCandles): void {
  const count = candles.time.length.toLocaleString("en-US");
  say(`${basename(path)}: ${count} candles of ${timeframe}, ${rejectedCount} lines rejected`);
  for (const { line, reason } of rejected.slice(0, 5)) say(`  line ${line}: ${reason}`);
}

async function watch(settings: Settings): Promise<void> {
  // Editors replace the file, so its folder is watched; from before the first run, which a save may overtake.
  const changes = Deno.watchFs(resolve(settings.path, ".."));
  let running = runOnce(settings);
  void running.then(() => say(`\nWatching ${basename(settings.path)}: save it to run again, Ctrl+C ends.`));
  let timer: ReturnType<typeof setTimeout> | undefined;
  for await (const { paths, kind } of changes) {
    if (kind === "access" || !paths.includes(settings.path)) continue;
    clearTimeout(timer);
    timer = setTimeout(() => running = running.then(() => runOnce(settings)), QUIET_MS);
  }
}

/** Runs the strategy and prints its result. @returns True if it completed. */
async function runOnce({ path, paint, data, ...trial }: Settings): Promise<boolean> {
  const begun = performance.now();
  try {
    const code = /\.[jt]s$/.test(path) ? await readScript(path) : await readModule(path);
    const outcome = await tryCode({ ...trial, ...data, code }, new AbortController().signal);
    const seconds = ((performance.now() - begun) / 1000).toFixed(2);
    if (outcome.type === "completed") {
      const count = data.candles.time.length.toLocaleString("en-US");
      say(`\n${paint("bold", basename(path))}: ${count} candles in ${seconds} s`);
      show(outcome, data.candles.time, paint);
      return true;
    }
    say(paint("red", outcome.type === "failed" ? `\n${outcome.code}: ${outcome.message}` : `\n${outcome.type}`));
  } catch (error) {
    say(paint("red", error instanceof Error ? error.message : String(error)));
  }
  return false;
}

function show({ result, integrity, log, plots = [] }: SandboxRun, time: Float64Array, paint: Paint): void {
  const columns = columnsOf();
  say(drawMetrics(result.metrics, paint, columns));
  say(`\n${paint("bold", "Equity")}`);
  say(drawEquity(thin(result.equity, time, pointsIn(columns)), paint));
  for (const { name, values } of plots) {
    say(`\n${paint("bold", `Plotted: ${name}`)}`);
    say(drawEquity(thinPlot(values, time, pointsIn(columns)), paint));
  }
  const trades = lastTrades(result.trades);
  say(`\n${paint("bold", `The last ${trades.length} of ${result.trades.count} trades`)}`);
  say(drawTrades(trades, paint, columns, { showsOrders: true }));
  for (const note of result.notes) say(note);
  say(`\n${paint("bold", "Integrity")}`);
  for (const [name, finding] of Object.entries(integrity)) say(describeFinding(name, finding, paint));
  if (log.length > 0) say(`\n${paint("bold", `Log, ${log.length} lines`)}`);
  for (const line of log.slice(0, LOG_LINES_SHOWN)) say(line);
}

function describeFinding(name: string, { status, evidence }: Integrity[keyof Integrity], paint: Paint): string {
  const shown = paint(status === "failed" ? "red" : status === "passed" ? "green" : "dim", status.padEnd(8));
  return `${name.padEnd(12)} ${shown} ${evidence}`;
}

/** At most `countMax` points of a curve, the last one among them. */
function thin(equity: Float64Array, time: Float64Array, countMax: number) {
  const last = equity.length - 1;
  const count = Math.min(countMax, equity.length);
  return Array.from({ length: count }, (_, n) => {
    const i = count === 1 ? last : Math.round(n * last / (count - 1));
    return { timestamp: isoTime(time[time.length - equity.length + i]!), equity: equity[i]! };
  });
}

/** As thin(), of the candles that have a value. */
function thinPlot(values: Float64Array, time: Float64Array, countMax: number) {
  const drawn = time.filter((_, i) => !Number.isNaN(values[i]));
  return thin(values.filter((value) => !Number.isNaN(value)), drawn, countMax);
}

function lastTrades(trades: SandboxRun["result"]["trades"]): DrawnTrade[] {
  const first = Math.max(0, trades.count - TRADES_SHOWN);
  return Array.from({ length: trades.count - first }, (_, n) => {
    const row = first + n;
    const hasEnded = !Number.isNaN(trades.exitTime[row]);
    return {
      number: row + 1,
      side: trades.side[row] === 1 ? "long" : "short",
      quantity: trades.quantity[row]!,
      entry_time: isoTime(trades.entryTime[row]!),
      entry_price: trades.entryPrice[row]!,
      exit_time: hasEnded ? isoTime(trades.exitTime[row]!) : null,
      exit_price: hasEnded ? trades.exitPrice[row]! : null,
      pnl: trades.pnl[row]!,
      exit_reason: EXIT_REASONS[trades.exitReason[row]!] ?? null,
      entry_order: trades.entryOrder[row]! + 1,
      exit_order: trades.exitOrder[row] === NO_ORDER ? null : trades.exitOrder[row]! + 1,
      tag: trades.tag[row] ?? null,
      exit_tag: trades.exitTag[row] ?? null,
    };
  });
}

function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
