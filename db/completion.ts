/** The parameters of the statement that completes runs, COMPLETE in backtest_statements.ts. */
import type { BacktestResult } from "../engine/result.ts";
import { measureResult, type Size } from "./backtest_sizes.ts";
import { type StoredPlot, storedPlots } from "./codec/plots_part.ts";
import type { ResultChunk } from "./codec/result_parts.ts";
import { storableJson } from "./codec/storable.ts";
import { packRows } from "./result_chunks.ts";
import type { ResultInputs } from "./result_inputs.ts";

/** A worker's key to the record that it holds: it finds nothing once another worker has claimed the record. */
export interface AttemptKey {
  readonly id: string;
  readonly attempt: number;
}

/** The results of a completed run. */
export interface CompletedRun extends AttemptKey {
  readonly result: BacktestResult;
  /** The equity in a few points, as fractions of the initial balance. */
  readonly sparkline?: readonly number[];
  /** Its trades, orders, equity and plots. */
  readonly chunks: readonly ResultChunk[];
  /** The names of its plots. */
  readonly plots?: readonly StoredPlot[];
  /** Lines that its strategy logged. */
  readonly log?: readonly string[];
  readonly inputs?: ResultInputs;
  /** The backtest whose stored result this is; absent for one of a simulation. */
  readonly reusedFrom?: string;
  /** True if insertChunksAhead() has written them. */
  readonly areChunksWritten?: boolean;
}

/** @param moreSizes Bytes of other records, which are added with those of the runs. */
export function completion(runs: readonly CompletedRun[], moreSizes: readonly Size[]): unknown[] {
  const rows = runs.flatMap(({ id: backtestId, attempt, chunks, areChunksWritten = false }) =>
    areChunksWritten ? [] : chunks.map((chunk) => ({ ...chunk, backtestId, attempt }))
  );
  return [
    `[${runs.map(describe).join()}]`,
    ...packRows(rows),
    moreSizes.map(({ ownerId }) => ownerId),
    moreSizes.map(({ sizeBytes }) => sizeBytes),
  ];
}

function describe(run: CompletedRun): string {
  const { id, attempt, plots = [], sparkline, inputs, reusedFrom } = run;
  const result = storableJson(run.result);
  const bytes = measureResult(result, run);
  const others = storableJson({ id, attempt, bytes, plots: storedPlots(plots), sparkline, inputs, reusedFrom });
  // The result is long: its text serves for its size, too.
  return `${others.slice(0, -1)},"result":${result}}`;
}
