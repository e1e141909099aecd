/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { api, queryClient, type Report } from "../api.ts";
import { POINTS } from "../pages/run/chart/run_bars.ts";
import "../theme/tokens.css";
import { ReportPage } from "./report_page.tsx";

const root = document.getElementById("root");
const data = document.getElementById("report")?.textContent;
if (root === null || data === null || data === undefined) {
  throw new Error("Cannot show the report: the file is not whole");
}
const report: Report = JSON.parse(data);
fillCache(report);
const { name, default_name, symbol } = report.backtest;
document.title = `${name ?? default_name} on ${symbol} · Hindcast`;
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <ReportPage report={report} />
    </QueryClientProvider>
  </StrictMode>,
);

/** Puts the run where the parts of the run's page look for it. */
function fillCache({ backtest, chart, fills, spread, plots, monthly, yearly }: Report): void {
  const { id, symbol, exchange, result } = backtest;
  queryClient.setQueryData(api.backtests.chart.queryKey({ id, points: POINTS }), chart);
  queryClient.setQueryData(api.backtests.tradeSpread.queryKey({ id }), spread);
  const from = chart.time[0] ?? 0;
  const benchmark = `${symbol}@${exchange}`;
  const whole = result?.portfolio === undefined ? { id, from } : { id, from, instrument: benchmark };
  queryClient.setQueryData(api.backtests.fills.queryKey(whole), fills);
  queryClient.setQueryData(api.backtests.series.queryKey({ id, points: POINTS }), plots);
  queryClient.setQueryData(api.backtests.returns.queryKey({ id, period: "monthly" }), { returns: monthly });
  queryClient.setQueryData(api.backtests.returns.queryKey({ id, period: "yearly" }), { returns: yearly });
}
