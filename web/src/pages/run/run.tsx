import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { type Backtest, codeOf } from "../../api.ts";
import { DeletedElsewhere, Failure, NotYours } from "../../parts/failure.tsx";
import { CompletedRun } from "./completed_run.tsx";
import { RunLabels } from "./labels/run_labels.tsx";
import { RunActions } from "./run_actions.tsx";
import { RunHeader } from "./run_header.tsx";
import { hasEnded, useBacktest, useChangingLabels } from "../../parts/use_backtest.ts";
import { InlineEdit } from "../../parts/inline_edit.tsx";
import { StarButton } from "../../parts/star_button.tsx";
import { RunHeading } from "../../parts/run_heading.tsx";
import { useLabelField } from "../../parts/use_labels.ts";
import { formatDuration, formatMoney, formatProgress, formatTime, toWords, writeTimes } from "../../parts/format.ts";
import { ProgressBar } from "../../parts/progress_bar.tsx";
import { nameProviders } from "../../parts/provider_name.ts";

const FailedPlots = lazy(async () => ({ default: (await import("./failed_plots.tsx")).FailedPlots }));
const Log = lazy(async () => ({ default: (await import("./log.tsx")).Log }));
const route = getRouteApi("/signed-in/runs/$id");

const PANEL = "rounded-lg border border-line bg-surface p-6";
const ADVICE: Readonly<Record<string, string>> = {
  NO_DATA: "Choose a range and a timeframe that the archive holds, or import candles for them.",
  RANGE_TOO_LARGE: "Choose a shorter range or a coarser timeframe.",
  STRATEGY_FAILED: "The strategy's own code gave up. Its message says why.",
  STRATEGY_TIMED_OUT: "Choose a shorter range, or make the strategy quicker.",
  STRATEGY_OUT_OF_MEMORY: "Let the strategy keep less, or choose a shorter range.",
  INVALID_SIGNAL: "Mend the strategy: it decided something that makes no sense.",
  ENDPOINT_FAILED: "See that the endpoint runs and can be reached from the service, and run again.",
  ENDPOINT_NOT_ALLOWED: "Use a public address for the endpoint.",
  PYTHON_NOT_READY: "Submit it again in a minute.",
  SCRIPTS_NOT_ALLOWED: "Write the strategy as a WebAssembly module or an endpoint.",
  PROVIDER_FAILED: "The market-data provider has a fault. Run again later, or import the candles.",
  PROVIDER_RATE_LIMITED: "The market-data provider is out of requests. Run again later, or import the candles.",
  QUOTA_EXCEEDED: "Delete runs that you no longer need, and run again.",
  INTERNAL: "This is a fault of the service. Run again; if it stays, tell its operator.",
};

/** One run: its figures, charts, trades, orders and assumptions; its progress while it runs. */
export function RunPage() {
  const { id } = route.useParams();
  const { data, error, refetch } = useBacktest(id);
  useChangingLabels(id, data !== undefined && hasEnded(data.backtest));
  if (codeOf(error) === "BACKTEST_NOT_FOUND") {
    const Gone = data === undefined ? NotYours : DeletedElsewhere;
    return <Gone noun="run" to="/runs" />;
  }
  if (data === undefined) {
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

/** The heading of a run: its star, its name, and its status. */
function RunName({ backtest }: { readonly backtest: Backtest }) {
  const { shown: { name, default_name }, error, refused, isOpen, wasOpen, open, keep, leave } = useLabelField(backtest);
  if (isOpen) {
    return (
      <div className="flex min-h-8 items-start">
        <h1 className="sr-only">{name ?? default_name}</h1>
        <InlineEdit
          label="Name of the run"
          start={refused.name ?? name ?? ""}
          placeholder={default_name}
          error={error}
          onKeep={(typed) => keep({ name: typed })}
          onLeave={leave}
        />
      </div>
    );
  }
  return (
    <div className="-ml-1.5 flex min-h-8 items-center gap-1">
      <StarButton run={backtest} />
      <RunHeading run={{ ...backtest, name }} />
      <button
        type="button"
        aria-label="Rename the run"
        title="Rename the run"
        autoFocus={wasOpen}
        onClick={open}
        className="grid size-7 shrink-0 place-items-center rounded-md text-muted hover:bg-sunken hover:text-text"
      >
        ✎
      </button>
    </div>
  );
}

/** A run that waits or runs, or was cancelled. */
function UnderWay({ backtest }: { readonly backtest: Backtest }) {
  const { status, progress, partial_equity: partial } = backtest;
  if (status === "cancelled") {
    return <p className={`${PANEL} text-muted`}>This run was cancelled, so it has no result.</p>;
  }
  return (
    <section className={PANEL} aria-label="Progress">
      <p className="text-lg font-semibold" aria-live="polite">
        {status === "queued" ? "Waiting for a worker" : `Running: ${formatProgress(progress)}`}
      </p>
      <div className="mt-3">
        <ProgressBar label="Progress of the run" progress={progress} />
      </div>
      <p className="mt-3 min-h-6 text-muted">
        {partial === null
          ? status === "queued" ? "It begins as soon as a worker is free. You can leave this page." : ""
          : `Equity ${formatMoney(partial.equity)} at ${formatTime(partial.timestamp)} UTC`}
      </p>
    </section>
  );
}

/** A run that failed: why, and what to do. */
function Failed({ backtest: { error, attempts, started_at, finished_at } }: { readonly backtest: Backtest }) {
  const code = error?.code ?? "INTERNAL";
  return (
    <section className={`${PANEL} border-l-4 border-l-danger`} aria-label="Failure">
      <h2 className="text-lg font-semibold">This run failed: {toWords(code.toLowerCase())}</h2>
      <p className="mt-2 break-words">{nameProviders(writeTimes(error?.message ?? ""))}</p>
      <p className="mt-2 text-muted">{ADVICE[code]}</p>
      {started_at !== null && finished_at !== null && (
        <p className="mt-4 text-xs text-muted">
          Ended {formatTime(finished_at)} UTC after {formatDuration(Date.parse(finished_at) - Date.parse(started_at))}
          {attempts > 1 ? `, at attempt ${attempts}` : ""}.
        </p>
      )}
    </section>
  );
}
