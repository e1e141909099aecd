/** The report that `hindcast strategy run` prints of a result. */
import { type Execution, PROFILE_DEFAULTS } from "../engine/execution.ts";
import type { Integrity } from "../engine/result.ts";
import { EXIT_REASONS, NO_ORDER } from "../engine/trade_columns.ts";
import type { SandboxRun } from "../workers/sandbox/task.ts";
import { drawEquity, drawMetrics, type DrawnTrade, drawTrades, pointsIn } from "./drawing.ts";
import { columnsOf, type Paint, say, wrap } from "./terminal.ts";

const TRADES_SHOWN = 8;
const LOG_LINES_SHOWN = 20;

/** The result as --json prints it: names and values as the service gives them. */
export function documentOf({ result, integrity, log }: SandboxRun, execution: Execution) {
  return {
    metrics: result.metrics,
    trades: listTrades(result.trades, 0),
    notes: result.notes,
    integrity,
    execution,
    log,
  };
}

/** The assumptions behind the figures: costs always, and every other setting that differs from its default. */
function describeExecution(execution: Execution): string {
  const defaults: Readonly<Record<string, unknown>> = { ...PROFILE_DEFAULTS[execution.profile] };
  const costs = ["fill", "commission", "spread", "slippage"];
  const shown = Object.entries(execution).filter(([name, value]) =>
    name !== "periodsPerYear" && (costs.includes(name) || JSON.stringify(value) !== JSON.stringify(defaults[name]))
  );
  return shown.map(([name, value]) => `${name} ${describeSetting(value)}`).join(", ");
}

function describeSetting(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  const parts = Object.entries(value).filter(([, part]) => part !== 0 && part !== null);
  return parts.length === 0 ? "0" : parts.map(([name, part]) => `${name} ${part}`).join(" ");
}

/** Prints the result of a run for a person. @param time Opens of the candles. */
export function show(
  { result, integrity, log, plots = [] }: SandboxRun,
  time: Float64Array,
  execution: Execution,
  paint: Paint,
): void {
  const columns = columnsOf();
  say(drawMetrics(result.metrics, paint, columns));
  for (const line of wrap(`Assumed: ${describeExecution(execution)}`, columns)) say(paint("dim", line));
  say(`\n${paint("bold", "Equity")}`);
  say(drawEquity(thin(result.equity, time, pointsIn(columns)), paint));
  for (const { name, values } of plots) {
    say(`\n${paint("bold", `Plotted: ${name}`)}`);
    say(drawEquity(thinPlot(values, time, pointsIn(columns)), paint));
  }
  const trades = listTrades(result.trades, Math.max(0, result.trades.count - TRADES_SHOWN));
  if (trades.length > 0) {
    say(`\n${paint("bold", `The last ${trades.length} of ${result.trades.count} trades`)}`);
    say(drawTrades(trades, paint, columns, { showsOrders: true }));
  }
  for (const note of result.notes) say(note);
  say(`\n${paint("bold", "Integrity")}`);
  for (const [name, finding] of Object.entries(integrity)) say(describeFinding(name, finding, paint));
  if (log.length > 0) say(`\n${paint("bold", `Log, ${log.length} ${log.length === 1 ? "line" : "lines"}`)}`);
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

/** Like thin(), of the candles that have a value. */
function thinPlot(values: Float64Array, time: Float64Array, countMax: number) {
  const drawn = time.filter((_, i) => !Number.isNaN(values[i]));
  return thin(values.filter((value) => !Number.isNaN(value)), drawn, countMax);
}

/** Trades from a row on. */
function listTrades(trades: SandboxRun["result"]["trades"], first: number): DrawnTrade[] {
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
      instrument: null,
    };
  });
}

function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
