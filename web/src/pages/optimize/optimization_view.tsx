import type { Optimization } from "../../api.ts";
import { formatCount, formatExact, formatRatio } from "../../parts/format.ts";
import { OptimizationHeader } from "./optimization_header.tsx";
import { Luck } from "./luck.tsx";
import { ParallelCoordinates } from "./parallel_coordinates.tsx";
import { ScanRankingSection } from "./scan_ranking.tsx";
import { SurfaceSection } from "./surface_section.tsx";
import { TrialTable } from "./trial_table.tsx";
import { hasEnded } from "../../parts/use_backtest.ts";
import { WalkForward } from "./walk_forward.tsx";
import { ROW_CLASS, Table } from "../../parts/table.tsx";
import { Interval } from "../../parts/interval.tsx";
import { useMetric } from "../../parts/metric_value.ts";
import { useReadOnly } from "../../parts/read_only.ts";
import { RunTrial } from "./run_trial.tsx";

const PANEL = "rounded-lg border border-line bg-surface p-4";

/** One optimization: its progress, the objective over its parameters, its best trials so far, and all of them once it has ended. */
export function OptimizationView({ optimization }: { readonly optimization: Optimization }) {
  return (
    <div className="flex flex-col gap-3">
      <OptimizationHeader optimization={optimization} />
      <Progress optimization={optimization} />
      {optimization.trials.done > optimization.trials.failed && (
        <div className="grid items-start gap-3 lg:grid-cols-2">
          <section className={PANEL}>
            <SurfaceSection optimization={optimization} />
          </section>
          <section className={PANEL}>
            <ParallelCoordinates optimization={optimization} />
          </section>
        </div>
      )}
      {optimization.trials.done > optimization.trials.failed && !hasEnded(optimization) && (
        <section className={PANEL}>
          <h2 className="mb-2 text-lg font-semibold">Best trials</h2>
          <BestTrials optimization={optimization} />
        </section>
      )}
      {optimization.overfitting !== null && (
        <section className={PANEL}>
          <Luck overfitting={optimization.overfitting} luck={optimization.luck} best={optimization.best} />
        </section>
      )}
      {optimization.overfitting === null && optimization.luck !== null && (
        <section className={PANEL}>
          <h2 className="mb-1 text-lg font-semibold">How much is luck</h2>
          <p>{optimization.luck.conclusion}</p>
        </section>
      )}
      {optimization.windows !== null && (
        <section className={PANEL}>
          <WalkForward
            windows={optimization.windows}
            outOfSample={optimization.out_of_sample}
            objective={optimization.objective}
            space={optimization.space}
          />
        </section>
      )}
      {optimization.trials.done > optimization.trials.failed && optimization.markets !== null && (
        <section className={PANEL}>
          <ScanRankingSection optimization={optimization} />
        </section>
      )}
      {optimization.trials.done > 0 && hasEnded(optimization) && (
        <section className={PANEL}>
          <TrialTable optimization={optimization} />
        </section>
      )}
    </div>
  );
}

/** How far it is, or how it ended; the points that are no trials are counted. */
function Progress({ optimization }: { readonly optimization: Optimization }) {
  const { status, progress, points, trials, error } = optimization;
  const percent = Math.floor(progress * 100);
  const parts = [
    `${formatCount(trials.done)} trials`,
    ...(trials.per_second === null ? [] : [`${formatRatio(trials.per_second)} a second`]),
    ...(trials.failed > 0 ? [`${formatCount(trials.failed)} of them failed`] : []),
    ...(points.constrained > 0 ? [`${formatCount(points.constrained)} points broke a constraint`] : []),
    ...(points.refused > 0 ? [`${formatCount(points.refused)} points were refused by the strategy`] : []),
  ];
  return (
    <section className={`${PANEL} ${status === "failed" ? "border-l-4 border-l-danger" : ""}`} aria-label="Progress">
      {error !== null && <p role="alert" className="mb-2 break-words text-danger">{error.message}</p>}
      {!hasEnded(optimization) && (
        <div
          role="progressbar"
          aria-label="Progress of the optimization"
          aria-valuenow={percent}
          aria-valuemin={0}
          aria-valuemax={100}
          className="mb-2 h-2 overflow-hidden rounded-full bg-sunken"
        >
          <div className="h-full rounded-full bg-accent transition-[width]" style={{ width: `${progress * 100}%` }} />
        </div>
      )}
      <p className="text-sm text-muted">
        {status === "queued" ? "Waiting for a worker. You can leave this page." : parts.join(" · ")}
      </p>
    </section>
  );
}

/** The best trials so far, each of which can be run as a backtest. */
function BestTrials({ optimization }: { readonly optimization: Optimization }) {
  const { id, best, space, markets, objective } = optimization;
  const isReadOnly = useReadOnly();
  const { label } = useMetric()(objective);
  const hasSharpe = objective !== "sharpe" && best.some(({ sharpe }) => sharpe !== null);
  const names = Object.keys(space);
  const columns = [
    { label: "Trial", isText: true } as const,
    ...(markets === null ? [] : [{ label: "Market", isText: true, width: "10rem" } as const]),
    ...names.map((name) => ({ label: name, width: "8rem" })),
    { label, width: "9rem" },
    ...(hasSharpe ? [{ label: "Sharpe", width: "9rem" }] : []),
    ...(isReadOnly ? [] : [{ label: "As a run", width: "8rem" }]),
  ];
  return (
    <Table
      label="Best trials"
      columns={columns}
      minWidth={`${(hasSharpe ? 32 : 23) + (markets === null ? 0 : 10) + 8 * names.length}rem`}
      empty={`No trial has a value of ${label}.`}
    >
      {best.map(({ number, market, parameters, objective: value, sharpe, sharpe_low: low, sharpe_high: high }) => (
        <tr key={number} className={ROW_CLASS}>
          <td className="px-3 text-left text-muted">{number}</td>
          {markets !== null && <td className="truncate px-3 text-left">{market}</td>}
          {names.map((name) => <td key={name} className="truncate px-3">{String(parameters[name])}</td>)}
          <td className="px-3 font-medium">
            {formatExact(Number(value.toPrecision(5)))}
            {objective === "sharpe" && <Interval low={low} high={high} />}
          </td>
          {hasSharpe && (
            <td className="px-3">
              {formatRatio(sharpe)}
              <Interval low={low} high={high} />
            </td>
          )}
          {!isReadOnly && (
            <td className="px-3">
              <RunTrial id={id} number={number} />
            </td>
          )}
        </tr>
      ))}
    </Table>
  );
}
