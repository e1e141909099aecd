import { Tabs } from "@base-ui/react/tabs";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import type { Backtest, BacktestResult, Metric, TradeAt } from "../../api.ts";
import { useReadOnly } from "../../parts/read_only.ts";
import { useZone } from "./chart/chart_settings.ts";
import { TabList } from "../../parts/tab_list.tsx";
import { RUN_TABS, type RunTab } from "../../parts/run_search.ts";

// The page's first sight needs none of these.
const Assumptions = lazy(async () => ({ default: (await import("./assumptions.tsx")).Assumptions }));
const Log = lazy(async () => ({ default: (await import("./log.tsx")).Log }));
const Metrics = lazy(async () => ({ default: (await import("./metrics.tsx")).Metrics }));
const Sides = lazy(async () => ({ default: (await import("./sides.tsx")).Sides }));
const MonteCarloTab = lazy(async () => ({
  default: (await import("./monte_carlo/monte_carlo.tsx")).MonteCarloTab,
}));
const Orders = lazy(async () => ({ default: (await import("./orders.tsx")).Orders }));
const Overview = lazy(async () => ({ default: (await import("./overview/overview.tsx")).Overview }));
const StressTab = lazy(async () => ({ default: (await import("./stress/stress_tab.tsx")).StressTab }));
const PortfolioView = lazy(async () => ({ default: (await import("./portfolio/portfolio.tsx")).PortfolioView }));
const Trades = lazy(async () => ({ default: (await import("./trades.tsx")).Trades }));

const LABELS: Readonly<Record<RunTab, string>> = {
  overview: "Overview",
  portfolio: "Portfolio",
  trades: "Trades",
  orders: "Orders",
  metrics: "Metrics",
  "monte-carlo": "Monte Carlo",
  stress: "Stress",
  assumptions: "Assumptions",
  log: "Log",
};

/** The parts of a result below the charts, a tab each; the address names the open one. */
export function RunTabs({ backtest, result, definitions, chosen, showTrade }: {
  readonly backtest: Backtest;
  readonly result: BacktestResult;
  readonly definitions: readonly Metric[];
  /** The number of the trade that is marked at first. */
  readonly chosen: number | undefined;
  readonly showTrade: (trade: TradeAt) => void;
}) {
  const { tab: wanted = RUN_TABS[0], market = "", chart, trade, view, change } = useSearch({ strict: false });
  const isReadOnly = useReadOnly();
  const zone = useZone(backtest);
  const drawn = {
    ...(change && { change }),
    ...(chart === undefined ? {} : { chart }),
    ...(trade === undefined ? {} : { trade }),
    ...(view === undefined ? {} : { view }),
  };
  const { portfolio } = result;
  const tabs = RUN_TABS.filter((each) =>
    (each !== "portfolio" || portfolio !== undefined) && (each !== "log" || !isReadOnly)
  );
  const tab = tabs.find((each) => each === wanted) ?? RUN_TABS[0];
  const navigate = useNavigate();
  const choose = (value: RunTab) =>
    void navigate({
      to: ".",
      search: value === RUN_TABS[0] ? drawn : { ...drawn, tab: value },
      replace: true,
      resetScroll: false,
    });
  return (
    <Tabs.Root
      value={tab}
      onValueChange={choose}
      className="min-w-0 rounded-lg border border-line bg-surface max-sm:order-4"
    >
      <TabList values={tabs} labels={LABELS} className="border-b border-line px-2" />
      <Tabs.Panel value={tab} className="min-h-96 p-3">
        <Suspense>
          {tab === "overview" && <Overview backtest={backtest} result={result} />}
          {tab === "portfolio" && portfolio !== undefined && (
            <PortfolioView
              portfolio={portfolio}
              showTrades={(instrument) =>
                void navigate({
                  to: ".",
                  search: { tab: "trades", market: instrument, chart: instrument },
                  resetScroll: false,
                })}
            />
          )}
          {tab === "orders" && <Orders id={backtest.id} zone={zone} />}
          {tab === "metrics" && (
            <>
              <Metrics result={result} definitions={definitions} />
              <Sides id={backtest.id} />
            </>
          )}
          {tab === "monte-carlo" && <MonteCarloTab backtestId={backtest.id} />}
          {tab === "stress" && <StressTab backtestId={backtest.id} />}
          {tab === "trades" && (
            <Trades
              id={backtest.id}
              result={result}
              zone={zone}
              market={market}
              chooseMarket={(instrument) =>
                void navigate({
                  to: ".",
                  search: { ...drawn, tab: "trades", ...(instrument === "" ? {} : { market: instrument }) },
                  replace: true,
                  resetScroll: false,
                })}
              first={chosen}
              showTrade={showTrade}
            />
          )}
          {tab === "log" && <Log id={backtest.id} />}
          {tab === "assumptions" && <Assumptions backtest={backtest} result={result} />}
        </Suspense>
      </Tabs.Panel>
    </Tabs.Root>
  );
}
