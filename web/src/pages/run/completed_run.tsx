import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useMemo, useRef, useState } from "react";
import { api, type Backtest, type TradeAt } from "../../api.ts";
import { useMetrics } from "../../parts/metric_value.ts";
import { Button } from "../../parts/button.tsx";
import { useReadOnly } from "../../parts/read_only.ts";
import { Charts, type ChartsHandle } from "./chart/charts.tsx";
import type { ChartView } from "./chart/chart_window.ts";
import { RunTabs } from "./run_tabs.tsx";
import { SummaryStrip } from "./summary_strip.tsx";
import { Tip } from "../../parts/tip.tsx";

const ChangePanel = lazy(async () => ({ default: (await import("./change/change_panel.tsx")).ChangePanel }));

const LINK = "text-accent underline";

const MEANING =
  "The deflated Sharpe ratio. Runs and trials that resemble each other day by day count as fewer tries than they are; " +
  "without skill, their Sharpe ratios vary by chance alone.";

/** The figures, charts and tabs of a completed run. */
export function CompletedRun({ backtest: saved, result: savedResult }: {
  readonly backtest: Backtest;
  readonly result: NonNullable<Backtest["result"]>;
}) {
  const { tried, words, showTry } = useTried();
  const charts = useRef<ChartsHandle>(null);
  const { chart: market = "", trade, view, change: isChanging = false } = useSearch({ strict: false });
  const navigate = useNavigate();
  const isReadOnly = useReadOnly();
  const isOpen = isChanging && !isReadOnly;
  const backtest = isOpen ? tried ?? saved : saved;
  const result = backtest.result ?? savedResult;
  const toggle = () => {
    showTry();
    void navigate({
      to: ".",
      search: ({ change: _before, ...search }) => isOpen ? search : { ...search, change: true as const },
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
  const keepView = (seen: ChartView | null) => {
    const next = seen === null ? undefined : `${seen.fromMs}-${seen.toMs}`;
    if (next === view) return;
    void navigate({
      to: ".",
      search: ({ view: _before, ...search }) => next === undefined ? search : { ...search, view: next },
      replace: true,
      resetScroll: false,
    });
  };
  const first = useOpenedTrade(saved.id, trade);
  const metrics = useMetrics();
  return (
    <>
      <ResultOrigin backtest={backtest} />
      {isOpen && <ShownSettings isSaved={tried === undefined} words={words} />}
      <SummaryStrip
        result={result}
        definitions={metrics}
        before={isOpen && tried !== undefined ? savedResult : undefined}
      />
      {!isReadOnly && (
        <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-1 max-sm:contents">
          <div className="min-w-0 grow basis-80 max-sm:order-3 max-sm:grow-0 max-sm:basis-auto">
            <RunTries backtest={backtest} />
          </div>
          <Button aria-expanded={isOpen} onClick={toggle} className="max-sm:order-1 max-sm:self-start">
            Change and see
          </Button>
        </div>
      )}
      <div
        data-wide
        className="flex flex-col gap-3 max-sm:contents min-[2000px]:grid min-[2000px]:grid-cols-[minmax(0,3fr)_minmax(0,2fr)] min-[2000px]:items-start"
      >
        <div
          className={isOpen ? "grid items-start gap-3 max-sm:contents lg:grid-cols-[17rem_minmax(0,1fr)]" : "contents"}
        >
          {isOpen && (
            <Suspense>
              <ChangePanel backtest={saved} tried={tried} onTried={showTry} />
            </Suspense>
          )}
          <Charts
            backtest={backtest}
            market={market}
            chooseMarket={chooseMarket}
            handle={charts}
            first={backtest.id === saved.id ? first : undefined}
            view={readView(view)}
            onView={keepView}
            picks
          />
        </div>
        <RunTabs
          backtest={backtest}
          result={result}
          definitions={metrics}
          chosen={backtest.id === saved.id ? trade : undefined}
          showTrade={(shown) => {
            charts.current?.showTrade(shown);
            const number = shown.table.number[shown.i];
            // The address is the saved run's: a trade of a change has no place in it.
            if (number === undefined || backtest.id !== saved.id) return;
            void navigate({
              to: ".",
              search: (search) => ({ ...search, trade: number }),
              replace: true,
              resetScroll: false,
            });
          }}
        />
      </div>
    </>
  );
}

/** The change that the page shows in place of the saved run, and its words. */
function useTried() {
  const [shown, setShown] = useState<{ readonly tried?: Backtest | undefined; readonly words: string }>({ words: "" });
  return { ...shown, showTry: (tried?: Backtest, words = "") => setShown({ tried, words }) };
}

/** Says whose the figures below are while settings are changed: the heading is that of the saved run. */
function ShownSettings({ isSaved, words }: { readonly isSaved: boolean; readonly words: string }) {
  return (
    <p className="text-sm text-muted">
      {isSaved
        ? "The figures, charts and tables are those of the saved run."
        : `The figures, charts and tables are those of the change, which is not kept: ${words}.`}
    </p>
  );
}

/** The trade that the address names when the page opens. @param number From 1. */
function useOpenedTrade(id: string, number: number | undefined): TradeAt | undefined {
  const [opened] = useState(number !== undefined && number > 0 ? number : undefined);
  const { data: table } = useQuery(
    api.backtests.tradeTable.queryOptions({ id, after: (opened ?? 1) - 1, limit: 1 }, {
      ...{ staleTime: Infinity, enabled: opened !== undefined },
    }),
  );
  return useMemo(() => table === undefined || table.number.length === 0 ? undefined : { table, i: 0 }, [table]);
}

function readView(text: string | undefined): ChartView | undefined {
  const [fromMs, toMs] = text?.split("-").map(Number) ?? [];
  return fromMs === undefined || toMs === undefined || fromMs > toMs ? undefined : { fromMs, toMs };
}

/** Says that candles of a result were revised since, and that it is the stored one of an equal run, where it is so. */
function ResultOrigin({ backtest: { id, stale, reused_from } }: { readonly backtest: Backtest }) {
  const isReadOnly = useReadOnly();
  return (
    <>
      {stale && (
        <p className="border-l-4 border-warn bg-sunken px-3 py-1.5 text-sm">
          Candles of this run were revised after it. {!isReadOnly && (
            <>
              <Link to="/runs/new" search={{ from: id }} className={LINK}>Run it again</Link>{" "}
              for a result on the candles of today.
            </>
          )}
        </p>
      )}
      {reused_from !== null && (
        <p className="text-sm text-muted max-sm:order-3">
          You had made this run before, so the result is that of the{" "}
          <Link to="/runs/$id" params={{ id: reused_from }} className={LINK}>earlier run</Link>.
        </p>
      )}
    </>
  );
}

/** The tries of its owner that a run is one of, and how much of its Sharpe ratio is more than their luck. */
function RunTries({ backtest: { trials } }: { readonly backtest: Backtest }) {
  // The room of the sentence, until it is known.
  if (trials === undefined || trials === null) return <p className="min-h-5" />;
  return (
    <p className="min-h-5 text-sm wrap-anywhere text-muted">
      {trials.conclusion} <Tip text={MEANING}>How tries count</Tip>
    </p>
  );
}
