/**
 * Runs hostile modules in a process of its own, so that its resources before and after can be compared. It prints a line of JSON for
 * each case. An honest run of another user goes on beside each.
 */
import { encodeFrame } from "../../../../workers/sandbox/frames.ts";
import type { Outcome } from "../../../../workers/common/outcome.ts";
import { runInSandbox, type SandboxLimits } from "../../../../workers/sandbox/process.ts";
import { listChildren } from "../../../support/processes.ts";
import { deadlineOf, FINISH_MS_MAX, HOSTILE, type Hostile } from "./hostile_modules.ts";
import { dailyCandles, taskOver, wanderingCloses } from "./modules.ts";

export interface CaseReport {
  readonly what: string;
  readonly run: {
    readonly code: string;
    readonly message: string;
    readonly ms: number;
    /** Lines that are left of its log. */
    readonly logged: number;
  };
  readonly validation: { readonly code: string; readonly message: string; readonly ms: number };
  /** Of the honest run beside it. */
  readonly neighbour: { readonly sameBytes: boolean; readonly ms: number };
  /** After the case. */
  readonly left: Holdings;
}

export interface Holdings {
  /** Processes that descend from this one. */
  readonly processes: number;
  readonly files: number;
}

const MIB = 2 ** 20;
const LOG_DEADLINE_MS_MAX = 30_000;
const HONEST = await Deno.readFile(new URL("../../../../strategies/examples/c/sma_cross.wasm", import.meta.url));
const honestTask = taskOver(dailyCandles(wanderingCloses(20_000)));
const hostileTask = taskOver(dailyCandles(wanderingCloses(5000)));

const alone = await runHonest();
// One case before the count: the runtime opens some files the first time that two processes run at once.
await tryOut(HOSTILE[0]!);
say({ before: look(), alone: { ms: alone.ms } });
for (const hostile of HOSTILE) say(await tryOut(hostile));

async function tryOut(hostile: Hostile): Promise<CaseReport> {
  const module = hostile.module();
  const neighbour = runHonest();
  let deadlineMs = deadlineOf(hostile);
  let limits = makeLimits(hostile.memoryMibMax ?? 512, deadlineMs);
  const own = { module, parametersJson: "{}", candlesMin: 1 };
  const runOnce = () =>
    time(() => runInSandbox({ ...own, kind: "run", lookbackWanted: null, task: hostileTask }, limits));
  let run = await runOnce();
  // On a loaded machine the process may end before it has passed on what its module wrote.
  while (describe(run).logged < (hostile.logged ?? 0) && deadlineMs < LOG_DEADLINE_MS_MAX) {
    limits = makeLimits(hostile.memoryMibMax ?? 512, deadlineMs *= 2);
    run = await runOnce();
  }
  const { bytes, ms } = await neighbour;
  const validation = await time(() => runInSandbox({ ...own, kind: "validate" }, limits));
  return {
    what: hostile.what,
    run: describe(run),
    validation: describe(validation),
    neighbour: { sameBytes: bytes === alone.bytes, ms },
    left: look(),
  };
}

async function runHonest(): Promise<{ bytes: string; ms: number }> {
  const job = {
    kind: "run",
    module: HONEST,
    parametersJson: "{}",
    candlesMin: 1,
    lookbackWanted: null,
    task: honestTask,
  } as const;
  const { outcome, ms } = await time(() => runInSandbox(job, makeLimits(512, FINISH_MS_MAX)));
  if (outcome.type !== "completed") throw new Error(JSON.stringify(outcome));
  const digest = await crypto.subtle.digest("SHA-256", await new Blob(encodeFrame(outcome.result)).arrayBuffer());
  return { bytes: [...new Uint8Array(digest)].join(), ms };
}

async function time<Answer>(
  work: () => Promise<Answer>,
): Promise<{ readonly outcome: Answer; readonly ms: number }> {
  const begun = performance.now();
  const outcome = await work();
  return { outcome, ms: Math.round(performance.now() - begun) };
}

function describe({ outcome, ms }: { outcome: Outcome<object>; ms: number }): CaseReport["run"] {
  if (outcome.type === "failed") {
    return { code: outcome.code, message: outcome.message, ms, logged: outcome.log?.length ?? 0 };
  }
  return { code: outcome.type, message: "message" in outcome ? outcome.message : "", ms, logged: 0 };
}

function makeLimits(memoryMibMax: number, deadlineMs: number): SandboxLimits {
  const { signal } = new AbortController();
  return { deadlineMs, memoryBytesMax: memoryMibMax * MIB, onProgress: () => {}, signal };
}

function look(): Holdings {
  return {
    processes: listChildren(Deno.pid).length,
    files: [...Deno.readDirSync("/proc/self/fd")].length,
  };
}

function say(line: object): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(line)}\n`));
}
