/** The process around a sandbox: it relays messages, and it is gone afterwards in every case. */
import { expect } from "@std/expect";
import { createControl, type RunProgress } from "../../../engine/control.ts";
import { join } from "node:path";
import { doWasmJob } from "../../../workers/sandbox/wasm/run.ts";
import { runInSandbox, type SandboxLimits } from "../../../workers/sandbox/process.ts";
import { RELOADS_MAX } from "../../../workers/sandbox/task.ts";
import { until } from "../../support/until.ts";
import { runExchanged } from "./exchanged_worker.ts";
import { compileWat, dailyCandles, strategyWat, taskOver, wanderingCloses } from "./wasm/modules.ts";

const HONEST = await Deno.readFile(new URL("../../../strategies/examples/c/sma_cross.wasm", import.meta.url));
const PARENT = new URL("./lone_parent.ts", import.meta.url).pathname;

Deno.test("a run in a process of its own gives the same result as in this process, to the last value", async () => {
  const task = taskOver(dailyCandles(wanderingCloses(3000)), { firstIndex: 40 });
  const job = {
    kind: "run",
    module: HONEST,
    parametersJson: '{"fast":5,"slow":20}',
    candlesMin: 1,
    lookbackWanted: null,
    task,
  } as const;
  const here = doWasmJob(job, createControl());
  expect(here.type).toBe("completed");
  expect(await runInSandbox(job, limits())).toEqual(here);
});

Deno.test("a validation reports the module's needs and the time of a decision", async () => {
  const outcome = await runInSandbox(
    { kind: "validate", module: HONEST, parametersJson: '{"fast":5,"slow":20}', candlesMin: 1 },
    limits(),
  );
  expect(outcome).toMatchObject({ type: "completed", log: [], report: { abiVersion: 1, warmup: 21, candles: 512 } });
  if (outcome.type !== "completed") return;
  expect(outcome.report.orders).toBeGreaterThan(0);
  expect(outcome.report.memoryBytesMax).toBe(2 ** 28);
  expect(outcome.report.nanosecondsPerCandle).toBeGreaterThan(0);
});

Deno.test("a module that fills its memory runs again and again: each instance frees its memory before the next", async () => {
  const module = compileWat(
    strategyWat({
      after: `(func $fill
        (drop (memory.grow (i32.const 4064)))
        (memory.fill (i32.const ${2 ** 21}) (i32.const 1) (i32.const ${254 * 2 ** 20})))
        (start $fill)`,
    }),
  );
  const task = taskOver(dailyCandles(wanderingCloses(5000)));
  // Each run has several instances: one to decide, and those of the integrity checks.
  for (let n = 0; n < 2; n++) {
    // Neither a busy machine nor the optimiser beside it may decide the outcome.
    const outcome = await runInSandbox({
      kind: "run",
      module,
      parametersJson: "{}",
      candlesMin: 1,
      lookbackWanted: null,
      task,
    }, limits());
    expect(outcome.type === "failed" ? outcome.message : outcome.type).toBe("completed");
  }
});

Deno.test("the candles of a long run do not count against its strategy's memory", async () => {
  // Three million candles take 183 MiB in the process, and the module's copy another 144 MiB.
  const module = compileWat(strategyWat({}).replace('"memory") 32', '"memory") 4096'));
  const days = dailyCandles(wanderingCloses(3_000_000));
  const task = taskOver({ ...days, time: days.time.map((_, i) => i * 60_000) }, { timeframeMs: 60_000 });
  const job = { kind: "run", module, parametersJson: "{}", candlesMin: 1, lookbackWanted: null, task } as const;
  const outcome = await runInSandbox(job, { ...limits(), memoryBytesMax: 300 * 2 ** 20 });
  expect(outcome.type === "failed" ? outcome.message : outcome.type).toBe("completed");
});

Deno.test("a run reports its progress, and a stop ends it at once", async () => {
  const slow = compileWat(
    strategyWat({
      locals: "(local $n i32)",
      onCandle: `(loop $more
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if $more (i32.lt_u (local.get $n) (i32.const 20000))))
      (i32.const 0)`,
    }).replace("32)", "1200)"),
  );
  const stop = new AbortController();
  let told = 0;
  const equities = new Set<number>();
  const onProgress = ({ candlesDone, equity }: RunProgress) => {
    if (candlesDone === 0) return;
    equities.add(equity);
    // More messages may be on their way when the run is stopped.
    if (!stop.signal.aborted) told = candlesDone;
    stop.abort();
  };
  const task = taskOver(dailyCandles(wanderingCloses(1_000_000)));
  const job = { kind: "run", module: slow, parametersJson: "{}", candlesMin: 1, lookbackWanted: null, task } as const;
  const outcome = await runInSandbox(job, { ...limits(), onProgress, signal: stop.signal });
  // The simulator reports its progress every 1,024 candles.
  expect(outcome).toEqual({ type: "stopped", candlesDone: told });
  expect([told > 0, told % 1024]).toEqual([true, 0]);
  // It never buys.
  expect([...equities]).toEqual([task.initialBalance]);
});

