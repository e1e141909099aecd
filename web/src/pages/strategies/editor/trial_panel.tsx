import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { UseFormReturn } from "react-hook-form";
import type { Backtest } from "../../../api.ts";
import { Button } from "../../../parts/button.tsx";
import { InputsFields } from "../../new_run/inputs_fields.tsx";
import type { RunForm } from "../../new_run/run_form.ts";
import { Charts } from "../../run/chart/charts.tsx";
import { FailedPlots } from "../../run/failed_plots.tsx";
import { Log } from "../../run/log.tsx";
import { formatCount, formatProgress } from "../../../parts/format.ts";
import { useMetrics } from "../../../parts/metric_value.ts";
import { SummaryStrip } from "../../run/summary_strip.tsx";
import { hasEnded, useBacktest } from "../../../parts/use_backtest.ts";
import type { Trial } from "../../../parts/use_trials.ts";
import { Field, SelectField } from "../../../parts/field.tsx";
import { TIMEFRAMES } from "../../../parts/candle_timeframes.ts";
import { InstrumentPicker } from "../../new_run/market_section.tsx";

/** The market beside an editor, the button that runs its text, and the result of the last run. */
export function TrialPanel({ form, trial, onRun, onFailure }: {
  readonly form: UseFormReturn<RunForm>;
  readonly trial: Trial;
  readonly onRun: () => void;
  /** Receives why a run failed. */
  readonly onFailure: (message: string) => void;
}) {
  return (
    <section aria-label="Try it" className="flex min-w-0 flex-col gap-2">
      <TrialMarket form={form} />
      <InputsFields form={form} />
      <div className="flex flex-wrap items-center gap-3">
        <Button kind="primary" className="h-9 min-w-32" onClick={onRun}>
          Run it
          <kbd aria-hidden="true" className="text-xs font-normal max-sm:hidden">Ctrl ⏎</kbd>
        </Button>
        <p role="alert" className="min-w-0 grow text-sm break-words text-danger">{trial.refusal}</p>
      </div>
      {trial.id === undefined
        ? (
          <p className="rounded-lg border border-line p-6 text-center text-sm text-muted">
            Run the text over these candles: its figures, curve, plots and log appear here.
          </p>
        )
        : <LastRun id={trial.id} trial={trial} onFailure={onFailure} />}
    </section>
  );
}

/** The result of a run; until it has ended, that of the run before. */
function LastRun({ id, trial: { isStarting, refusal }, onFailure }: {
  readonly id: string;
  readonly trial: Trial;
  readonly onFailure: (message: string) => void;
}) {
  const { data } = useBacktest(id);
  const [shown, setShown] = useState<Backtest>();
  const latest = data?.backtest;
  useEffect(() => {
    if (latest === undefined || !hasEnded(latest)) return;
    setShown(latest);
    if (latest.status === "failed") onFailure(latest.error?.message ?? "");
  }, [latest, onFailure]);
  const isRunning = isStarting || shown?.id !== id;
  return (
    <div aria-busy={isRunning} className={`flex min-w-0 flex-col gap-2 ${isRunning ? "opacity-60" : ""}`}>
      <p role="status" className="min-h-5 text-sm text-muted">
        {isRunning && `Running: ${formatProgress(latest?.progress ?? 0)}`}
        {!isRunning && refusal !== "" && "Of an earlier text: the last one did not run. "}
        {!isRunning && shown !== undefined && <Ended backtest={shown} />}
      </p>
      {shown !== undefined && <Result key={shown.id} backtest={shown} />}
    </div>
  );
}

function Ended({ backtest: { id, status, result } }: { readonly backtest: Backtest }) {
  return (
    <>
      {result === null ? `The run ${status}.` : `Completed: ${formatCount(result.data.candles)} candles.`}{" "}
      <Link to="/runs/$id" params={{ id }} className="text-accent underline">Open the run</Link>
    </>
  );
}

function Result({ backtest }: { readonly backtest: Backtest }) {
  const { id, result, error } = backtest;
  const [market, setMarket] = useState("");
  const metrics = useMetrics();
  return (
    <>
      {result === null
        ? (
          <>
            <p className="border-l-4 border-danger bg-sunken px-3 py-2 text-sm break-words">{error?.message}</p>
            <FailedPlots id={id} />
          </>
        )
        : (
          <>
            <SummaryStrip result={result} definitions={metrics} isNarrow />
            <Charts backtest={backtest} market={market} chooseMarket={setMarket} picks />
          </>
        )}
      <h2 className="text-sm font-semibold">Log</h2>
      <Log id={id} showsEnd={result === null} />
    </>
  );
}

/** The candles that an editor's text runs on. */
function TrialMarket({ form }: { readonly form: UseFormReturn<RunForm> }) {
  const { register, formState: { errors } } = form;
  return (
    <div className="grid grid-cols-2 items-start gap-x-4 sm:grid-cols-4">
      <div className="col-span-2 sm:col-span-4">
        <InstrumentPicker form={form} />
      </div>
      <SelectField
        label="Timeframe"
        error={errors.timeframe?.message}
        options={TIMEFRAMES.map((value) => ({ value, label: value }))}
        {...register("timeframe")}
      />
      <Field label="From (UTC)" type="date" {...register("start", { required: true })} />
      <Field label="To, exclusive" type="date" {...register("end", { required: true })} />
      <Field
        label="Initial balance"
        inputMode="decimal"
        autoComplete="off"
        {...register("balance", { required: true })}
      />
    </div>
  );
}
