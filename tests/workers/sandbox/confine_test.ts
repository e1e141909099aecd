/** Limits of a sandbox process beyond its permissions: memory, which it watches itself, and those that Linux holds. */
import { expect } from "@std/expect";
import { Buffer } from "node:buffer";
import { runInSandbox } from "../../../workers/sandbox/process.ts";
import { runScriptAs } from "../../support/process.ts";
import { listDescendants } from "../../support/processes.ts";
import { type Edit, runExchanged } from "./exchanged_worker.ts";
import { compileCompilerBomb } from "./wasm/hostile_modules.ts";
import { compileWat, dailyCandles, strategyWat, taskOver, wanderingCloses } from "./wasm/modules.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;
const ignore = Deno.build.os !== "linux";

Deno.test("a module whose compilation takes gigabytes is ended under the permissions of each command that runs it", async () => {
  const bytes = compileCompilerBomb();
  expect(bytes.length).toBeLessThan(26_000);
  const job = {
    kind: "run",
    parametersJson: "{}",
    candlesMin: 1,
    lookbackWanted: null,
    task: taskOver(dailyCandles(wanderingCloses(50))),
  };
  const script = `import { runInSandbox } from "${ROOT}workers/sandbox/process.ts";
    const job = ${
    JSON.stringify(job, (_, value) => ArrayBuffer.isView(value) ? Array.from(value as Float64Array) : value)
  };
    const { candles } = job.task;
    for (const name of Object.keys(candles)) candles[name] = Float64Array.from(candles[name]);
    const module = Uint8Array.from(atob("${Buffer.from(bytes).toString("base64")}"), (letter) => letter.charCodeAt(0));
    const { signal } = new AbortController();
    const limits = { deadlineMs: 120_000, memoryBytesMax: 2 ** 29, onProgress: () => {}, signal };
    const outcome = await runInSandbox({ ...job, module }, limits);
    await Deno.stdout.write(new TextEncoder().encode(JSON.stringify(outcome)));`;
  for (const task of ["start", "worker"] as const) {
    expect(JSON.parse(await runScriptAs(task, () => script))).toEqual({
      type: "failed",
      code: "STRATEGY_OUT_OF_MEMORY",
      message: "Cannot use more than 512 MiB of memory: 0 candles were done",
    });
  }
});

Deno.test("the memory in which a sandbox writes its result counts too", async () => {
  // The texts and a copy of them fit; their JSON and its bytes do not.
  const outcome = await runIdle({
    memoryBytesMax: 380 * 2 ** 20,
    source: `const log = Array.from({ length: 600_000 }, (_, i) => String(i).padEnd(60, "x"));
      self.postMessage({ type: "completed", report: {}, log });`,
  });
  expect(outcome).toMatchObject({
    code: "INVALID_MODULE",
    message: expect.stringMatching(/Cannot use more than 380 MiB of memory/),
  });
});

const BLIND: readonly (readonly [what: string, edits: readonly Edit[], message: RegExp])[] = [
  ["says nothing of its memory", [
    ["workers/sandbox/child.ts", "function reportMemory(): void {", "function reportMemory(): void { return;"],
    ["workers/sandbox/sandbox_process.ts", "SILENT_SECONDS_MAX = 15", "SILENT_SECONDS_MAX = 1"],
  ], /Cannot go on: its process said nothing for 1 s, so nobody knows how much memory it uses$/],
  ["cannot tell how much memory it has", [
    ["workers/sandbox/child.ts", "confine({", "Object.assign(Deno, { memoryUsage: () => ({ rss: 0 }) }); confine({"],
  ], /Cannot use more than 512 MiB of memory: 0 candles were done$/],
];

for (const [what, edits, message] of BLIND) {
  Deno.test(`a sandbox that ${what} is ended`, async () => {
    const outcome = await runIdle({ edits });
    expect(outcome).toMatchObject({ code: "INVALID_MODULE", message: expect.stringMatching(message) });
  });
}

Deno.test({ name: "Linux refuses memory to a sandbox that does not watch itself", ignore }, async () => {
  const outcome = await runIdle({
    memoryBytesMax: 2 ** 27,
    edits: [["workers/sandbox/task.ts", "return residentBytes > 0 &&", "return true ||"]],
    source: `const all = [];
      for (let n = 0; n < 192; n++) all.push(new Uint8Array(2 ** 24).fill(1));
      self.postMessage({ type: "failed", code: "INVALID_MODULE", message: "it got 3 GiB" });`,
  });
  // The code may catch a refused array; what the runtime itself needs ends the process.
  expect(outcome).toMatchObject({ message: expect.stringMatching(/allocation failed|out of memory/) });
});

