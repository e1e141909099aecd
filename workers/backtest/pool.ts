import { getLogger } from "@logtape/logtape";
import { askToStop, createControl, readProgress, type RunProgress } from "../../engine/control.ts";
import { type Failed, NOT_BEGUN, type Outcome } from "../common/outcome.ts";
import { concludeLuckReport, type LuckPart, type LuckReport, type Trials } from "../../research/overfitting.ts";
import type {
  CarriedTests,
  CarryTask,
  EncodedPortfolio,
  EncodedRun,
  FoundPoints,
  PointsTask,
  PortfolioCarryTask,
  PortfolioSliceTask,
  PortfolioTask,
  RunTask,
  SliceRun,
  SliceTask,
  SliceTasks,
  ToWarmWorker,
} from "../common/protocol.ts";
import { countKill, recordStep } from "../common/telemetry.ts";
import { Slots } from "./slots.ts";

const log = getLogger(["hindcast", "pool"]);

// A run looks at its stop flag every 65,536 candles, which takes milliseconds.
const GRACE_MS = 2000;
// Each part makes the sums of all blocks first.
const LUCK_PARTS_MAX = 4;
// The longest that a timer waits.
const NO_DEADLINE_MS = 2 ** 31 - 1;
const NO_LIMITS = { deadlineMs: NO_DEADLINE_MS, onProgress: () => {} };
const PROGRESS_MS = 500;

// Quick runs end before the next jobs can be fetched, so the process holds some in advance.
const QUICK_RUN_MS = 20;
const HELD_PER_WORKER = 16;
/** While a run is older than this, the process holds no jobs in advance: another process may be free to take them. */
export const LONG_RUN_MS = 200;
const RECENT_WEIGHT = 0.2;

export interface RunLimits {
  /** Computing time; the wait for a free slot does not count. */
  readonly deadlineMs: number;
  /** The longest wait for a free slot; after it, the run ends as `stopped` without having begun. */
  readonly waitMs: number;
  /** Stops the run at any moment. */
  readonly signal: AbortSignal;
  /** Called a few times a second while the run computes. */
  readonly onProgress: (progress: RunProgress) => void;
  /** Called when the wait is over. */
  readonly onBegin?: () => void;
}

interface Times {
  readonly graceMs: number;
  readonly progressMs: number;
}

/** Warm Web Workers without permissions, for built-in strategies only: no flag could stop an endless loop of foreign code. */
export class Pool {
  readonly #times: Times;
  readonly #slots: Slots;
  /** Threads that have begun and have no run. */
  readonly #idle: WarmWorker[] = [];
  readonly #all = new Set<WarmWorker>();
  readonly #size: number;
  /** When each busy worker began its run. */
  readonly #begun = new Map<WarmWorker, number>();
  #recentMs = Infinity;
  #closed = false;

  /**
   * @param size How many runs compute at once.
   * @param times `graceMs`: how long a run may take to answer a stop before its worker is replaced; `progressMs`: between two reports
   * of progress.
   */
  constructor(size: number, { graceMs = GRACE_MS, progressMs = PROGRESS_MS } = {}) {
    this.#times = { graceMs, progressMs };
    this.#size = size;
    this.#slots = new Slots(size);
  }

  /** How many runs to hold at once: more than can compute only while runs are quick. */
  get runsWanted(): number {
    return this.isQuick(QUICK_RUN_MS, LONG_RUN_MS) ? this.#size * HELD_PER_WORKER : this.#size;
  }

