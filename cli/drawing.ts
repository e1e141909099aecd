import Table from "cli-table3";
// @ts-types="@types/asciichart"
import { plot } from "asciichart";
import { METRIC_DEFINITIONS } from "../engine/metrics/definitions.ts";
import type { EquityPoint, Metrics, Trade } from "./demo_client.ts";
import { type Paint, wrap } from "./terminal.ts";

const money = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const ratio = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const share = new Intl.NumberFormat("en-US", { style: "percent", minimumFractionDigits: 2, maximumFractionDigits: 2 });
const whole = new Intl.NumberFormat("en-US");

const AMOUNT_COLUMNS_MAX = 13;
const AXIS_COLUMNS = AMOUNT_COLUMNS_MAX + 2;
const BAR_COLUMNS = 40;
// Of a column of words that is broken into lines.
const TEXT_COLUMNS_MIN = 16;
// One line a row: the default draws a rule between any two.
const COMPACT = { mid: "", "left-mid": "", "mid-mid": "", "right-mid": "" };
/** In place of a value that there is not, as the console writes it. */
export const NONE = "–";
const STYLE = { head: [], border: [] };

/** The metrics that a trader looks at first, in reading order of two columns. */
export const MAIN_METRICS = [
  "initial_equity",
  "sharpe",
  "final_equity",
  "sortino",
  "total_return",
  "max_drawdown",
  "buy_hold_return",
  "trades",
  "cagr",
  "win_rate",
  "annual_volatility",
  "profit_factor",
  "exposure",
  "fees_paid",
] as const;
const FORMATS = { money, percent: share, count: whole, days: ratio, ratio } as const;

/** Formats a number in at most 13 characters; one that has no room is written with an exponent. */
function formatShort(format: Intl.NumberFormat, value: number): string {
  const text = format.format(value);
  const isLost = value !== 0 && format === money && Math.abs(value) < 0.01;
  return text.length > AMOUNT_COLUMNS_MAX || isLost ? value.toExponential(3) : text;
}

/** The points of an equity curve that have room in a terminal. */
export function pointsIn(columns: number): number {
  return Math.max(2, columns - AXIS_COLUMNS - 1);
}

/** Draws the main metrics as a table of two columns, or of one where the terminal is narrow. */
export function drawMetrics(metrics: Partial<Metrics>, paint: Paint, columns: number): string {
  const cells = MAIN_METRICS.map((name) => {
    const { label, format } = METRIC_DEFINITIONS[name];
    const value = metrics[name];
    const isNumber = typeof value === "number" && format !== "date";
    return [label, isNumber ? formatShort(FORMATS[format], value) : "undefined"];
  });
  return drawFirstFit([2, 1], columns, (pairs) => {
    const table = new Table({
      head: Array(pairs).fill(["Metric", "Value"]).flat().map((title) => paint("bold", title)),
      colAligns: Array(pairs).fill(["left", "right"]).flat(),
      chars: COMPACT,
      style: STYLE,
    });
    for (let i = 0; i < cells.length; i += pairs) table.push(cells.slice(i, i + pairs).flat());
    return table.toString();
  });
}

/** Draws the first of some shapes that has room in a terminal, else the last. */
export function drawFirstFit<Shape>(shapes: readonly Shape[], columns: number, draw: (shape: Shape) => string): string {
  let drawn = "";
  for (const shape of shapes) {
    drawn = draw(shape);
    // The border has no colours.
    if (drawn.indexOf("\n") <= columns) break;
  }
  return drawn;
}

/**
 * Draws the equity curve with its dates below.
 *
 * @param points Oldest first, at most as many as the terminal has columns beside the axis.
 */
export function drawEquity(points: readonly Pick<EquityPoint, "timestamp" | "equity">[], paint: Paint): string {
  const first = points[0];
  const last = points.at(-1);
  if (first === undefined || last === undefined) return "(no equity)";
  const chart = plot(points.map((point) => point.equity), {
    height: 10,
    format: (value) => formatShort(money, value).padStart(AXIS_COLUMNS - 1),
  });
  const [begin, end] = [first.timestamp.slice(0, 10), last.timestamp.slice(0, 10)];
  const width = Math.max(...chart.split("\n").map((line) => line.trimEnd().length));
  const curve = chart.split("\n").map((line) => {
    const plotted = line.slice(AXIS_COLUMNS + 1).trimEnd();
    return `${line.slice(0, AXIS_COLUMNS + 1)}${plotted === "" ? "" : paint("green", plotted)}`;
  });
  const dates = `${" ".repeat(AXIS_COLUMNS)}${begin} ${end.padStart(width - AXIS_COLUMNS - begin.length - 1)}`;
  return [...curve, paint("dim", dates)].join("\n");
}

/** The fields of a trade that its table shows. */
export type DrawnTrade = Pick<
  Trade,
  | "number"
  | "side"
  | "quantity"
  | "entry_time"
  | "entry_price"
  | "exit_time"
  | "exit_price"
  | "pnl"
  | "exit_reason"
  | "entry_order"
  | "exit_order"
  | "tag"
  | "exit_tag"
  | "instrument"
>;

type Cell = (trade: DrawnTrade, paint: Paint) => string;
const moment = (time: string | null) => time === null ? "open" : time.slice(0, 16).replace("T", " ");

