import Table from "cli-table3";
// @ts-types="@types/asciichart"
import { plot } from "asciichart";
import type { EquityPoint, Trade } from "./api_client.ts";

type Metrics = Readonly<Record<string, number | string | null>>;

const money = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const ratio = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const share = new Intl.NumberFormat("en-US", { style: "percent", minimumFractionDigits: 2 });
const whole = new Intl.NumberFormat("en-US");

// What a trader looks at first, and how it is written.
const SHOWN: readonly (readonly [key: string, label: string, format: Intl.NumberFormat])[] = [
  ["initial_equity", "Initial equity", money],
  ["final_equity", "Final equity", money],
  ["total_return", "Total return", share],
  ["buy_hold_return", "Buy and hold return", share],
  ["cagr", "Return a year (CAGR)", share],
  ["annual_volatility", "Volatility a year", share],
  ["sharpe", "Sharpe ratio", ratio],
  ["sortino", "Sortino ratio", ratio],
  ["max_drawdown", "Largest drawdown", share],
  ["exposure", "Time in the market", share],
  ["trades", "Trades", whole],
  ["win_rate", "Winning trades", share],
  ["profit_factor", "Profit factor", ratio],
  ["fees_paid", "Fees paid", money],
];

/** The metrics that a trader looks at first, as a table of text. */
export function drawMetrics(metrics: Metrics): string {
  const table = new Table({ head: ["Metric", "Value"], colAligns: ["left", "right"], style: { head: [], border: [] } });
  for (const [key, label, format] of SHOWN) {
    const value = metrics[key];
    table.push([label, typeof value === "number" ? format.format(value) : "undefined"]);
  }
  return table.toString();
}

/**
 * The equity curve as a plot of text with its dates below.
 *
 * @param points Oldest first, not more than fit the width.
 */
export function drawEquity(points: readonly EquityPoint[]): string {
  const first = points[0];
  const last = points.at(-1);
  if (first === undefined || last === undefined) return "(no equity)";
  const chart = plot(points.map((point) => point.equity), {
    height: 12,
    format: (value) => money.format(value).padStart(14),
  });
  const [begin, end] = [first.timestamp.slice(0, 10), last.timestamp.slice(0, 10)];
  const width = Math.max(...chart.split("\n").map((line) => line.length));
  return `${chart}\n${" ".repeat(15)}${begin}${end.padStart(width - 15 - begin.length)}`;
}

/** The last trades as a table of text. */
export function drawTrades(trades: readonly Trade[]): string {
  const table = new Table({
    head: ["#", "Side", "Quantity", "Entered", "at", "Left", "at", "Profit", "Why"],
    colAligns: ["right", "left", "right", "left", "right", "left", "right", "right", "left"],
    style: { head: [], border: [] },
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
      money.format(trade.pnl),
      trade.exit_reason ?? "",
    ]);
  }
  return table.toString();
}

/** A bar of fixed width. @param done From 0 to 1. */
export function drawProgress(done: number): string {
  const width = 40;
  const filled = Math.round(done * width);
  return `[${"█".repeat(filled)}${"░".repeat(width - filled)}] ${Math.round(done * 100)}%`.padEnd(width + 8);
}
