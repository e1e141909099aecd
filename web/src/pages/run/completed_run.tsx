import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useRef, useState } from "react";
import { api, type Backtest } from "../../api.ts";
import { useMetrics } from "../../parts/metric_value.ts";
import { Button } from "../../parts/button.tsx";
import { useReadOnly } from "../../parts/read_only.ts";
import { Charts, type ChartsHandle } from "./chart/charts.tsx";
import { ResultOrigin } from "./result_origin.tsx";
import { RunTabs } from "./run_tabs.tsx";
import { RunTries } from "./run_tries.tsx";
import { SummaryStrip } from "./summary_strip.tsx";

const ChangePanel = lazy(async () => ({ default: (await import("./change/change_panel.tsx")).ChangePanel }));

/** The figures, charts and tabs of a completed run. */
export function CompletedRun({ backtest: saved, result: savedResult }: {
  readonly backtest: Backtest;
  readonly result: NonNullable<Backtest["result"]>;
}) {
  const [tried, setTried] = useState<Backtest>();
  const charts = useRef<ChartsHandle>(null);
  const { chart: market = "", trade, change: isChanging = false } = useSearch({ strict: false });
  const navigate = useNavigate();
  const isReadOnly = useReadOnly();
  const isOpen = isChanging && !isReadOnly;
  const backtest = isOpen ? tried ?? saved : saved;
  const result = backtest.result ?? savedResult;
  const toggle = () => {
    setTried(undefined);
    void navigate({
      to: ".",
      search: ({ change: _before, trade: _trade, ...search }) => isOpen ? search : { ...search, change: true as const },
      replace: true,
      resetScroll: false,
    });
  };
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
      <SummaryStrip
        result={result}
        definitions={metrics}
        before={isOpen && tried !== undefined ? savedResult : undefined}
      />
      {!isReadOnly && (
        <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-1">
          <div className="min-w-0 grow basis-80">
            <RunTries backtest={backtest} />
          </div>
          <Button aria-expanded={isOpen} onClick={toggle}>Change and see</Button>
        </div>
      )}
      <div className={isOpen ? "grid items-start gap-3 lg:grid-cols-[17rem_minmax(0,1fr)]" : "contents"}>
        {isOpen && (
          <Suspense>
            <ChangePanel backtest={saved} tried={tried} onTried={setTried} />
          </Suspense>
        )}
        <Charts
          backtest={backtest}
          trades={trades}
          market={market}
          chooseMarket={chooseMarket}
          handle={charts}
          first={trade}
        />
      </div>
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
