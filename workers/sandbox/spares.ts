import { childLimits, type SandboxLimits, type SpareProcesses } from "./sandbox_limits.ts";
import { spawnChild } from "./spawn.ts";
import { type ChildLimits, kindOf, SANDBOX_BYTES_MAX, type SandboxJob, type SandboxKind } from "./task.ts";

/** A check and the run that follows it, or two runs at once, find one each. */
const SPARES_MAX = 2;
const IDLE_MS_MAX = 600_000;
// A run that has just ended is stored first.
const RENEW_MS = 100;
/** The limits of a process whose job is not known yet: those of a run over a million candles. */
const SPARE_LIMITS: ChildLimits = {
  memoryBytesMax: SANDBOX_BYTES_MAX,
  candleBytes: 64 * 2 ** 20,
  countsCpuAtOnce: true,
  cpuSecondsMax: 620 * navigator.hardwareConcurrency,
};

/** A process that waits for its one job. */
interface Spare {
  readonly child: Deno.ChildProcess;
  readonly kind: SandboxKind;
  readonly jitless: boolean;
  readonly idle: ReturnType<typeof setTimeout>;
}

/**
 * Sandbox processes that have started before there is a job for them. Each does one job, as any other, and is replaced after it: nothing
 * of a run is ever in the process of another. A service that runs no user's code has none.
 */
export class Spares implements SpareProcesses {
  /** The newest last. */
  readonly #idle: Spare[] = [];
  readonly #renewals = new Set<ReturnType<typeof setTimeout>>();
  /** Processes that are killed and not yet gone. */
  readonly #leaving = new Set<Promise<void>>();
  readonly #idleMsMax: number;
  #closed = false;

  /** @param idleMsMax How long a process waits for a job. */
  constructor(idleMsMax = IDLE_MS_MAX) {
    this.#idleMsMax = idleMsMax;
  }

  /** Processes that wait. */
  get count(): number {
    return this.#idle.length;
  }

  start(job: SandboxJob, limits: SandboxLimits): Deno.ChildProcess {
    const { kind, jitless } = needOf(job, limits);
    const found = isUsual(job, limits)
      ? this.#idle.find((spare) => spare.kind === kind && spare.jitless === jitless)
      : undefined;
    if (found === undefined) return startProcess(job, limits);
    this.#forget(found);
    return found.child;
  }

  renew(job: SandboxJob, limits: SandboxLimits): void {
    if (this.#closed || this.#renewals.size >= SPARES_MAX || !isUsual(job, limits)) return;
    const timer = setTimeout(() => {
      this.#renewals.delete(timer);
      this.#add(needOf(job, limits));
    }, RENEW_MS);
    this.#renewals.add(timer);
  }

  async leave(gone: Promise<void>): Promise<void> {
    const left = gone.catch(() => {}).finally(() => this.#leaving.delete(left));
    this.#leaving.add(left);
    if (this.#closed) await left;
  }

  /** Ends the processes that wait, and waits until they and those that have done their jobs are gone. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#renewals) clearTimeout(timer);
    await Promise.all([...[...this.#idle].map((spare) => this.#end(spare)), ...this.#leaving]);
  }

  #add({ kind, jitless }: Pick<Spare, "kind" | "jitless">): void {
    const isOther = (spare: Spare) => spare.kind !== kind || spare.jitless !== jitless;
    if (this.#idle.length >= SPARES_MAX) {
      const other = this.#idle.find(isOther);
      if (other === undefined) return;
      void this.#end(other);
    }
    let child: Deno.ChildProcess;
    try {
      child = spawnChild(kind, SPARE_LIMITS, null, jitless);
    } catch {
      // The next job tries to start its own, and says why it cannot.
      return;
    }
    const idle = setTimeout(() => void this.#end(spare), this.#idleMsMax);
    const spare = { child, kind, jitless, idle };
    this.#idle.push(spare);
    // The system ends it first where memory is short.
    void child.status.then(() => this.#end(spare));
  }

  #forget(spare: Spare): void {
    clearTimeout(spare.idle);
    const index = this.#idle.indexOf(spare);
    if (index >= 0) this.#idle.splice(index, 1);
  }

  async #end(spare: Spare): Promise<void> {
    this.#forget(spare);
    await this.leave(endUnused(spare.child));
  }
}

/** Starts the process of a job. @throws When it cannot be started. */
export function startProcess(job: SandboxJob, limits: SandboxLimits): Deno.ChildProcess {
  return spawnChild(kindOf(job), childLimits(limits, job), limits.address ?? null, limits.jitless ?? false);
}

/** Kills a process that nobody has talked to. */
async function endUnused(child: Deno.ChildProcess): Promise<void> {
  try {
    child.kill("SIGKILL");
  } catch {
    // It has already ended.
  }
  // npm's `deno` is a script: the real process ends itself when its input ends.
  await Promise.allSettled([child.stdin.abort(), child.stdout.cancel(), child.stderr.cancel(), child.status]);
}

/** The process that a job needs: those of one Worker do each other's. */
function needOf(job: SandboxJob, { jitless = false }: SandboxLimits): Pick<Spare, "kind" | "jitless"> {
  const kind = kindOf(job);
  return { kind: kind === "python" ? kind : "source" in job ? "script" : "run", jitless };
}

/** True for a job that any process of its kind may do. */
function isUsual(job: SandboxJob, limits: SandboxLimits): boolean {
  const { memoryBytesMax, candleBytes, cpuSecondsMax } = childLimits(limits, job);
  return (limits.address ?? null) === null && memoryBytesMax === SPARE_LIMITS.memoryBytesMax &&
    candleBytes <= SPARE_LIMITS.candleBytes && cpuSecondsMax <= SPARE_LIMITS.cpuSecondsMax;
}
