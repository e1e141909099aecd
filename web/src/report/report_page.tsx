import { type ReactNode, useRef } from "react";
import type { Metric, Report } from "../api.ts";
import { Assumptions } from "../pages/run/assumptions.tsx";
import { Charts, type ChartsHandle } from "../pages/run/chart/charts.tsx";
import { useZone } from "../pages/run/chart/chart_settings.ts";
import { Metrics } from "../pages/run/metrics.tsx";
import { PortfolioView } from "../pages/run/portfolio/portfolio.tsx";
import { Overview } from "../pages/run/overview/overview.tsx";
import { RunHeading } from "../parts/run_heading.tsx";
import { RunHeader } from "../pages/run/run_header.tsx";
import { StressTables } from "../pages/run/stress/stress_tables.tsx";
import { SummaryStrip } from "../pages/run/summary_strip.tsx";
import { Trades } from "../pages/run/trades.tsx";
import { Logo } from "../parts/logo.tsx";
import { formatTime } from "../parts/format.ts";

/** A completed run on one page: the parts of its page in the console, one below the other. */
export function ReportPage({ report: { backtest, metrics, trades, stress } }: { readonly report: Report }) {
  const charts = useRef<ChartsHandle>(null);
  const zone = useZone(backtest);
  const { result } = backtest;
  if (result === null) return <p>This report has no result.</p>;
  return (
    <main className="mx-auto flex max-w-[1280px] flex-col gap-3 px-4 py-5 print:p-0">
      <RunHeader backtest={backtest} heading={<RunHeading run={backtest} />} />
      <SummaryStrip result={result} definitions={metrics} />
      <Charts backtest={backtest} handle={charts} />
      <Part title="Returns and trades">
        <Overview backtest={backtest} result={result} />
      </Part>
      {result.portfolio !== undefined && (
        <Part title="Portfolio">
          <PortfolioView portfolio={result.portfolio} />
        </Part>
      )}
      {stress !== null && (
        <Part title="Stress test">
          <div className="flex flex-col gap-4">
            <StressTables result={stress} />
          </div>
        </Part>
      )}
      <Part title="Metrics">
        <Metrics result={result} definitions={metrics} />
      </Part>
      <Part title="Trades" place="print:order-1">
        <Trades
          id={backtest.id}
          result={result}
          own={trades}
          zone={zone}
          showTrade={(trade) => charts.current?.showTrade(trade)}
        />
      </Part>
      <Part title="Assumptions">
        <Assumptions backtest={backtest} result={result} />
      </Part>
      <Part title="Definitions of the metrics">
        <Definitions metrics={metrics} />
      </Part>
      <footer className="print:order-1 flex flex-wrap items-center gap-x-2 py-2 text-xs text-muted">
        <Logo />
        <span>
          Hindcast, engine {result.engine_version}. Completed {formatTime(backtest.finished_at)}{" "}
          UTC. A backtest is a simulation of the past and promises nothing.
        </span>
      </footer>
    </main>
  );
}

/** @param place Classes; long lists come last on paper. */
function Part({ title, place = "", children }: {
  readonly title: string;
  readonly place?: string;
  readonly children: ReactNode;
}) {
  return (
    <section className={`rounded-lg border border-line bg-surface p-3 print:border-0 print:px-0 ${place}`}>
      <h2 className="mb-3 text-lg font-semibold">{title}</h2>
      {children}
    </section>
  );
}

/** The meaning and the formula of each metric, for those who read on paper. */
function Definitions({ metrics }: { readonly metrics: readonly Metric[] }) {
  return (
    <dl className="gap-8 text-xs sm:columns-2">
      {metrics.map(({ name, label, meaning, formula, unit }) => (
        <div key={name} className="mb-2 break-inside-avoid">
          <dt className="font-medium">{label}</dt>
          <dd>{meaning}</dd>
          <dd className="break-words text-muted">{formula} ({unit})</dd>
        </div>
      ))}
    </dl>
  );
}