const DEADLINE_SECONDS = 67;

Deno.test({ name: "a sandbox yields to the service, is the first to go and gains no rights", ignore }, async () => {
  const module = compileWat(strategyWat({ onCandle: "(loop $again (br $again)) (i32.const 0)" }));
  const task = taskOver(dailyCandles(wanderingCloses(100)));
  const stop = new AbortController();
  const seen = Promise.withResolvers<Record<string, unknown>>();
  const run = runInSandbox({ kind: "run", module, parametersJson: "{}", candlesMin: 1, lookbackWanted: null, task }, {
    deadlineMs: 1000 * DEADLINE_SECONDS,
    memoryBytesMax: 2 ** 29,
    signal: stop.signal,
    onProgress: () => seen.resolve(inspect(ownSandbox())),
  });
  const cpuSeconds = DEADLINE_SECONDS * navigator.hardwareConcurrency;
  // Other tests of this process have sandboxes too, which come and go: the limit of this one is its own.
  const ownSandbox = () => {
    const isOwn = (pid: number) => readIfThere(`/proc/${pid}/cmdline`).includes(`:${cpuSeconds}}`);
    return listDescendants(Deno.pid).filter(({ pid }) => isOwn(pid)).at(-1)!.pid;
  };
  expect(await seen.promise).toEqual({
    noNewPrivileges: "1",
    oomScoreAdjust: "1000",
    nice: ["5"],
    cpu: [String(cpuSeconds), String(cpuSeconds)],
    core: ["0", "0"],
    hasDataLimit: true,
  });
  stop.abort();
  expect((await run).type).toBe("stopped");
});

Deno.test("a sandbox gives up its permission to call the system before it starts its Worker", async () => {
  const script = `import { confine } from ${JSON.stringify(`${ROOT}workers/sandbox/confine.ts`)};
    const before = Deno.permissions.querySync({ name: "ffi" }).state;
    confine({ memoryBytesMax: 2 ** 30, cpuSecondsMax: 60 });
    let refused = "";
    try {
      Deno.dlopen("libc.so.6", {});
    } catch (error) {
      refused = error.name;
    }
    await Deno.stdout.write(new TextEncoder().encode(JSON.stringify([before, refused])));`;
  const file = await Deno.makeTempFile({ suffix: ".js" });
  await Deno.writeTextFile(file, script);
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--no-config", "--allow-ffi", file],
  }).output();
  await Deno.remove(file);
  expect(JSON.parse(new TextDecoder().decode(stdout))).toEqual(["granted", "NotCapable"]);
});

async function runIdle({ source = "", ...more }: {
  readonly edits?: readonly Edit[];
  readonly source?: string;
  readonly memoryBytesMax?: number;
}) {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-blind-" });
  try {
    return await runExchanged(folder, `self.onmessage = () => {};\n${source}`, more);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A file of the process table; empty if its process or thread has ended meanwhile. */
function readIfThere(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return "";
  }
}

/** Facts that Linux tells of a process. */
function inspect(pid: number): Record<string, unknown> {
  const read = (name: string) => Deno.readTextFileSync(`/proc/${pid}/${name}`);
  const limit = (name: string) => new RegExp(`^Max ${name} +(\\S+) +(\\S+)`, "m").exec(read("limits"))!.slice(1);
  const threads = [...Deno.readDirSync(`/proc/${pid}/task`)].map(({ name }) =>
    readIfThere(`/proc/${pid}/task/${name}/stat`)
  ).filter((stat) => stat !== "");
  return {
    noNewPrivileges: /^NoNewPrivs:\s+(\d)$/m.exec(read("status"))?.[1],
    oomScoreAdjust: read("oom_score_adj").trim(),
    // The name in parentheses may hold spaces; the 19th field of all is the priority.
    nice: [...new Set(threads.map((stat) => stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]))],
    cpu: limit("cpu time"),
    core: limit("core file size"),
    hasDataLimit: limit("data size").every((bytes) => Number(bytes) > 2 ** 30 && Number(bytes) < 2 ** 33),
  };
}