Deno.test("a strategy gets more candles for its warm-up in the same process", async () => {
  const closes = wanderingCloses(300);
  const task = taskOver(dailyCandles(closes.slice(100)));
  const job = { kind: "run", module: HONEST, parametersJson: '{"fast":5,"slow":50}', candlesMin: 1, task } as const;
  const asked: number[] = [];
  const reload = (lookbackCandles: number) => {
    asked.push(lookbackCandles);
    const longer = taskOver(dailyCandles(closes), { firstIndex: 100 });
    return Promise.resolve({ ...job, lookbackWanted: lookbackCandles, task: longer });
  };
  const outcome = await runInSandbox({ ...job, lookbackWanted: 20 }, { ...limits(), reload });
  if (outcome.type !== "completed") throw new Error(JSON.stringify(outcome));
  // The mean of 50 and its last value.
  expect([asked, outcome.result.equity.length, outcome.result.notes]).toEqual([[51], 200, []]);
  const unable = runInSandbox({ ...job, lookbackWanted: 20 }, {
    ...limits(),
    reload: () => Promise.reject(new RangeError("Cannot read the archive")),
  });
  await expect(unable).rejects.toThrow("Cannot read the archive");
});

Deno.test("trials get more candles for warm-ups that grow, in the same process, and no more often than a process may ask", async () => {
  const closes = wanderingCloses(2000);
  const slows = [5, 20, 60, 180, 500, 1200];
  let ended = 0;
  const jobOf = (lookback: number, canReload: boolean) => ({
    ...{ kind: "run_trials", module: HONEST, candlesMin: 1, budgetMs: 60_000, returnsMax: 1e6 } as const,
    parametersJson: slows.slice(ended).map((slow) => `{"fast":3,"slow":${slow}}`),
    task: taskOver(dailyCandles(closes.slice(1900 - lookback)), { firstIndex: lookback }),
    ...{ lookback: 5, lookbackWanted: lookback, canReload },
  });
  const asked: number[] = [];
  const runTrials = (reloadsMax: number) =>
    runInSandbox(jobOf(5, true), {
      ...limits(),
      onTrial: ({ type }) => void (ended += Number(type === "completed")),
      reload: (lookback) => Promise.resolve(jobOf(lookback, asked.push(lookback) < reloadsMax)),
    });
  expect(await runTrials(RELOADS_MAX)).toEqual({ type: "completed" });
  // The last would have had to ask once more: the next process runs it.
  expect([asked, ended]).toEqual([[12, 42, 122, 362], 4]);
  ended = 0;
  const greedy = await runTrials(Infinity);
  expect(greedy).toMatchObject({ type: "failed", code: "STRATEGY_FAILED" });
  expect(greedy).toHaveProperty("message", expect.stringContaining("it asks for 1002 candles before its range"));
});

Deno.test("a job that was stopped before its start starts nothing", async () => {
  const job = { kind: "validate", module: HONEST, parametersJson: "{}", candlesMin: 1 } as const;
  const outcome = await runInSandbox(job, { ...limits(), signal: AbortSignal.abort() });
  expect(outcome).toEqual({ type: "stopped", candlesDone: 0 });
});

