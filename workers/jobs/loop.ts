import { getLogger } from "@logtape/logtape";
import type { Jobs, TakenJob } from "./jobs.ts";
import { findYielder, type HeldJob } from "./places.ts";
import type { QueueName } from "./queues.ts";
import { traceJob } from "../telemetry.ts";

const log = getLogger(["hindcast", "queue"]);

// Notifications wake the loop at once. The poll finds jobs whose notification was lost, and jobs that wait for their next attempt.
const POLL_MS = 2000;
const HEARTBEAT_MS = 3000;

/** Why a job's signal is aborted: the process stops, another worker has the job, or another user's job takes its place. */
export type StopReason = "closing" | "lost" | "yield";

/** Does one job and ends it in every case; called with a signal whose reason is a StopReason. */
export type JobHandler = (job: TakenJob, signal: AbortSignal) => Promise<void>;

/** How a loop takes jobs. */
export interface LoopOptions {
  /** How many jobs to hold; asked before each look for more. */
  readonly concurrency: () => number;
  /**
   * How many of these places users share. While they are taken, the loop holds one more job, of a user who has none there. Once that place is
   * taken too, jobs yield: see findYielder(). Undefined: nobody yields.
   */
  readonly sharedPlaces?: number | undefined;
}

/** Takes jobs from one queue and keeps up their heartbeats. */
export class JobLoop {
  readonly #jobs: Jobs;
  readonly #queue: QueueName;
  readonly #options: LoopOptions;
  readonly #handle: JobHandler;
  readonly #held = new Map<string, HeldJob & { ended: Promise<void> }>();
  readonly #heartbeat: ReturnType<typeof setInterval>;
  readonly #looping: Promise<void>;
  #closing = false;
  #woken = false;
  #pauseMs = POLL_MS;
  #sleeper: { timer: ReturnType<typeof setTimeout>; wake: () => void } | undefined;

  /** Starts at once. */
  constructor(jobs: Jobs, queue: QueueName, options: LoopOptions, handle: JobHandler) {
    this.#jobs = jobs;
    this.#queue = queue;
    this.#options = options;
    this.#handle = handle;
    this.#heartbeat = setInterval(() => void this.#touch(), HEARTBEAT_MS);
    this.#looping = this.#loop();
  }

  /** Looks for jobs now instead of at the next poll. */
  wake(): void {
    this.#woken = true;
    this.#sleeper?.wake();
  }