  /** True while recent runs took less than a time, and none that computes is older than another. */
  isQuick(recentMs: number, oldestMs: number): boolean {
    const oldest = Math.min(...this.#begun.values());
    return this.#recentMs < recentMs && !(performance.now() - oldest > oldestMs);
  }

  /** Runs a task as soon as a worker is free. Never rejects. */
  async run(task: RunTask, limits: RunLimits): Promise<Outcome<EncodedRun>> {
    const outcome = await this.#use<EncodedRun>({ kind: "run", task }, limits);
    recordParts(outcome);
    return outcome;
  }

  /** The same over many markets. */
  async runPortfolio(task: PortfolioTask, limits: RunLimits): Promise<Outcome<EncodedPortfolio>> {
    return await this.#use<EncodedPortfolio>({ kind: "portfolio", task }, limits);
  }

  /** Runs the trials of a slice as soon as a worker is free: `failed` is the end of its first one. Never rejects. */
  async runSlice(task: SliceTask | PortfolioSliceTask, limits: RunLimits): Promise<Outcome<SliceRun>> {
    return await this.runSlices([task], limits);
  }

  /** The same for trials of several markets, one after the other. */
  async runSlices(tasks: SliceTasks, limits: RunLimits): Promise<Outcome<SliceRun>> {
    return await this.#use<SliceRun>({ kind: "slice", tasks }, limits);
  }

  /** Finds points of an optimization as soon as a worker is free. Never rejects. */
  async findPoints(task: PointsTask, limits: Pick<RunLimits, "waitMs" | "signal">): Promise<Outcome<FoundPoints>> {
    return await this.#use<FoundPoints>({ kind: "points", task }, { ...limits, ...NO_LIMITS });
  }

  /** Trades the test windows of an optimization as one account. Never rejects. */
  async carry(task: CarryTask | PortfolioCarryTask, limits: RunLimits): Promise<Outcome<CarriedTests>> {
    return await this.#use<CarriedTests>({ kind: "carry", task }, limits);
  }

  /** Measures the luck of an optimization, on as many workers as are worth it. Never rejects. */
  async measureLuck(
    trials: Trials,
    limits: Pick<RunLimits, "waitMs" | "signal">,
  ): Promise<Outcome<LuckReport>> {
    const within = { ...limits, ...NO_LIMITS };
    const parts = Math.min(this.#size, LUCK_PARTS_MAX);
    const outcomes = await Promise.all(Array.from(
      { length: parts },
      (_, part) => this.#use<LuckPart>({ kind: "luck", task: { trials, part, parts } }, within),
    ));
    const done: LuckPart[] = [];
    for (const outcome of outcomes) {
      if (outcome.type !== "completed") return outcome;
      done.push(outcome);
    }
    return { type: "completed", ...concludeLuckReport(trials, done) };
  }

  async #use<Value extends object>(job: ToWarmWorker["job"], limits: RunLimits): Promise<Outcome<Value>> {
    if (this.#closed || !await this.#slots.take(limits) || this.#closed) return NOT_BEGUN;
    // Each takes 20 MB, and 60 ms of this thread to start: those that nobody has needed are not there.
    const worker = this.#idle.pop() ?? this.#start();
    const begun = performance.now();
    limits.onBegin?.();
    this.#begun.set(worker, begun);
    const outcome = await worker.run<Value>(job, limits, this.#times);
    this.#begun.delete(worker);
    const tookMs = performance.now() - begun;
    // The search for the points of a slice says nothing about how long slices take.
    if (job.kind !== "points") {
      this.#recentMs = this.#recentMs === Infinity
        ? tookMs
        : this.#recentMs + RECENT_WEIGHT * (tookMs - this.#recentMs);
    }
    if (this.#closed) return outcome;
    if (outcome.type === "broken") this.#discard(worker, outcome.message);
    else this.#idle.push(worker);
    this.#slots.release();
    return outcome;
  }

  /** Ends every worker: running runs end as `broken`, waiting ones as `stopped`. Abort the signals of the runs first. */
  close(): void {
    this.#closed = true;
    this.#slots.close();
    for (const worker of this.#all) worker.terminate();
    this.#all.clear();
    this.#idle.length = 0;
  }

  #start(): WarmWorker {
    const worker = new WarmWorker();
    this.#all.add(worker);
    return worker;
  }

  #discard(worker: WarmWorker, message: string): void {
    log.error("Replacing a warm worker: {message}", { message });
    worker.terminate();
    this.#all.delete(worker);
  }
}

function recordParts(outcome: Outcome<EncodedRun>): void {
  if (outcome.type !== "completed" || outcome.times === undefined) return;
  const { begun, ran, checked, encoded } = outcome.times;
  recordStep("run", begun, ran);
  recordStep("check integrity", ran, checked);
  recordStep("encode", checked, encoded);
}

/** One Web Worker with at most one run. */
class WarmWorker {
  readonly #worker: Worker;
  #break: ((message: string) => void) | undefined;
  #death: string | undefined;

  constructor() {
    this.#worker = new Worker(new URL("../sandbox/builtin_worker.ts", import.meta.url), {
      type: "module",
      name: "hindcast-sandbox",
      deno: { permissions: "none" },
    });
    this.#worker.onerror = (event) => {
      // An unhandled error would end this whole process.
      event.preventDefault();
      this.#die(event.message);
    };
    this.#worker.onmessageerror = () => this.#die("its answer could not be read");
  }

