/**
 * The main thread of a sandbox process: `child.ts KIND [ADDRESS]`. It reads one job from standard input, passes it to a Web Worker
 * without permissions, or with the permission to call ADDRESS, and writes the Worker's messages to standard output.
 *
 * This thread never computes, so it notices at once when standard input ends. Then nobody waits any more, and the process kills
 * itself, a busy Worker included. The parent's SIGKILL is not enough: npm's `deno` is a script, and only the script would end.
 */
import { createControl, readProgress } from "../../engine/control.ts";
import { decodeFrame, encodeFrame, FRAME_PREFIX_BYTES, readPrefix } from "./frames.ts";
import type { Outcome } from "../outcome.ts";
import type { FromChild, SandboxJob, SandboxKind, ToChildWorker } from "./task.ts";
import { buffersOf } from "./transfer.ts";

const PROGRESS_MS = 250;

/** The Worker's entry for each kind of job. */
const ENTRIES: Readonly<Record<SandboxKind, string>> = {
  validate: "./wasm/worker.ts",
  run: "./wasm/worker.ts",
  remote: "./remote/worker.ts",
};

const [kind = "", address] = Deno.args;
if (!isKind(kind)) throw new RangeError(`Cannot start a sandbox for ${JSON.stringify(kind)}`);
const worker = new Worker(new URL(ENTRIES[kind], import.meta.url), {
  type: "module",
  deno: { permissions: address === undefined ? "none" : { net: [address] } },
});
const control = createControl();
worker.onmessage = ({ data }: MessageEvent<Outcome<object>>) => send(data);
worker.onmessageerror = () => send({ type: "broken", message: "its Worker's answer could not be read" });
worker.onerror = (event) => {
  event.preventDefault();
  send({ type: "broken", message: event.message });
};
send({ type: "hello", pid: Deno.pid });
const job = readJob();
worker.postMessage({ job, control } satisfies ToChildWorker, [...buffersOf(job)]);
setInterval(() => {
  const progress = readProgress(control);
  if (progress !== null) send({ type: "progress", ...progress });
}, PROGRESS_MS);
await endOfInput();
die();

function isKind(name: string): name is SandboxKind {
  return Object.hasOwn(ENTRIES, name);
}

function send(message: FromChild<object>): void {
  try {
    for (const piece of encodeFrame(message)) {
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

async function endOfInput(): Promise<void> {
  const spare = new Uint8Array(1);
  while (await Deno.stdin.read(spare) !== null);
}

function die(): never {
  Deno.kill(Deno.pid, "SIGKILL");
  throw new Error("Cannot outlive SIGKILL");
}
