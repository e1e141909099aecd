/**
 * The main thread of a sandbox process: `child.ts KIND LIMITS [ADDRESS]`. It reads a job from standard input, passes it to a Web
 * Worker without permissions, or with the permission to call ADDRESS, and writes the Worker's messages to standard output.
 *
 * This thread never computes, so it watches the memory of the process: the parent may not read that. And it notices at once when
 * standard input ends. Then nobody waits any more, and the process kills itself, a busy Worker included. The parent's SIGKILL is not enough: npm's `deno` is a script, and only the script would end.
 */
import { createControl, readProgress, type RunProgress } from "../../engine/control.ts";
import { confine } from "./confine.ts";
import { CALL_WORDS, type Interrupt } from "./decision_calls.ts";
import { PLACE_WORD } from "./contracts/places.ts";
import { FrameReader } from "./frame_reader.ts";
import { decodeFrame, encodeFrame, FRAME_PREFIX_BYTES, readPrefix } from "./frames.ts";
import {
  candleBytes,
  type ChildLimits,
  type FromChild,
  type FromChildWorker,
  type InterpreterMessage,
  isWithin,
  type SandboxJob,
  type SandboxKind,
  type ToChildWorker,
} from "./task.ts";
import { buffersOf } from "../../engine/buffer_pool.ts";

const PROGRESS_MS = 250;
const WATCH_MS = 25;
const CPU_AFTER_MS = 1_000;
// The system counts memory that nobody has touched too: what V8 reserves for the Worker, and an instance that is not collected yet.
const WORKER_BYTES = 640 * 2 ** 20;
/** The Worker's entry for each kind of job. */
const ENTRIES: Readonly<Record<SandboxKind, string>> = {
  validate: "./wasm/worker.ts",
  run: "./wasm/worker.ts",
  run_trials: "./wasm/worker.ts",
  run_paths: "./wasm/worker.ts",
  run_markets: "./wasm/worker.ts",
  run_markets_trials: "./wasm/worker.ts",
  check_script: "./script/worker.ts",
  script: "./script/worker.ts",
  script_trials: "./script/worker.ts",
  script_paths: "./script/worker.ts",
  script_markets: "./script/worker.ts",
  script_markets_trials: "./script/worker.ts",
  python: "./python/worker.ts",
  remote: "./remote/worker.ts",
  remote_markets: "./remote/worker.ts",
  fetch: "./remote/fetch_worker.ts",
};

const [kind = "", limits = "", address] = Deno.args;
if (!isKind(kind)) throw new RangeError(`Cannot start a sandbox for ${JSON.stringify(kind)}`);
const { memoryBytesMax, candleBytes: room, countsCpuAtOnce, cpuSecondsMax }: ChildLimits = JSON.parse(limits);
// It takes a tenth of the start, and no decision is given up so soon.
const importCpu = async () => (await import("node:process")).default.cpuUsage;
let measureCpu = countsCpuAtOnce ? await importCpu() : null;
if (!countsCpuAtOnce) setTimeout(async () => measureCpu = await importCpu(), CPU_AFTER_MS);
confine({ memoryBytesMax: WORKER_BYTES + 2 * (memoryBytesMax + room), cpuSecondsMax });
const worker = new Worker(new URL(ENTRIES[kind], import.meta.url), {
  type: "module",
  deno: { permissions: address === undefined ? "none" : { net: [address] } },
});
const control = createControl();
if (kind === "python") {
  // Its Worker may not read files.
  const { readInterpreter } = await import("./interpreter_files.ts");
  const { program, ...frozen } = readInterpreter();
  const interpreter = { ...frozen, program: new WebAssembly.Module(program) };
  worker.postMessage({ interpreter } satisfies InterpreterMessage, [frozen.image.buffer]);
}
let decided = 0;
let done: RunProgress = { candlesDone: 0, equity: NaN };
let deciding = new Int32Array(new SharedArrayBuffer(4));
let calls = new Int32Array(new SharedArrayBuffer(12));
// An outcome, or a request, as a frame: the Worker writes it, so that this thread watches the memory that it takes.
worker.onmessage = ({ data }: MessageEvent<FromChildWorker>) => {
  if (data instanceof SharedArrayBuffer) deciding = new Int32Array(data);
  else if ("calls" in data) calls = new Int32Array(data.calls);
  else writeFrame(data);
};
worker.onmessageerror = () => send({ type: "broken", message: "its Worker's answer could not be read" });
worker.onerror = (event) => {
  event.preventDefault();
  send({ type: "broken", message: event.message });
};
reportMemory();
let residentBytesMax = memoryBytesMax;
pass(readJob());
setInterval(watchMemory, WATCH_MS);
setInterval(() => {
  reportMemory();
  done = readProgress(control) ?? done;
  // An instance that begins again does not count backwards.
  const candle = Atomics.load(deciding, 0);
  decided = Math.max(decided, candle);
  const place = deciding.length > PLACE_WORD ? Math.max(0, Atomics.load(deciding, PLACE_WORD)) : 0;
  send({
    type: "progress",
    decided,
    deciding: {
      ...{ calls: Atomics.load(calls, CALL_WORDS.calls), preparing: Atomics.load(calls, CALL_WORDS.preparing) },
      ...{ candle, place },
    },
    ...done,
  });
}, PROGRESS_MS);
await passFurtherJobs();
die();

function isKind(name: string): name is SandboxKind {
  return Object.hasOwn(ENTRIES, name);
}

function watchMemory(): void {
  if (isWithin(Deno.memoryUsage().rss, residentBytesMax)) return;
  reportMemory();
  die();
}

function reportMemory(): void {
  const { user, system } = measureCpu?.() ?? { user: 0, system: 0 };
  send({ type: "memory", residentBytes: Deno.memoryUsage().rss, cpuMs: (user + system) / 1000 });
}

function send(message: FromChild<object>): void {
  writeFrame(encodeFrame(message));
}

function writeFrame(pieces: readonly Uint8Array[]): void {
  try {
    for (const piece of pieces) {
      for (let written = 0; written < piece.length;) written += Deno.stdout.writeSync(piece.subarray(written));
    }
  } catch {
    die();
  }
}

function readJob(): SandboxJob {
  const { headBytes, bodyBytes } = readPrefix(readExactly(FRAME_PREFIX_BYTES));
  const head = readExactly(headBytes);
  return decodeFrame<SandboxJob>(head, readExactly(bodyBytes).buffer);
}

function readExactly(count: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(count);
  for (let filled = 0; filled < count;) {
    const read = Deno.stdin.readSync(bytes.subarray(filled));
    if (read === null) die();
    else filled += read;
  }
  return bytes;
}

/** Passes on the job that continues a run with more candles, and the wish to interrupt it. Returns when standard input ends. */
async function passFurtherJobs(): Promise<void> {
  const jobs = new FrameReader<SandboxJob | Interrupt>(Deno.stdin.readable);
  for (let job = await jobs.next(); job !== null; job = await jobs.next()) {
    if (job.kind === "interrupt") Atomics.store(calls, CALL_WORDS.interrupt, 1);
    else pass(job);
  }
}

function pass(job: SandboxJob): void {
  residentBytesMax += candleBytes(job);
  worker.postMessage({ job, control } satisfies ToChildWorker, [...buffersOf(job)]);
}

function die(): never {
  Deno.kill(Deno.pid, "SIGKILL");
  throw new Error("Cannot outlive SIGKILL");
}