Deno.test("the start of a process takes none of its job's time", async () => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-late-" });
  try {
    const wait = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 12_000);";
    const outcome = await runExchanged(
      folder,
      'self.postMessage({ type: "failed", code: "STRATEGY_FAILED", message: "it has begun" });',
      {
        // Time enough for a Worker on a busy machine, and less than the wait.
        deadlineMs: 11_000,
        edits: [
          ["workers/sandbox/child.ts", "const [kind", `${wait}\nconst [kind`],
          ["workers/sandbox/sandbox_process.ts", "SILENT_SECONDS_MAX = 15", "SILENT_SECONDS_MAX = 600"],
        ],
      },
    );
    expect(outcome).toMatchObject({ message: expect.stringContaining("it has begun") });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a job ends when it has computed for its time, and a busy machine takes nothing of that", async () => {
  const endless = compileWat(strategyWat({ onCandle: "(loop $again (br $again)) (i32.const 0)" }));
  const job = { kind: "validate", module: endless, parametersJson: "{}", candlesMin: 1 } as const;
  expect(await runInSandbox(job, { ...limits(), cpuMsMax: 500 })).toMatchObject({
    code: "INVALID_MODULE",
    message: expect.stringContaining("Cannot finish within 0.5 s: 0 candles were done"),
  });
  const folder = await Deno.makeTempDir({ prefix: "hindcast-busy-" });
  try {
    // It waits, as for a processor.
    const wait = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4000);";
    const end = 'self.postMessage({ type: "failed", code: "STRATEGY_FAILED", message: "it has ended" });';
    expect(await runExchanged(folder, wait + end, { cpuMsMax: 2000 }))
      .toMatchObject({ message: expect.stringContaining("it has ended") });
    // Where it still waits when its caller does no more, no fault is found.
    expect(await runExchanged(`${folder}/due`, wait.replace("4000", "600_000"), { cpuMsMax: 60_000, deadlineMs: 1000 }))
      .toEqual({ type: "stopped", candlesDone: 0 });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("when the service is killed, even a busy sandbox ends itself", async () => {
  const parent = startParent([], {});
  const running: number[] = JSON.parse(await parent.readLine());
  expect(running.length).toBe(1);
  parent.process.kill("SIGKILL");
  await parent.end();
  for (const pid of running) await waitUntilGone(pid);
});

Deno.test("if `deno` is a script that starts the real one, both are gone after a stop", async () => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-shim-" });
  try {
    // Like npm's: it waits for a process to which it passes no signal.
    await Deno.writeTextFile(join(folder, "deno"), `#!/bin/sh\n"${Deno.execPath()}" "$@"\nexit $?\n`, { mode: 0o755 });
    const parent = startParent(["stop"], { PATH: `${folder}:/usr/bin:/bin` });
    const running: number[] = JSON.parse(await parent.readLine());
    expect(running.length).toBe(2);
    expect(JSON.parse(await parent.readLine())).toEqual({ outcome: "stopped", left: [] });
    await parent.end();
    // The real one became a child of the system's first process when its script died; it must be gone too.
    for (const pid of running) await waitUntilGone(pid);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

const DEATHS: readonly (readonly [what: string, source: string, outcome: object])[] = [
  ["kills its process", `Deno.kill(Deno.pid, "SIGKILL");`, {
    type: "broken",
    message: expect.stringContaining("its process ended by SIGKILL"),
  }],
  ["throws before it has begun", `throw new Error("not today");`, {
    type: "broken",
    message: expect.stringContaining("not today"),
  }],
  ["speaks nonsense on standard output", `Deno.stdout.writeSync(new Uint8Array(64).fill(0x7f)); while (true);`, {
    type: "failed",
    code: "INVALID_MODULE",
    message: expect.stringMatching(/Cannot take what its process sends: a message has \d+ bytes of JSON: at most \d+$/),
  }],
  // The half message may come before, within or after the process's own first message.
  ["speaks half a message", `Deno.stdout.writeSync(new Uint8Array([9, 0])); Deno.kill(Deno.pid, "SIGKILL");`, {
    message: expect.stringMatching(/its process ended by SIGKILL|Cannot take what its process sends: /),
  }],
  ["fills its heap", `const all = []; while (true) all.push(new Array(100_000).fill(all.length));`, {
    type: "failed",
    code: "INVALID_MODULE",
    message: expect.stringMatching(
      /in its dry run: Cannot (use more than 512 MiB of|go on after 0 candles: out of) memory/,
    ),
  }],
];

for (const [what, source, expected] of DEATHS) {
  Deno.test(`the outcome explains a sandbox whose Worker ${what}`, async () => {
    const folder = await Deno.makeTempDir({ prefix: "hindcast-death-" });
    try {
      expect(await runExchanged(folder, `self.onmessage = () => {};\n${source}`)).toMatchObject(expected);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

function limits(): SandboxLimits {
  const { signal } = new AbortController();
  return { deadlineMs: 300_000, memoryBytesMax: 2 ** 29, onProgress: () => {}, signal };
}

function startParent(args: readonly string[], env: Record<string, string>) {
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-all", PARENT, ...args],
    env,
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  const readLine = async (): Promise<string> => {
    while (!rest.includes("\n")) {
      const { value, done } = await reader.read();
      if (done) throw new Error("the process said nothing more");
      rest += value;
    }
    const line = rest.slice(0, rest.indexOf("\n"));
    rest = rest.slice(line.length + 1);
    return line;
  };
  const end = async () => {
    while (!(await reader.read()).done);
    await process.status;
  };
  return { process, readLine, end };
}

/** Nothing reports the end of a process that is not our child, so this polls. */
async function waitUntilGone(pid: number): Promise<void> {
  await until(() => !isRunning(pid));
}

function isRunning(pid: number): boolean {
  try {
    // Z is a process that has ended and that its parent has not waited for yet.
    return !/\) Z /.test(Deno.readTextFileSync(`/proc/${pid}/stat`));
  } catch {
    return false;
  }
}
