import { useQuery } from "@tanstack/react-query";
import { api, type BacktestResult, type Metric } from "../api.ts";
import { formatCount, formatDate, formatMoney, formatPercent, formatRatio, toWords } from "./format.ts";

/** The facts that are needed to show a metric's values. */
export type ShownMetric = Pick<Metric, "name" | "label" | "format" | "isSigned">;

const NONE: readonly Metric[] = [];

/** All metrics, in the order in which results show them; none until they have arrived. */
export function useMetrics(): readonly Metric[] {
  const { data } = useQuery(api.backtests.metrics.queryOptions(undefined, { staleTime: Infinity }));
  return data?.metrics ?? NONE;
}

/** Finds metrics by their names. */
export function useMetric(): (name: string) => ShownMetric {
  const metrics = useMetrics();
  return (name) => findMetric(metrics, name);
}

/** A metric; until the metrics have arrived, with its name as the label. */
export function findMetric(metrics: readonly Metric[], name: string): ShownMetric {
  const found = metrics.find((each) => each.name === name);
  return found ?? { name, label: toWords(name), format: "ratio", isSigned: false };
}

/** A metric's value as it is read. */
export function formatMetric(metric: ShownMetric, metrics: BacktestResult["metrics"]): string {
  const value = valueOf(metrics, metric.name);
  return typeof value === "string" ? formatDate(value) : formatMetricValue(metric, value);
}

/** The same for a value by itself, of a metric that is no date. */
export function formatMetricValue({ format, isSigned }: ShownMetric, value: number | null): string {
  if (format === "percent") return formatPercent(value, isSigned);
  if (format === "money") return formatMoney(value, isSigned);
  if (format === "count") return formatCount(value);
  return format === "days" && value !== null ? `${formatRatio(value)} d` : formatRatio(value);
}

/** A metric's value; null for one that is undefined or a date. */
export function numberOf(metrics: BacktestResult["metrics"], name: string): number | null {
  const value = valueOf(metrics, name);
  return typeof value === "number" ? value : null;
}

function valueOf(metrics: BacktestResult["metrics"], name: string): string | number | null {
  return Object.entries(metrics).find(([key]) => key === name)?.[1] ?? null;
}