  /** @template Value Of the answer to this kind of job. */
  async run<Value extends object>(
    job: ToWarmWorker["job"],
    limits: RunLimits,
    { graceMs, progressMs }: Times,
  ): Promise<Outcome<Value>> {
    if (this.#death !== undefined) return { type: "broken", message: this.#death };
    const control = createControl();
    const ended = Promise.withResolvers<Outcome<Value>>();
    this.#worker.onmessage = ({ data }: MessageEvent<Outcome<Value>>) => ended.resolve(data);
    this.#break = (message) => ended.resolve({ type: "broken", message });
    let isLate = false;
    let grace: ReturnType<typeof setTimeout> | undefined;
    const stop = () => {
      askToStop(control);
      grace ??= setTimeout(() => {
        countKill("unresponsive");
        ended.resolve({ type: "broken", message: `it did not stop within ${graceMs} ms` });
      }, graceMs);
    };
    const expire = () => {
      isLate = true;
      stop();
    };
    const deadline = setTimeout(expire, limits.deadlineMs);
    // A timer would let a short run end first.
    if (limits.deadlineMs === 0) expire();
    const progress = setInterval(() => {
      const now = readProgress(control);
      if (now !== null) limits.onProgress(now);
    }, progressMs);
    limits.signal.addEventListener("abort", stop);
    if (limits.signal.aborted) stop();
    try {
      this.#worker.postMessage({ job, control } satisfies ToWarmWorker);
      const outcome = await ended.promise;
      if (!isLate || outcome.type !== "stopped") return outcome;
      const total = countCandles(job);
      return total === null ? outcome : timedOut(total, limits.deadlineMs, outcome.candlesDone);
    } finally {
      this.#break = undefined;
      this.#worker.onmessage = null;
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
    this.#break?.(message);
  }
}

/** The number of candles that a job goes through; of many markets, their marks, of which there are no fewer. Null for a job without a deadline. */
function countCandles(job: ToWarmWorker["job"]): number | null {
  const count = ({ candles, firstIndex }: Pick<RunTask, "candles" | "firstIndex">) => candles.time.length - firstIndex;
  const countMost = ({ markets }: Pick<PortfolioTask, "markets">) => Math.max(...markets.map(count));
  if (job.kind === "portfolio") return countMost(job.task);
  if (job.kind === "slice") {
    return Math.max(...job.tasks.map((task) => "markets" in task ? countMost(task) : "slug" in task ? count(task) : 0));
  }
  return job.kind === "run" ? count(job.task) : null;
}

function timedOut(total: number, deadlineMs: number, candlesDone: number): Failed {
  const done = `${candlesDone} of ${total} candles were done`;
  return {
    type: "failed",
    code: "STRATEGY_TIMED_OUT",
    message: `Cannot finish within ${deadlineMs / 1000} s: ${done}`,
  };
}
