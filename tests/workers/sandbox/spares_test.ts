/** Processes that wait for their one job: no job finds anything of another, and none is left. */
import { expect } from "@std/expect";
import { runInSandbox, type SandboxLimits } from "../../../workers/sandbox/process.ts";
import { Spares } from "../../../workers/sandbox/spares.ts";
import { SANDBOX_BYTES_MAX, type ScriptJob } from "../../../workers/sandbox/task.ts";
import { until } from "../../support/until.ts";
import { deciding } from "./script/scripts.ts";
import { dailyCandles, taskOver, wanderingCloses } from "./wasm/modules.ts";

const HONEST = await Deno.readFile(new URL("../../../strategies/examples/c/sma_cross.wasm", import.meta.url));

// Files that are tested at the same time share this process, and start others.
const started = new Set<number>();
const { spawn } = Deno.Command.prototype;
Deno.Command.prototype.spawn = function () {
  const child = spawn.call(this);
  started.add(child.pid);
  return child;
};

Deno.test("a process that waited gives a run the result of one that was started for it", async () => {
  await using spares = closing(new Spares());
  const job = scriptJob(deciding("if (i % 7 === 1) orders.buy(); else if (i % 7 === 4) orders.close();"));
  const alone = await runInSandbox(job, limits());
  expect(alone.type).toBe("completed");
  expect(await runInSandbox(job, limits(spares))).toEqual(alone);
  const [waiting] = await childrenWaiting(spares, 1);
  const run = runInSandbox(job, limits(spares));
  // It has taken the process.
  expect([spares.count, childrenOf().includes(waiting ?? 0)]).toEqual([0, true]);
  expect(await run).toEqual(alone);
  // A completed run does not wait until its process is gone, which was killed.
  await until(() => !childrenOf().includes(waiting ?? 0));
});

Deno.test("each run has a process of its own, and finds nothing of the run before", async () => {
  await using spares = closing(new Spares());
  const seen = new Set<number | undefined>();
  const source = deciding(
    "if (i === 1) { const { log } = console; log(String(globalThis.left)); globalThis.left = 1; }",
  );
  for (let n = 0; n < 2; n++) {
    const outcome = await runInSandbox(scriptJob(source), limits(spares));
    expect(outcome).toMatchObject({ type: "completed", log: ["undefined"] });
    const [next] = await childrenWaiting(spares, 1);
    seen.add(next);
  }
  expect(seen.size).toBe(2);
});

Deno.test("a run in a process that waited has the limits of any other", async () => {
  const honest = scriptJob(deciding(""));
  const greedy = deciding("this.kept ??= []; for (;;) this.kept.push(new Float64Array(1e5).fill(i));");
  const ends = [
    { source: greedy, code: "STRATEGY_OUT_OF_MEMORY", deadlineMs: 120_000 },
    { source: deciding("for (;;);"), code: "STRATEGY_TIMED_OUT", deadlineMs: 2000 },
  ];
  for (const { source, code, deadlineMs } of ends) {
    // Of their own: the run before has a process started too, sooner or later than this one's.
    await using spares = closing(new Spares());
    await runInSandbox(honest, limits(spares));
    await childrenWaiting(spares, 1);
    const run = runInSandbox(scriptJob(source), { ...limits(spares), deadlineMs });
    expect([spares.count, await run]).toMatchObject([0, { type: "failed", code }]);
  }
});

Deno.test("at most two processes wait, of the kinds that were used last, and a closed service has none", async () => {
  const spares = new Spares();
  const job = scriptJob(deciding(""));
  const check = { ...job, kind: "check_script" } as const;
  await Promise.all([job, check, job].map((each) => runInSandbox(each, limits(spares))));
  await childrenWaiting(spares, 2);
  const module = { kind: "validate", module: HONEST, parametersJson: '{"fast":2,"slow":3}', candlesMin: 1 } as const;
  expect((await runInSandbox(module, limits(spares))).type).toBe("completed");
  await childrenWaiting(spares, 2);
  await spares.close();
  expect([spares.count, childrenOf()]).toEqual([0, []]);
  // A run that ends afterwards starts none.
  await runInSandbox(job, limits(spares));
  expect([spares.count, childrenOf()]).toEqual([0, []]);
});

Deno.test("a process that nobody needs for long ends, and one that died is not given a job", async () => {
  await using spares = closing(new Spares(500));
  const job = scriptJob(deciding(""));
  await runInSandbox(job, limits(spares));
  await childrenWaiting(spares, 1);
  await until(() => spares.count === 0 && childrenOf().length === 0);
  await using lasting = closing(new Spares());
  await runInSandbox(job, limits(lasting));
  const [waiting] = await childrenWaiting(lasting, 1);
  Deno.kill(waiting!, "SIGKILL");
  await until(() => lasting.count === 0);
  expect((await runInSandbox(job, limits(lasting))).type).toBe("completed");
});

Deno.test("a job that needs other limits starts a process of its own", async () => {
  await using spares = closing(new Spares());
  const job = scriptJob(deciding(""));
  await runInSandbox(job, limits(spares));
  const [waiting] = await childrenWaiting(spares, 1);
  await runInSandbox(job, { ...limits(spares), memoryBytesMax: 300 * 2 ** 20 });
  await runInSandbox(job, { ...limits(spares), jitless: true });
  expect(childrenOf()).toContain(waiting);
});

function scriptJob(source: string): ScriptJob {
  const task = taskOver(dailyCandles(wanderingCloses(300)));
  return {
    ...{ kind: "script", language: "typescript", source, parametersJson: "{}", candlesMin: 1, lookbackWanted: null },
    task,
  };
}

function limits(spares?: Spares): SandboxLimits {
  const { signal } = new AbortController();
  return { deadlineMs: 120_000, memoryBytesMax: SANDBOX_BYTES_MAX, onProgress: () => {}, signal, spares };
}

/** Waits until so many processes wait for a job. @returns Their numbers. */
async function childrenWaiting(spares: Spares, count: number): Promise<readonly number[]> {
  return await until(() => {
    const children = childrenOf();
    return spares.count === count && children.length === count && children;
  });
}

/** Numbers of the processes that this file has started and that are not gone. */
function childrenOf(): readonly number[] {
  return [...started].filter((pid) => {
    try {
      const [, parent] = Deno.readTextFileSync(`/proc/${pid}/stat`).split(") ")[1]!.split(" ");
      return Number(parent) === Deno.pid;
    } catch {
      return false;
    }
  });
}

function closing(spares: Spares): Spares & AsyncDisposable {
  return Object.assign(spares, { [Symbol.asyncDispose]: () => spares.close() });
}
