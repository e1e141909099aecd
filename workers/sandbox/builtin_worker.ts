/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** What runs inside a Web Worker without permissions: one built-in strategy at a time over candles in shared memory. */
import { isAskedToStop } from "../../engine/control.ts";
import { run, RunStopped } from "../../engine/run.ts";
import { findBuiltin } from "../../strategies/builtin/catalogue.ts";
import type { FromSandbox, RunTask, ToSandbox } from "../protocol.ts";
import { checkIntegrity, cutCandles } from "./integrity.ts";
import { buffersOf } from "./transfer.ts";

self.onmessage = ({ data }: MessageEvent<ToSandbox>) => {
  const answer = execute(data.task, data.control);
  self.postMessage(answer, answer.type === "done" ? [...buffersOf(answer.result)] : []);
};

function execute(task: RunTask, control: Int32Array): FromSandbox {
  try {
    // It may have come while this run was still on its way here.
    if (isAskedToStop(control)) return { type: "stopped", candlesDone: 0 };
    const builtin = findBuiltin(task.slug);
    if (builtin === undefined) return { type: "broken", message: `there is no built-in strategy ${task.slug}` };
    const { slug: _slug, parameters, candles, seed, ...settings } = task;
    const make = () => builtin.create(parameters);
    const result = run({ ...settings, candles, strategy: make(), control });
    const again = (until: number) =>
      run({ ...settings, candles: cutCandles(candles, until), strategy: make(), control });
    const integrity = checkIntegrity(again, { result, time: candles.time, firstIndex: task.firstIndex, seed });
    return { type: "done", result, integrity };
  } catch (error) {
    if (error instanceof RunStopped) return { type: "stopped", candlesDone: error.candlesDone };
    return { type: "broken", message: error instanceof Error ? error.stack ?? error.message : String(error) };
  }
}
