import type { BacktestResult, Metric } from "../api.ts";
import { formatCount, formatDate, formatMoney, formatPercent, formatRatio } from "./format.ts";

/** Metrics whose sign is good or bad news. */
const SIGNED: ReadonlySet<string> = new Set([
  ...["total_return", "cagr", "annual_return", "buy_hold_return", "alpha", "expectancy", "average_trade"],
  ...["best_trade", "worst_trade", "average_win", "average_loss", "best_day", "worst_day"],
  ...["average_win_return", "average_loss_return", "sharpe", "sortino", "calmar"],
]);

/** A metric's value as it is read. */
export function formatMetric(
  { name, unit }: Pick<Metric, "name" | "unit">,
  metrics: BacktestResult["metrics"],
): string {
  if (name === "start" || name === "end") return formatDate(metrics[name]);
  return formatMetricValue({ name, unit }, numberOf(metrics, name));
}

/** The same for a value by itself, of a metric that is no date. */
export function formatMetricValue({ name, unit }: Pick<Metric, "name" | "unit">, value: number | null): string {
  if (unit.startsWith("fraction") || unit === "probability") return formatPercent(value, SIGNED.has(name));
  if (unit.startsWith("money")) return formatMoney(value, SIGNED.has(name));
  if (unit === "count") return formatCount(value);
  return unit === "days" && value !== null ? `${formatRatio(value)} d` : formatRatio(value);
}

/** A metric's value; null for one that is undefined or a date. */
export function numberOf(metrics: BacktestResult["metrics"], name: string): number | null {
  const value = Object.entries(metrics).find(([key]) => key === name)?.[1];
  return typeof value === "number" ? value : null;
}

/** True if the metric is shown in the colour of its sign. */
export function isSigned(name: string): boolean {
  return SIGNED.has(name);
}
