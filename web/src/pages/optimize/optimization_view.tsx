import type { Optimization } from "../../api.ts";
import { formatCount, formatRatio } from "../../parts/format.ts";
import { OptimizationHeader } from "./optimization_header.tsx";
import { Luck } from "./luck.tsx";
import { ParallelCoordinates } from "./parallel_coordinates.tsx";
import { ScanRankingSection } from "./scan_ranking.tsx";
import { SurfaceSection } from "./surface_section.tsx";
import { TrialTable } from "./trial_table.tsx";
import { hasEnded } from "../../parts/use_backtest.ts";
import { WalkForward } from "./walk_forward.tsx";

const PANEL = "rounded-lg border border-line bg-surface p-4";

/** One optimization: its progress, the objective over its parameters, and its trials, the best first. */
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
      {optimization.trials.done > 0 && (
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