/** The columns of trades; those with a higher rank are left out first where the terminal is narrow. */
const TRADE_COLUMNS: readonly (readonly [title: string, align: "left" | "right", rank: number, cell: Cell])[] = [
  ["#", "right", 5, ({ number }) => String(number)],
  ["Side", "left", 3, ({ side }) => side],
  ["Quantity", "right", 4, ({ quantity }) => quantity.toPrecision(6)],
  ["Entered", "left", 0, ({ entry_time: time }) => moment(time)],
  ["at", "right", 1, ({ entry_price: price }) => formatShort(money, price)],
  ["Left", "left", 6, ({ exit_time: time }) => moment(time)],
  ["at", "right", 2, ({ exit_price: price }) => price === null ? "" : formatShort(money, price)],
  ["Profit", "right", 0, ({ pnl }, paint) => paint(pnl < 0 ? "red" : "green", formatShort(money, pnl))],
  ["Why", "left", 7, ({ exit_reason: reason }) => reason ?? ""],
];

const MARKET_COLUMN: (typeof TRADE_COLUMNS)[number] = ["Market", "left", 1, ({ instrument }) => instrument ?? ""];

const ORDER_COLUMNS: typeof TRADE_COLUMNS = [
  ["Orders", "left", 8, ({ entry_order: entry, exit_order: exit }) => pair(entry, exit)],
  ["Tags", "left", 9, ({ tag: entry, exit_tag: exit }) => pair(entry, exit)],
];

/** The texts of an entry and of an exit, either of which may be missing. */
function pair(entry: number | string | null, exit: number | string | null): string {
  return entry === null && exit === null ? "" : `${entry ?? NONE} / ${exit ?? NONE}`;
}

/** Draws trades as a table. @param options `showsOrders`: with the orders that opened and closed them, if there is room. */
export function drawTrades(
  trades: readonly DrawnTrade[],
  paint: Paint,
  columns: number,
  { showsOrders = false } = {},
): string {
  const [number, ...rest] = TRADE_COLUMNS;
  const own = trades.some(({ instrument }) => instrument !== null) ? [number!, MARKET_COLUMN, ...rest] : TRADE_COLUMNS;
  const all = [...own, ...(showsOrders ? ORDER_COLUMNS : [])];
  return drawFirstFit([9, 8, 7, 6, 5, 4, 3, 2, 1, 0], columns, (rankMax) => {
    const shown = all.filter(([, , rank]) => rank <= rankMax);
    const table = new Table({
      head: shown.map(([title]) => paint("bold", title)),
      colAligns: shown.map(([, align]) => align),
      chars: COMPACT,
      style: STYLE,
    });
    for (const trade of trades) table.push(shown.map(([, , , cell]) => cell(trade, paint)));
    return table.toString();
  });
}

/** Draws a bar of fixed width. @param done From 0 to 1. */
export function drawProgress(done: number, paint: Paint): string {
  const filled = Math.round(done * BAR_COLUMNS);
  const bar = `${paint("green", "█".repeat(filled))}${paint("dim", "░".repeat(BAR_COLUMNS - filled))}`;
  return `[${bar}] ${`${Math.round(done * 100)}%`.padEnd(4)}`;
}

/** The terminal that something is drawn for. */
export interface Screen {
  readonly paint: Paint;
  readonly columns: number;
}

/**
 * Draws rows as a table, within the terminal as far as words and numbers allow.
 *
 * @param head A title for each column; those that begin with a space are numbers, on the right.
 * @param spare Titles of columns that a narrow terminal goes without, in this order.
 */
export function drawRows(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  { paint, columns }: Screen,
  spare: readonly string[] = [],
): string {
  const widths = head.map((title, at) => Math.max(...[title.trim(), ...rows.map((row) => row[at]!)].map(longestLine)));
  let shown = head.map((_, at) => at);
  const missing = () => shown.reduce((sum, at) => sum + widths[at]! + 3, 1) - columns;
  for (const title of spare) {
    if (missing() > 0) shown = shown.filter((at) => head[at] !== title);
  }
  // The first column names the row: it is for copying.
  const texts = shown.slice(1).filter((at) => !head[at]!.startsWith(" "));
  const rooms = shareRoom(texts.map((at) => widths[at]!), missing());
  const breakLines = (text: string, at: number) => {
    const room = rooms[texts.indexOf(at)] ?? Infinity;
    return longestLine(text) > room ? wrap(text.replaceAll("\n", " "), room).join("\n") : text;
  };
  const table = new Table({
    head: shown.map((at) => paint("bold", head[at]!.trim())),
    colAligns: shown.map((at) => head[at]!.startsWith(" ") ? "right" : "left"),
    chars: COMPACT,
    style: STYLE,
  });
  for (const row of rows) table.push(shown.map((at) => breakLines(row[at]!, at)));
  return table.toString();
}

/** Takes what is missing from the widest columns, as far as they have room. */
function shareRoom(widths: readonly number[], missing: number): number[] {
  const rooms = [...widths];
  for (let left = missing; left > 0; left--) {
    const widest = Math.max(...rooms);
    if (widest <= TEXT_COLUMNS_MIN) break;
    rooms[rooms.indexOf(widest)] = widest - 1;
  }
  return rooms;
}

function longestLine(text: string): number {
  return Math.max(...text.split("\n").map((line) => line.length));
}

/** A share of something as people read it: 0.01 is `1.00%`. */
export function formatShare(value: number | null): string {
  return value === null ? NONE : share.format(value);
}

/** A metric as people read it. @param value Null where it is not defined. */
export function formatMetric(name: keyof typeof METRIC_DEFINITIONS, value: number | null | undefined): string {
  const { format } = METRIC_DEFINITIONS[name];
  return value === null || value === undefined || format === "date" ? NONE : formatShort(FORMATS[format], value);
}