  /**
   * Takes no more jobs, asks the held ones to stop and waits for their handlers.
   *
   * @param waitMs The longest wait; handlers that are still busy then are left behind.
   */
  async close(waitMs: number): Promise<void> {
    this.#closing = true;
    this.wake();
    for (const { stop } of this.#held.values()) stop.abort("closing" satisfies StopReason);
    const deadline = Promise.withResolvers<void>();
    const timer = setTimeout(deadline.resolve, waitMs);
    await Promise.race([this.#drain(), deadline.promise]);
    clearTimeout(timer);
    clearInterval(this.#heartbeat);
    if (this.#held.size > 0) {
      log.warn("{count} jobs of {queue} did not stop in time; their heartbeats end here", {
        count: this.#held.size,
        queue: this.#queue,
      });
    }
  }

  async #drain(): Promise<void> {
    await this.#looping;
    await Promise.all([...this.#held.values()].map(({ ended }) => ended));
  }

  async #loop(): Promise<void> {
    while (!this.#closing) {
      this.#woken = false;
      this.#pauseMs = POLL_MS;
      const places = this.#options.concurrency();
      const free = places - this.#listActive().filter(({ isExtra }) => !isExtra).length;
      const count = free > 0 ? await this.#takeNext(free) : await this.#takeForOthers(places);
      if (count < Math.max(1, free)) await this.#sleep();
    }
  }

  /** The held jobs without those that are about to leave their place. */
  #listActive(): HeldJob[] {
    return [...this.#held.values()].filter(({ stop }) => !isYielding(stop));
  }

  /** @returns How many jobs it took. */
  async #takeNext(free: number): Promise<number> {
    const taken = await this.#take(() => this.#jobs.take(this.#queue, free));
    for (const job of taken) this.#begin(job, false);
    return taken.length;
  }

  /** Takes a job of a user who holds no place, for the extra place or for the place of a job that yields. @returns How many it took. */
  async #takeForOthers(places: number): Promise<number> {
    const { sharedPlaces } = this.#options;
    // With more places than are shared, all runs are quick.
    if (sharedPlaces === undefined || places > sharedPlaces) return 0;
    const active = this.#listActive();
    let yielder: HeldJob | undefined;
    if (active.some(({ isExtra }) => isExtra)) {
      // One at a time: until it has ended, both compute.
      if (active.length < this.#held.size) return 0;
      const found = findYielder(active, sharedPlaces);
      if (found === null) return 0;
      if (found.waitMs > 0) {
        this.#pauseMs = Math.min(POLL_MS, found.waitMs);
        return 0;
      }
      yielder = found.held;
    }
    const ownerIds = active.flatMap(({ job }) => job.ownerId ?? []);
    const [job] = await this.#take(() => this.#jobs.takeOther(this.#queue, ownerIds));
    if (job === undefined) return 0;
    yielder?.stop.abort("yield" satisfies StopReason);
    this.#begin(job, yielder?.isExtra ?? true);
    return 1;
  }

  async #take(ask: () => Promise<TakenJob[]>): Promise<TakenJob[]> {
    try {
      return await this.#postponeSuspects(await ask());
    } catch (error) {
      log.error("Cannot take jobs from {queue}: {error}", { queue: this.#queue, error });
      return [];
    }
  }

  /** Postpones all suspects beyond the one that may be held. @returns The other jobs. */
  async #postponeSuspects(taken: readonly TakenJob[]): Promise<TakenJob[]> {
    const isOneHeld = [...this.#held.values()].some(({ job }) => job.isSuspect);
    const suspects = taken.filter((job) => job.isSuspect);
    const excess = new Set(suspects.slice(isOneHeld ? 0 : 1));
    for (const job of excess) await this.#jobs.postpone(this.#queue, job);
    return taken.filter((job) => !excess.has(job));
  }

  #begin(job: TakenJob, isExtra: boolean): void {
    const stop = new AbortController();
    // The loop may have been closed while it took the job.
    if (this.#closing) stop.abort("closing" satisfies StopReason);
    const ended = traceJob(this.#queue, job, () => this.#handle(job, stop.signal))
      .catch((error) => log.error("Cannot end job {id} of {queue}: {error}", { id: job.id, queue: this.#queue, error }))
      .finally(() => {
        // The same id can be held twice when the job was lost and taken again before its first handler ended.
        if (this.#held.get(job.id)?.job === job) this.#held.delete(job.id);
        this.wake();
      });
    this.#held.set(job.id, { job, stop, begunMs: performance.now(), isExtra, ended });
  }

  async #sleep(): Promise<void> {
    if (this.#woken || this.#closing) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.#pauseMs);
      this.#sleeper = { timer, wake: resolve };
    });
    clearTimeout(this.#sleeper?.timer);
    this.#sleeper = undefined;
  }

  async #touch(): Promise<void> {
    const held = [...this.#held.values()];
    if (held.length === 0) return;
    try {
      const kept = await this.#jobs.touch(this.#queue, held.map(({ job }) => job));
      // A job that its handler ended a moment ago is not kept either; stopping it then does nothing.
      for (const { job, stop } of held) if (!kept.has(job.id)) stop.abort("lost" satisfies StopReason);
    } catch (error) {
      log.error("Cannot keep up the heartbeats of {queue}: {error}", { queue: this.#queue, error });
    }
  }
}

function isYielding({ signal }: AbortController): boolean {
  return signal.reason === "yield" satisfies StopReason;
}
