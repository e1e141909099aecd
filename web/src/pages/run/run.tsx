import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { type Backtest, codeOf } from "../../api.ts";
import { Failure, NotYours } from "../../parts/failure.tsx";
import { CompletedRun } from "./completed_run.tsx";
import { RunLabels } from "./labels/run_labels.tsx";
import { RunName } from "./labels/run_name.tsx";
import { RunActions } from "./run_actions.tsx";
import { RunHeader } from "./run_header.tsx";
import { Failed, UnderWay } from "./unfinished.tsx";
import { useBacktest } from "../../parts/use_backtest.ts";

const FailedPlots = lazy(async () => ({ default: (await import("./failed_plots.tsx")).FailedPlots }));
const Log = lazy(async () => ({ default: (await import("./log.tsx")).Log }));
const route = getRouteApi("/signed-in/runs/$id");

/** One run: its figures, charts, trades, orders and assumptions; its progress while it runs. */
export function RunPage() {
  const { id } = route.useParams();
  const { data, error, refetch } = useBacktest(id);
  if (data === undefined) {
    if (codeOf(error) === "BACKTEST_NOT_FOUND") return <NotYours noun="run" to="/runs" />;
    if (error) return <Failure error={error} reset={() => void refetch()} />;
    return <p role="status" className="py-24 text-center text-muted">Loading the run …</p>;
  }
  const { backtest } = data;
  return (
    <div className="flex flex-col gap-3">
      <RunHeader
        backtest={backtest}
        heading={<RunName backtest={backtest} />}
        labels={<RunLabels backtest={backtest} />}
        actions={<RunActions backtest={backtest} />}
      />
      {backtest.result === null
        ? backtest.status === "failed" ? <FailedRun backtest={backtest} /> : <UnderWay backtest={backtest} />
        : <CompletedRun key={backtest.id} backtest={backtest} result={backtest.result} />}
    </div>
  );
}

/** Why a run failed, and what its strategy plotted and logged until then. */
function FailedRun({ backtest }: { readonly backtest: Backtest }) {
  return (
    <>
      <Failed backtest={backtest} />
      <Suspense>
        <FailedPlots id={backtest.id} />
        <section className="rounded-lg border border-line bg-surface p-4">
          <h2 className="mb-2 text-lg font-semibold">Log</h2>
          <Log id={backtest.id} showsEnd />
        </section>
      </Suspense>
    </>
  );
}
