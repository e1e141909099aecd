import { readRecord, requireName } from "../../db/codec/unreadable.ts";
import { encodeSeries } from "../../db/series.ts";
import { curvesName, figuresName } from "../../research/monte_carlo/path_sample.ts";
import { type MonteCarlo, monteCarloRecords } from "../../db/monte_carlos.ts";
import { type FailedPaths, MONTE_CARLO_METHODS, type MonteCarloResult } from "../../research/monte_carlo/request.ts";
import { traceStep } from "../common/telemetry.ts";
import type { Study, StudyServices } from "../studies/study_job.ts";
import type { ForeignPaths } from "./foreign_paths.ts";
import { loadPathsInput } from "./paths_input.ts";
import { makePaths } from "./paths_thread.ts";

/** Monte Carlo simulations, for runStudyJob(): paths that are made in a thread or a process of their own. */
export function monteCarloStudy(
  services: StudyServices & { readonly foreignPaths: ForeignPaths },
): Study<MonteCarlo, MonteCarloResult> {
  return {
    kind: "monteCarlo",
    records: monteCarloRecords,
    async compute(record, backtest, limits) {
      readRecord(
        `Monte Carlo simulation ${record.id}`,
        () => requireName(MONTE_CARLO_METHODS, record.method, "method"),
      );
      const { task, notes } = await traceStep(
        "load",
        () => loadPathsInput({ ...services, signal: limits.signal }, record, backtest),
      );
      const outcome = await traceStep(
        "simulate",
        () => task.method === "foreign_candles" ? services.foreignPaths.make(task, limits) : makePaths(task, limits),
      );
      if (outcome.type !== "completed") return outcome;
      const { samples, failed = [] } = outcome;
      const all = [...notes, ...failed.map((each) => describeFailed(each, record.runs))];
      const series = samples.flatMap(({ kept: { sampling, figures, curves } }) => [
        encodeSeries(figuresName(sampling), figures),
        encodeSeries(curvesName(sampling), { ...curves }),
      ]);
      const result = { samples: samples.map(({ sample }) => sample), failed_paths: failed, notes: all };
      return { type: "completed", result, series };
    },
  };
}

function describeFailed({ code, message, paths }: FailedPaths, runs: number): string {
  const subject = paths === 1 ? "1 fails and is" : `${paths} fail and are`;
  return `Of ${runs} paths, ${subject} not counted (${code}): ${message}`;
}
