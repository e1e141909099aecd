import { getLogger } from "@logtape/logtape";
import { askToStop, createControl, readProgress, type RunProgress } from "../../engine/control.ts";
import type { FromSandbox, RunTask, ToSandbox } from "../protocol.ts";
import { countKill } from "../telemetry.ts";

const log = getLogger(["hindcast", "pool"]);

// A run looks at its stop flag every 65,536 candles, which takes milliseconds.
const GRACE_MS = 2000;
const PROGRESS_MS = 500;

// Runs that take no longer are over before the next ones could be fetched, so some are held in advance.
const QUICK_RUN_MS = 20;
const HELD_PER_WORKER = 16;
/** As soon as a run is older than this, others should not wait for it here if another process could take them. */
export const LONG_RUN_MS = 200;
const RECENT_WEIGHT = 0.2;

/**
 * How a run ended: as its sandbox says, by the deadline, or before it began because no worker became free in time. `broken` is a
 * fault of ours: the sandbox died or did not answer.
 */
export type RunOutcome =
  | FromSandbox
  | { readonly type: "timed_out"; readonly candlesDone: number }
  | { readonly type: "crowded" };

const STOPPED = { type: "stopped", candlesDone: 0 } as const satisfies RunOutcome;

/** What a run may take and who is told about it. */
export interface RunLimits {
  /** Computing time; waiting for a free worker does not count. */
  readonly deadlineMs: number;
  /** The longest wait for a free worker. */
  readonly waitMs: number;
  /** Stops the run, wherever it is. */
  readonly signal: AbortSignal;
  /** Called a few times a second while the run computes. */
  readonly onProgress: (progress: RunProgress) => void;
}

interface Times {
  readonly graceMs: number;
  readonly progressMs: number;
}

/** Warm Web Workers without any permission, for code that is ours: nothing outside can end a loop of theirs but their stop flag. */
export class Pool {
  readonly #times: Times;
  readonly #idle: Sandbox[] = [];
  readonly #all = new Set<Sandbox>();
  readonly #waiting: ((sandbox: Sandbox | RunOutcome) => void)[] = [];
  readonly #size: number;
  /** When each busy worker began its run. */
  readonly #begun = new Map<Sandbox, number>();
  #recentMs = Infinity;
  #closed = false;

  /**
   * @param size How many runs compute at once.
   * @param times `graceMs`: how long a run that was told to stop may take to answer before its worker is replaced; `progressMs`: how
   * often it is told how far a run is.
   */
  constructor(size: number, { graceMs = GRACE_MS, progressMs = PROGRESS_MS } = {}) {
    this.#times = { graceMs, progressMs };
    this.#size = size;
    for (let i = 0; i < size; i++) this.#release(this.#start());
  }

  /** How many runs are worth holding at once: as many as compute, and more while runs are quick. */
  get runsWanted(): number {
    const oldest = Math.min(...this.#begun.values());
    const isQuick = this.#recentMs < QUICK_RUN_MS && !(performance.now() - oldest > LONG_RUN_MS);
    return isQuick ? this.#size * HELD_PER_WORKER : this.#size;
  }

  /** Runs a task as soon as a worker is free. Never rejects: every end is an outcome. */
  async run(task: RunTask, limits: RunLimits): Promise<RunOutcome> {
    if (this.#closed || limits.signal.aborted) return STOPPED;
    const sandbox = this.#idle.pop() ?? await this.#wait(limits);
    if (!(sandbox instanceof Sandbox)) return sandbox;
    const begun = performance.now();
    this.#begun.set(sandbox, begun);
    const outcome = await sandbox.run(task, limits, this.#times);
    this.#begun.delete(sandbox);
    const tookMs = performance.now() - begun;
    this.#recentMs = this.#recentMs === Infinity ? tookMs : this.#recentMs + RECENT_WEIGHT * (tookMs - this.#recentMs);
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
    for (const give of this.#waiting.splice(0)) give(STOPPED);
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

  async #wait({ signal, waitMs }: RunLimits): Promise<Sandbox | RunOutcome> {
    const { promise, resolve } = Promise.withResolvers<Sandbox | RunOutcome>();
    const leave = (outcome: RunOutcome) => {
      const index = this.#waiting.indexOf(resolve);
      if (index >= 0) this.#waiting.splice(index, 1);
      resolve(outcome);
    };
    const stop = () => leave(STOPPED);
    this.#waiting.push(resolve);
    const timer = setTimeout(() => leave({ type: "crowded" }), waitMs);
    signal.addEventListener("abort", stop);
    const given = await promise;
    signal.removeEventListener("abort", stop);
    clearTimeout(timer);
    return given;
  }
}

/** One Web Worker, with at most one run inside. */
class Sandbox {
  readonly #worker: Worker;
  #end: ((outcome: RunOutcome) => void) | undefined;
  #death: string | undefined;

  constructor() {
    this.#worker = new Worker(new URL("../sandbox/builtin_worker.ts", import.meta.url), {
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

  async run(task: RunTask, limits: RunLimits, { graceMs, progressMs }: Times): Promise<RunOutcome> {
    if (this.#death !== undefined) return { type: "broken", message: this.#death };
    const control = createControl();
    const ended = Promise.withResolvers<RunOutcome>();
    this.#end = ended.resolve;
    let cause: "stopped" | "timed_out" = "stopped";
    let grace: ReturnType<typeof setTimeout> | undefined;
    const stop = () => {
      askToStop(control);
      grace ??= setTimeout(() => {
        countKill("unresponsive");
        ended.resolve({ type: "broken", message: `it did not stop within ${graceMs} ms of being told` });
      }, graceMs);
    };
    const expire = () => {
      cause = "timed_out";
      stop();
    };
    const deadline = setTimeout(expire, limits.deadlineMs);
    // A timer would let a short run through.
    if (limits.deadlineMs === 0) expire();
    const progress = setInterval(() => {
      const now = readProgress(control);
      if (now !== null) limits.onProgress(now);
    }, progressMs);
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
