/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** The entry of a warm Web Worker without permissions: runs one built-in strategy at a time over candles in shared memory. */
import { BufferPool, buffersOf } from "../../engine/buffer_pool.ts";
import { isAskedToStop } from "../../engine/control.ts";
import { run, type RunResult, RunStopped } from "../../engine/run.ts";
import { findBuiltin } from "../../strategies/builtin/catalogue.ts";
import { brokenBy, NOT_BEGUN, type Outcome } from "../outcome.ts";
import type { RunTask, SimulatedRun, ToWarmWorker } from "../protocol.ts";
import { checkIntegrity, cutCandles } from "./integrity.ts";

/** Unused memory beyond this goes back to the system: about what two runs of a million candles take. */
const POOL_BYTES_MAX = 1 << 26;

const pool = new BufferPool(POOL_BYTES_MAX);

self.onmessage = ({ data }: MessageEvent<ToWarmWorker>) => {
  if (data.type === "reuse") return data.buffers.forEach((buffer) => pool.add(buffer));
  const outcome = execute(data.task, data.control);
  const leaving = outcome.type === "completed" ? buffersOf(outcome.result) : new Set<ArrayBuffer>();
  pool.reclaim(leaving);
  self.postMessage(outcome, [...leaving]);
};

function execute(task: RunTask, control: Int32Array): Outcome<SimulatedRun> {
  try {
    // The stop may have come before this message.
    if (isAskedToStop(control)) return NOT_BEGUN;
    const builtin = findBuiltin(task.slug);
    if (builtin === undefined) return { type: "broken", message: `there is no built-in strategy ${task.slug}` };
    const { slug: _slug, parameters, candles, seed, ...settings } = task;
    const make = () => builtin.create(parameters, task.execution);
    const begun = currentMs();
    const result = run({ ...settings, candles, strategy: make(), control, pool });
    const ran = currentMs();
    const again = (until: number) =>
      run({ ...settings, candles: cutCandles(candles, until), strategy: make(), control, pool });
    const integrity = checkIntegrity(again, { result, time: candles.time, firstIndex: task.firstIndex, seed });
    return {
      type: "completed",
      result: withoutEmptyTags(result),
      integrity,
      times: { begun, ran, checked: currentMs() },
    };
  } catch (error) {
    if (error instanceof RunStopped) return { type: "stopped", candlesDone: error.candlesDone };
    return brokenBy(error);
  }
}

/** A long list of nulls takes the receiver's thread, which answers requests, longer than all columns together. */
function withoutEmptyTags(result: RunResult): RunResult {
  const { trades, orders } = result;
  const cut = (tags: readonly (string | null)[]) => tags.every((tag) => tag === null) ? [] : tags;
  return { ...result, trades: { ...trades, tag: cut(trades.tag) }, orders: { ...orders, tag: cut(orders.tag) } };
}

function currentMs(): number {
  return performance.timeOrigin + performance.now();
}
