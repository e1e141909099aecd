import type { RunProgress } from "../../engine/control.ts";
import type { EgressRules } from "../egress/guard.ts";
import { LONG_RUN_MS, Pool, type RunLimits, type RunOutcome } from "./pool.ts";
import type { RunTask } from "../protocol.ts";
import { type RemoteRun, RemoteRunner } from "./remote_runner.ts";
import type { RunErrorCode } from "../outcome.ts";
import { SANDBOX_BYTES_MAX, type WasmJob } from "../sandbox/task.ts";
import { runInSandbox, type SandboxLimits, type SandboxOutcome } from "../sandbox/process.ts";
import { Slots } from "./slots.ts";

const PROGRESS_MS = 500;

/** A run by what decides in it. */
export type Run =
  | { readonly kind: "builtin"; readonly task: RunTask }
  | { readonly kind: "wasm"; readonly job: WasmJob }
  | { readonly kind: "remote"; readonly run: RemoteRun };

/** How a run ended; `failed` is the user's fault, `broken` ours. */
export type RunEnded =
  | Exclude<RunOutcome, { readonly type: "failed" }>
  | { readonly type: "failed"; readonly code: RunErrorCode; readonly message: string };

/** Gives a run to whom it is safe with: our own code to a warm worker, foreign code to a process of its own. */
export class Runner {
  readonly #pool: Pool;
  readonly #remote: RemoteRunner;
  readonly #slots: Slots;
  readonly #runsMax: number;
  /** When the runs in processes of their own began, the oldest first. */
  readonly #begun: number[] = [];

  /** @param runsMax How many of each kind compute at once. */
  constructor(runsMax: number, egress: EgressRules) {
    this.#pool = new Pool(runsMax);
    this.#remote = new RemoteRunner(egress);
    this.#slots = new Slots(runsMax);
    this.#runsMax = runsMax;
  }

  /**
   * How many runs are worth holding at once: more than compute only while all are quick. Others of the long one's kind would be taken,
   * wait for it in vain, go back to the front of the queue and be taken again.
   */
  get runsWanted(): number {
    const [oldest = Infinity] = this.#begun;
    return performance.now() - oldest > LONG_RUN_MS ? this.#runsMax : this.#pool.runsWanted;
  }

  /**
   * Runs as soon as there is room.
   *
   * @throws {RunError} When a remote run's endpoint may not be called.
   */
  async run(run: Run, limits: RunLimits): Promise<RunEnded> {
    if (run.kind === "builtin") return await this.#pool.run(run.task, limits);
    if (!await this.#slots.take(limits)) {
      return limits.signal.aborted ? { type: "stopped", candlesDone: 0 } : { type: "crowded" };
    }
    const begun = performance.now();
    this.#begun.push(begun);
    try {
      const within: SandboxLimits = {
        deadlineMs: limits.deadlineMs,
        memoryBytesMax: SANDBOX_BYTES_MAX,
        onProgress: throttle(limits.onProgress),
        signal: limits.signal,
      };
      const outcome = run.kind === "wasm"
        ? await runInSandbox(run.job, within)
        : await this.#remote.run(run.run, within);
      return toEnded(outcome);
    } finally {
      this.#begun.splice(this.#begun.indexOf(begun), 1);
      this.#slots.release();
    }
  }

  /** Ends the warm workers; sandbox processes end by their signals. */
  close(): void {
    this.#pool.close();
  }
}

function toEnded(outcome: SandboxOutcome): RunEnded {
  if (outcome.type === "valid") return { type: "broken", message: "it judged a module instead of running it" };
  if (outcome.type !== "failed") return outcome;
  // A module that was registered had been accepted: that it is refused now is a failure of this run.
  const code = outcome.code === "INVALID_MODULE" ? "STRATEGY_FAILED" : outcome.code;
  return { type: "failed", code, message: outcome.message };
}

/** At most one call in PROGRESS_MS comes through. */
function throttle(report: (progress: RunProgress) => void): (progress: RunProgress) => void {
  let last = performance.now();
  return (progress) => {
    const now = performance.now();
    if (now - last < PROGRESS_MS) return;
    last = now;
    report(progress);
  };
}
