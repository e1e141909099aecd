import { fileURLToPath } from "node:url";
import { decodeFrame, encodeFrame, FRAME_PREFIX_BYTES, readPrefix } from "./frames.ts";
import type { RunProgress } from "../../engine/control.ts";
import { type FailureCode, NOT_BEGUN, type Outcome } from "../outcome.ts";
import { countKill } from "../telemetry.ts";
import { candleBytes, type FromChild, type SandboxJob, type ValueOf } from "./task.ts";

/** The limits of a job, and its listener. */
export interface SandboxLimits {
  /** From the start of the process to its answer. */
  readonly deadlineMs: number;
  /** Resident memory of the process, beside the run's candles; watched on Linux only. */
  readonly memoryBytesMax: number;
  /** Called a few times a second while the job computes. */
  readonly onProgress: (progress: RunProgress) => void;
  /** Ends the job at any moment. */
  readonly signal: AbortSignal;
  /** The only address, `ip:port`, that the job may call; null: none. */
  readonly address?: string | null;
}

// The check of a module caps the memory that it declares; this limit also holds without that check.
const WASM_PAGES_MAX = 4096;
const WATCH_MS = 25;
// No result is longer.
const FRAME_BYTES_MAX = 1 << 29;
const ERRORS_CHARS_MAX = 16_384;

const CODE = ["./", "../outcome.ts", "../protocol.ts", "../../engine/"].map((path) =>
  fileURLToPath(new URL(path, import.meta.url))
);
const ENTRY = fileURLToPath(new URL("./child.ts", import.meta.url));

/**
 * Does a job in a process of its own.
 *
 * Never rejects. Once it has resolved, no process, thread, pipe or timer of the job is left.
 */
export async function runInSandbox<Job extends SandboxJob>(
  job: Job,
  limits: SandboxLimits,
): Promise<Outcome<ValueOf<Job>>> {
  if (limits.signal.aborted) return NOT_BEGUN;
  let child: SandboxProcess<ValueOf<Job>>;
  try {
    child = new SandboxProcess<ValueOf<Job>>(job.kind, {
      ...limits,
      memoryBytesMax: limits.memoryBytesMax + candleBytes(job),
    });
  } catch (error) {
    return { type: "broken", message: `its process did not start: ${messageOf(error)}` };
  }
  const outcome = await child.run(job);
  if (job.kind !== "validate" || outcome.type !== "failed" || outcome.code === "INVALID_MODULE") return outcome;
  return { ...outcome, code: "INVALID_MODULE", message: `Cannot use the module: in its dry run: ${outcome.message}` };
}

/** One child process and its watchers. */
class SandboxProcess<Value extends object> {
  readonly #child: Deno.ChildProcess;
  readonly #limits: SandboxLimits;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #ended = Promise.withResolvers<Outcome<Value>>();
  #candlesDone = 0;
  #pid: number;
  #errors = "";

  constructor(kind: string, limits: SandboxLimits) {
    this.#limits = limits;
    this.#child = spawn(kind, limits.address ?? null);
    this.#pid = this.#child.pid;
    this.#input = this.#child.stdin.getWriter();
  }

  async run(job: SandboxJob): Promise<Outcome<Value>> {
    const { deadlineMs, signal } = this.#limits;
    const deadline = setTimeout(
      () => this.#kill("deadline", "STRATEGY_TIMED_OUT", this.#describeLateness()),
      deadlineMs,
    );
    const watch = setInterval(() => this.#watchMemory(), WATCH_MS);
    const stop = () => {
      countKill("stopped");
      this.#ended.resolve({ type: "stopped", candlesDone: this.#candlesDone });
    };
    signal.addEventListener("abort", stop);
    const listening = this.#listen();
    const errors = this.#collectErrors();
    void this.#write(job);
    try {
      return await this.#ended.promise;
    } finally {
      clearTimeout(deadline);
      clearInterval(watch);
      signal.removeEventListener("abort", stop);
      await this.#end(listening, errors);
    }
  }

  #describeLateness(): string {
    const seconds = this.#limits.deadlineMs / 1000;
    return `Cannot finish within ${seconds} s: ${this.#candlesDone} candles were done`;
  }

