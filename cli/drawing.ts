import Table from "cli-table3";
// @ts-types="@types/asciichart"
import { plot } from "asciichart";
import type { EquityPoint, Metrics, Trade } from "./demo_client.ts";
import type { Paint } from "./terminal.ts";

const money = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const ratio = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const share = new Intl.NumberFormat("en-US", { style: "percent", minimumFractionDigits: 2 });
const whole = new Intl.NumberFormat("en-US");

const AXIS_COLUMNS = 15;
const BAR_COLUMNS = 40;
// One line a row: the default draws a rule between any two.
const COMPACT = { mid: "", "left-mid": "", "mid-mid": "", "right-mid": "" };
const STYLE = { head: [], border: [] };

/** The metrics that a trader looks at first, in reading order of two columns. */
const SHOWN: readonly (readonly [key: keyof Metrics, label: string, format: Intl.NumberFormat])[] = [
  ["initial_equity", "Initial equity", money],
  ["sharpe", "Sharpe ratio", ratio],
  ["final_equity", "Final equity", money],
  ["sortino", "Sortino ratio", ratio],
  ["total_return", "Total return", share],
  ["max_drawdown", "Largest drawdown", share],
  ["buy_hold_return", "Buy and hold return", share],
  ["trades", "Trades", whole],
  ["cagr", "Return a year (CAGR)", share],
  ["win_rate", "Winning trades", share],
  ["annual_volatility", "Volatility a year", share],
  ["profit_factor", "Profit factor", ratio],
  ["exposure", "Time in the market", share],
  ["fees_paid", "Fees paid", money],
];

/** Draws the main metrics as a table of two columns. */
export function drawMetrics(metrics: Metrics, paint: Paint): string {
  const table = new Table({
    head: ["Metric", "Value", "Metric", "Value"].map((title) => paint("bold", title)),
    colAligns: ["left", "right", "left", "right"],
    chars: COMPACT,
    style: STYLE,
  });
  const cells = SHOWN.map(([key, label, format]) => {
    const value = metrics[key];
    return [label, typeof value === "number" ? format.format(value) : "undefined"];
  });
  for (let i = 0; i < cells.length; i += 2) table.push(cells.slice(i, i + 2).flat());
  return table.toString();
}

/**
 * Draws the equity curve with its dates below.
 *
 * @param points Oldest first, at most as many as the terminal has columns beside the axis.
 */
export function drawEquity(points: readonly EquityPoint[], paint: Paint): string {
  const first = points[0];
  const last = points.at(-1);
  if (first === undefined || last === undefined) return "(no equity)";
  const chart = plot(points.map((point) => point.equity), {
    height: 10,
    format: (value) => money.format(value).padStart(AXIS_COLUMNS - 1),
  });
  const [begin, end] = [first.timestamp.slice(0, 10), last.timestamp.slice(0, 10)];
  const width = Math.max(...chart.split("\n").map((line) => line.trimEnd().length));
  const curve = chart.split("\n").map((line) => {
    const plotted = line.slice(AXIS_COLUMNS + 1).trimEnd();
    return `${line.slice(0, AXIS_COLUMNS + 1)}${plotted === "" ? "" : paint("green", plotted)}`;
  });
  const dates = `${" ".repeat(AXIS_COLUMNS)}${begin}${end.padStart(width - AXIS_COLUMNS - begin.length)}`;
  return [...curve, paint("dim", dates)].join("\n");
}

/** Draws trades as a table. */
export function drawTrades(trades: readonly Trade[], paint: Paint): string {
  const table = new Table({
    head: ["#", "Side", "Quantity", "Entered", "at", "Left", "at", "Profit", "Why"].map((title) =>
      paint("bold", title)
    ),
    colAligns: ["right", "left", "right", "left", "right", "left", "right", "right", "left"],
    chars: COMPACT,
    style: STYLE,
  });
  const moment = (time: string | null) => time === null ? "open" : time.slice(0, 16).replace("T", " ");
  for (const trade of trades) {
    table.push([
      trade.number,
      trade.side,
      trade.quantity.toPrecision(6),
      moment(trade.entry_time),
      money.format(trade.entry_price),
      moment(trade.exit_time),
      trade.exit_price === null ? "" : money.format(trade.exit_price),
      paint(trade.pnl < 0 ? "red" : "green", money.format(trade.pnl)),
      trade.exit_reason ?? "",
    ]);
  }
  return table.toString();
}

/** Draws a bar of fixed width. @param done From 0 to 1. */
export function drawProgress(done: number, paint: Paint): string {
  const filled = Math.round(done * BAR_COLUMNS);
  const bar = `${paint("green", "█".repeat(filled))}${paint("dim", "░".repeat(BAR_COLUMNS - filled))}`;
  return `[${bar}] ${`${Math.round(done * 100)}%`.padEnd(4)}`;
}
