/**
 * A process that runs an endless module and prints the processes under it as JSON. With the argument `stop` it ends the run and prints
 * the processes that are left; without, it waits to be killed.
 */
import { runInSandbox } from "../../../workers/sandbox/process.ts";
import { listChildren } from "../../support/processes.ts";
import { compileWat, dailyCandles, strategyWat, taskOver, wanderingCloses } from "./wasm/modules.ts";

const stop = new AbortController();
const module = compileWat(strategyWat({ onCandle: "(loop $again (br $again)) (i32.const 0)" }));
const task = taskOver(dailyCandles(wanderingCloses(100)));
let isBusy = false;
const outcome = await runInSandbox({
  kind: "run",
  module,
  parametersJson: "{}",
  candlesMin: 1,
  lookbackWanted: null,
  task,
}, {
  deadlineMs: 60_000,
  memoryBytesMax: 2 ** 29,
  signal: stop.signal,
  onProgress: () => {
    if (isBusy) return;
    isBusy = true;
    say(listDescendants(Deno.pid));
    if (Deno.args[0] === "stop") stop.abort();
  },
});
say({ outcome: outcome.type, left: listDescendants(Deno.pid) });

function listDescendants(pid: number): number[] {
  return listChildren(pid).flatMap((child) => [child, ...listDescendants(child)]);
}

function say(line: object): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(line)}\n`));
}