  #kill(reason: "deadline" | "memory", code: FailureCode, message: string): void {
    countKill(reason);
    this.#fail(code, message);
  }

  #fail(code: FailureCode, message: string): void {
    this.#ended.resolve({ type: "failed", code, message });
  }

  async #write(job: SandboxJob): Promise<void> {
    try {
      for (const piece of encodeFrame(job)) await this.#input.write(piece);
    } catch {
      // The process has ended: #listen() finds out why.
    }
  }

  /** Reads messages until standard output is closed: then no process is left that could write to it. */
  async #listen(): Promise<void> {
    const reader = new FrameReader<FromChild<Value>>(this.#child.stdout);
    try {
      for (let message = await reader.next(); message !== null; message = await reader.next()) this.#receive(message);
      await this.#explainDeath();
    } catch (error) {
      this.#ended.resolve({ type: "broken", message: `its process cannot be understood: ${messageOf(error)}` });
      await reader.cancel();
    }
  }

  #receive(message: FromChild<Value>): void {
    switch (message.type) {
      case "hello":
        this.#pid = message.pid;
        return;
      case "progress":
        this.#candlesDone = message.candlesDone;
        this.#limits.onProgress(message);
        return;
      default:
        this.#ended.resolve(message);
    }
  }

  async #explainDeath(): Promise<void> {
    const { code, signal } = await this.#child.status;
    if (/out of memory|heap limit|Cannot allocate/i.test(this.#errors)) {
      this.#fail("STRATEGY_OUT_OF_MEMORY", `Cannot go on after ${this.#candlesDone} candles: out of memory`);
    }
    const end = signal === null ? `with code ${code}` : `by ${signal}`;
    this.#ended.resolve({ type: "broken", message: `its process ended ${end}: ${this.#errors.trim()}` });
  }

  async #collectErrors(): Promise<void> {
    for await (const text of this.#child.stderr.pipeThrough(new TextDecoderStream())) {
      this.#errors = (this.#errors + text).slice(-ERRORS_CHARS_MAX);
    }
  }

  #watchMemory(): void {
    const { memoryBytesMax } = this.#limits;
    if ((readResidentBytes(this.#pid) ?? 0) <= memoryBytesMax) return;
    const limit = `${Math.floor(memoryBytesMax / 2 ** 20)} MiB`;
    this.#kill(
      "memory",
      "STRATEGY_OUT_OF_MEMORY",
      `Cannot use more than ${limit} of memory: ${this.#candlesDone} candles were done`,
    );
  }

  /** Kills the process and waits until it is gone. */
  async #end(listening: Promise<void>, errors: Promise<void>): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has already ended.
    }
    // npm's `deno` is a script, and killing it leaves the real process: that one ends itself when its input ends.
    await this.#input.abort().catch(() => {});
    await Promise.all([this.#child.status, listening, errors]);
  }
}

/** Reads the frames of a process's standard output. */
class FrameReader<Message> {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
  }

  /** The next message; null at the end. @throws {RangeError | SyntaxError} When a frame is damaged. */
  async next(): Promise<Message | null> {
    const prefix = await this.#read(FRAME_PREFIX_BYTES);
    if (prefix === null) return null;
    const { headBytes, bodyBytes } = readPrefix(prefix);
    if (headBytes + bodyBytes > FRAME_BYTES_MAX) throw new RangeError(`a frame of ${headBytes + bodyBytes} bytes`);
    const head = await this.#read(headBytes);
    const body = await this.#read(bodyBytes);
    return head === null || body === null ? null : decodeFrame<Message>(head, body.buffer);
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel();
  }

  async #read(count: number): Promise<Uint8Array<ArrayBuffer> | null> {
    const bytes = new Uint8Array(count);
    for (let filled = 0; filled < count;) {
      if (this.#rest.length === 0) {
        const { value, done } = await this.#reader.read();
        if (done) return null;
        this.#rest = value;
      }
      const part = this.#rest.subarray(0, count - filled);
      bytes.set(part, filled);
      filled += part.length;
      this.#rest = this.#rest.subarray(part.length);
    }
    return bytes;
  }
}

function spawn(kind: string, address: string | null): Deno.ChildProcess {
  const path = Deno.env.get("PATH");
  const options: Deno.CommandOptions = {
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      "--no-remote",
      "--no-npm",
      "--cached-only",
      "--no-config",
      "--no-lock",
      "--unstable-worker-options",
      `--v8-flags=--wasm-max-mem-pages=${WASM_PAGES_MAX},--expose-gc`,
      `--allow-read=${CODE.join(",")}`,
      ...(address === null ? [] : [`--allow-net=${address}`]),
      ENTRY,
      kind,
      ...(address === null ? [] : [address]),
    ],
    clearEnv: true,
    // npm's `deno` is a script that finds its interpreter there.
    env: { NO_COLOR: "1", ...(path === undefined ? {} : { PATH: path }) },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  };
  try {
    return new Deno.Command("deno", options).spawn();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    // PATH has no `deno`: use the program that runs us, if we may.
    return new Deno.Command(Deno.execPath(), options).spawn();
  }
}

/** Null if the system does not report it, or the process is gone. */
function readResidentBytes(pid: number): number | null {
  try {
    const line = /^VmRSS:\s+(\d+) kB$/m.exec(Deno.readTextFileSync(`/proc/${pid}/status`));
    return line === null ? null : Number(line[1]) * 1024;
  } catch {
    return null;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
