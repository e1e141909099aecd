import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useRef } from "react";
import { api, type Backtest } from "../../api.ts";
import { useMetrics } from "../../parts/metric_value.ts";
import { useReadOnly } from "../../parts/read_only.ts";
import { Charts, type ChartsHandle } from "./chart/charts.tsx";
import { ResultOrigin } from "./result_origin.tsx";
import { RunTabs } from "./run_tabs.tsx";
import { RunTries } from "./run_tries.tsx";
import { SummaryStrip } from "./summary_strip.tsx";

/** The figures, charts and tabs of a completed run. */
export function CompletedRun({ backtest, result }: {
  readonly backtest: Backtest;
  readonly result: NonNullable<Backtest["result"]>;
}) {
  const charts = useRef<ChartsHandle>(null);
  const { chart: market = "", trade } = useSearch({ strict: false });
  const navigate = useNavigate();
  const isReadOnly = useReadOnly();
  const chooseMarket = (chart: string) =>
    void navigate({
      to: ".",
      search: ({ chart: _before, ...search }) => chart === "" ? search : { ...search, chart },
      replace: true,
      resetScroll: false,
    });
  const { data: trades } = useQuery(
    api.backtests.tradeTable.queryOptions({ id: backtest.id }, { staleTime: Infinity }),
  );
  const metrics = useMetrics();
  return (
    <>
      <ResultOrigin backtest={backtest} />
      <SummaryStrip result={result} definitions={metrics} />
      {!isReadOnly && <RunTries backtest={backtest} />}
      <Charts
        backtest={backtest}
        trades={trades}
        market={market}
        chooseMarket={chooseMarket}
        handle={charts}
        first={trade}
      />
      <RunTabs
        backtest={backtest}
        result={result}
        definitions={metrics}
        trades={trades}
        showTrade={(i) => {
          charts.current?.showTrade(i);
          const number = trades?.number[i];
          if (number === undefined) return;
          void navigate({
            to: ".",
            search: (search) => ({ ...search, trade: number }),
            replace: true,
            resetScroll: false,
          });
        }}
      />
    </>
  );
}
