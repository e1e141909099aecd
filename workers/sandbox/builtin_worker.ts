/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/**
 * The entry of a warm Web Worker without permissions. One at a time, it runs a built-in strategy or a slice of its trials over candles in
 * shared memory, finds the points of an optimization, or does a part of the work on its luck.
 */
import { encodeChunks, resultParts } from "../../db/codec/result_parts.ts";
import { drawSparkline } from "../../db/codec/sparkline.ts";
import { BufferPool, buffersOf } from "../../engine/buffer_pool.ts";
import { isAskedToStop } from "../../engine/control.ts";
import { repeat, run, RunStopped } from "../../engine/run.ts";
import { findBuiltin } from "../../strategies/builtin/catalogue.ts";
import { type LuckPart, measureLuckPart } from "../../research/overfitting.ts";
import { MarketsRefused } from "../../strategies/builtin/portfolio/portfolio_builtin.ts";
import { brokenBy, type Completed, NOT_BEGUN, type Outcome } from "../common/outcome.ts";
import type { EncodedRun, LuckTask, RunTask, ToWarmWorker } from "../common/protocol.ts";
import { checkIntegrity } from "./integrity.ts";
import { viewCandles } from "../../engine/candles.ts";
import { runCarry } from "./builtin_carry.ts";
import { runBuiltinPortfolio } from "./builtin_portfolio.ts";
import { runPortfolioCarry } from "./builtin_portfolio_carry.ts";
import { findPoints } from "./builtin_points.ts";
import { runSlice } from "./builtin_slice.ts";

/** Unused memory beyond this goes back to the system: about what two runs of a million candles take. */
const POOL_BYTES_MAX = 1 << 26;

const pool = new BufferPool(POOL_BYTES_MAX);

self.onmessage = ({ data: { job, control } }: MessageEvent<ToWarmWorker>) => {
  if (job.kind === "slice") {
    const outcome = attempt(() => runSlice(job.tasks, control, pool));
    self.postMessage(outcome, [...buffersOf(outcome)]);
  } else if (job.kind === "carry") {
    const { task } = job;
    self.postMessage(
      attempt(() => "markets" in task ? runPortfolioCarry(task, control, pool) : runCarry(task, control, pool)),
    );
  } else if (job.kind === "luck") {
    self.postMessage(attempt(() => runLuckPart(job.task, control)));
  } else if (job.kind === "points") {
    const outcome = attempt(() => findPoints(job.task, control));
    self.postMessage(outcome, [...buffersOf(outcome)]);
  } else {
    const outcome = attempt(() =>
      job.kind === "portfolio" ? runBuiltinPortfolio(job.task, control, pool) : execute(job.task, control)
    );
    const chunks = outcome.type === "completed" ? outcome.chunks : [];
    // Shared candles stay here for later results.
    self.postMessage(outcome, [...buffersOf(chunks.map(({ data, tags }) => ({ data, tags })))]);
  }
  pool.reclaim();
};

function attempt<Value extends object>(work: () => Outcome<Value>): Outcome<Value> {
  try {
    return work();
  } catch (error) {
    if (error instanceof RunStopped) return { type: "stopped", candlesDone: error.candlesDone };
    if (error instanceof MarketsRefused) {
      return { type: "failed", code: "STRATEGY_FAILED", message: `Cannot run: ${error.parameter} ${error.message}` };
    }
    return brokenBy(error);
  }
}

function execute(task: RunTask, control: Int32Array): Outcome<EncodedRun> {
  // The stop may have come before this message.
  if (isAskedToStop(control)) return NOT_BEGUN;
  const builtin = findBuiltin(task.slug);
  if (builtin === undefined) return { type: "broken", message: `there is no built-in strategy ${task.slug}` };
  const { slug: _slug, parameters, candles, candlesSha256: sha256, seed, ...settings } = task;
  const make = () => builtin.create(parameters, task.execution);
  const begun = currentMs();
  const result = run({ ...settings, candles, strategy: make(), control, pool });
  const ran = currentMs();
  const again = (until: number) =>
    repeat({ ...settings, candles: viewCandles(candles, 0, until), strategy: make(), control, pool });
  const integrity = checkIntegrity(again, {
    result,
    time: candles.time,
    close: candles.close,
    firstIndex: task.firstIndex,
    seed,
  });
  const checked = currentMs();
  const chunks = [...encodeChunks(resultParts(result, { ...candles, sha256 }, task.firstIndex))];
  const { metrics, undefinedMetrics, bounds, notes } = result;
  return {
    type: "completed",
    result: { metrics, undefinedMetrics, bounds, notes },
    integrity,
    chunks,
    sparkline: drawSparkline(result.equity, task.initialBalance),
    times: { begun, ran, checked, encoded: currentMs() },
  };
}

function currentMs(): number {
  return performance.timeOrigin + performance.now();
}

/**
 * Does a part of the work on an optimization's luck.
 *
 * @throws {RunStopped} When the control words ask for it.
 */
function runLuckPart({ trials, ...splits }: LuckTask, control: Int32Array): Completed<LuckPart> {
  const part = measureLuckPart(trials, splits, () => {
    if (isAskedToStop(control)) throw new RunStopped(0);
  });
  return { type: "completed", ...part };
}
