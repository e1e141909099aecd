import type { Backtest } from "../../api.ts";
import { formatDuration, formatMoney, formatTime, toWords } from "../../parts/format.ts";
import { ProgressBar } from "../../parts/progress_bar.tsx";

const PANEL = "rounded-lg border border-line bg-surface p-6";

/** A run that waits or runs, or was cancelled. */
export function UnderWay({ backtest }: { readonly backtest: Backtest }) {
  const { status, progress, partial_equity: partial } = backtest;
  if (status === "cancelled") {
    return <p className={`${PANEL} text-muted`}>This run was cancelled, so it has no result.</p>;
  }
  const percent = Math.floor(progress * 100);
  return (
    <section className={PANEL} aria-label="Progress">
      <p className="text-lg font-semibold" aria-live="polite">
        {status === "queued" ? "Waiting for a worker" : `Running: ${percent}%`}
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

const ADVICE: Readonly<Record<string, string>> = {
  NO_DATA: "Choose a range that the archive holds, or import candles for it.",
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

/** A run that failed: why, and what to do. */
export function Failed({ backtest: { error, attempts, started_at, finished_at } }: { readonly backtest: Backtest }) {
  const code = error?.code ?? "INTERNAL";
  return (
    <section className={`${PANEL} border-l-4 border-l-danger`} aria-label="Failure">
      <h2 className="text-lg font-semibold">This run failed: {toWords(code.toLowerCase())}</h2>
      <p className="mt-2 break-words">{error?.message}</p>
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
