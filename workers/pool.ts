import { getLogger } from "@logtape/logtape";
import { CONTROL, type FromSandbox, type RunTask, type ToSandbox } from "./protocol.ts";

const log = getLogger(["hindcast", "pool"]);

// A run looks at its stop flag every 65,536 candles, which takes milliseconds.
const GRACE_MS = 2000;
const PROGRESS_MS = 1000;

/** How a run ended: as its sandbox says, or by the deadline. `broken` is a fault of ours: the sandbox died or did not answer. */
export type RunOutcome = FromSandbox | { readonly type: "timed_out"; readonly candlesDone: number };

/** What a run may take and who is told about it. */
export interface RunLimits {
  /** Computing time; waiting for a free worker does not count. */
  readonly deadlineMs: number;
  /** Stops the run, wherever it is. */
  readonly signal: AbortSignal;
  /** Called about once a second while the run computes, with how many candles are done. */
  readonly onProgress: (candlesDone: number) => void;
}

/** Warm Web Workers without any permission, for code that is ours: nothing outside can end a loop of theirs but their stop flag. */
export class Pool {
  readonly #graceMs: number;
  readonly #idle: Sandbox[] = [];
  readonly #all = new Set<Sandbox>();
  readonly #waiting: ((sandbox: Sandbox | null) => void)[] = [];
  #closed = false;

  /**
   * @param size How many runs compute at once.
   * @param graceMs How long a run that was told to stop may take to answer before its worker is replaced.
   */
  constructor(size: number, graceMs = GRACE_MS) {
    this.#graceMs = graceMs;
    for (let i = 0; i < size; i++) this.#release(this.#start());
  }

  /** Runs a task as soon as a worker is free. Never rejects: every end is an outcome. */
  async run(task: RunTask, limits: RunLimits): Promise<RunOutcome> {
    const sandbox = this.#closed ? null : this.#idle.pop() ?? await this.#wait(limits.signal);
    if (sandbox === null) return { type: "stopped", candlesDone: 0 };
    const outcome = await sandbox.run(task, limits, this.#graceMs);
    if (outcome.type === "broken" && !this.#closed) {
      log.error("Replacing a sandbox: {message}", { message: outcome.message });
      sandbox.terminate();
      this.#all.delete(sandbox);
      this.#release(this.#start());
    } else this.#release(sandbox);
    return outcome;
  }

  /** Ends every worker; runs that are not over end as `broken`, waiting ones as `stopped`. Stop runs first by their signal. */
  close(): void {
    this.#closed = true;
    for (const give of this.#waiting.splice(0)) give(null);
    for (const sandbox of this.#all) sandbox.terminate();
    this.#all.clear();
    this.#idle.length = 0;
  }

  #start(): Sandbox {
    const sandbox = new Sandbox();
    this.#all.add(sandbox);
    return sandbox;
  }

  #release(sandbox: Sandbox): void {
    if (this.#closed) return;
    const next = this.#waiting.shift();
    if (next === undefined) this.#idle.push(sandbox);
    else next(sandbox);
  }

  async #wait(signal: AbortSignal): Promise<Sandbox | null> {
    if (signal.aborted) return null;
    const { promise, resolve } = Promise.withResolvers<Sandbox | null>();
    const leave = () => {
      const index = this.#waiting.indexOf(resolve);
      if (index >= 0) this.#waiting.splice(index, 1);
      resolve(null);
    };
    this.#waiting.push(resolve);
    signal.addEventListener("abort", leave);
    const sandbox = await promise;
    signal.removeEventListener("abort", leave);
    return sandbox;
  }
}

/** One Web Worker, with at most one run inside. */
class Sandbox {
  readonly #worker: Worker;
  #end: ((outcome: RunOutcome) => void) | undefined;
  #death: string | undefined;

  constructor() {
    this.#worker = new Worker(new URL("./sandbox/main.ts", import.meta.url), {
      type: "module",
      name: "hindcast-sandbox",
      deno: { permissions: "none" },
    });
    this.#worker.onmessage = ({ data }: MessageEvent<FromSandbox>) => this.#end?.(data);
    this.#worker.onerror = (event) => {
      // Unprevented, it would end this whole process.
      event.preventDefault();
      this.#die(event.message);
    };
    this.#worker.onmessageerror = () => this.#die("its answer could not be read");
  }

  async run(task: RunTask, limits: RunLimits, graceMs: number): Promise<RunOutcome> {
    if (this.#death !== undefined) return { type: "broken", message: this.#death };
    const control = new Int32Array(new SharedArrayBuffer(8));
    const ended = Promise.withResolvers<RunOutcome>();
    this.#end = ended.resolve;
    let cause: "stopped" | "timed_out" = "stopped";
    let grace: ReturnType<typeof setTimeout> | undefined;
    const stop = () => {
      Atomics.store(control, CONTROL.stop, 1);
      const message = `it did not stop within ${graceMs} ms of being told`;
      grace ??= setTimeout(() => ended.resolve({ type: "broken", message }), graceMs);
    };
    const expire = () => {
      cause = "timed_out";
      stop();
    };
    const deadline = setTimeout(expire, limits.deadlineMs);
    // A timer would let a short run through.
    if (limits.deadlineMs === 0) expire();
    const progress = setInterval(() => limits.onProgress(Atomics.load(control, CONTROL.candlesDone)), PROGRESS_MS);
    limits.signal.addEventListener("abort", stop);
    if (limits.signal.aborted) stop();
    try {
      this.#worker.postMessage({ type: "run", task, control } satisfies ToSandbox);
      const outcome = await ended.promise;
      return outcome.type === "stopped" ? { ...outcome, type: cause } : outcome;
    } finally {
      this.#end = undefined;
      clearTimeout(deadline);
      clearTimeout(grace);
      clearInterval(progress);
      limits.signal.removeEventListener("abort", stop);
    }
  }

  terminate(): void {
    this.#worker.terminate();
    this.#die("it was ended");
  }

  #die(message: string): void {
    this.#death ??= message;
    this.#end?.({ type: "broken", message });
  }
}
