import { getLogger } from "@logtape/logtape";
import type { Jobs, QueueName, TakenJob } from "./jobs.ts";
import { currentMs, traceJob } from "../telemetry.ts";

const log = getLogger(["hindcast", "queue"]);

// Notifications wake the loop at once; polling finds jobs whose notification was lost, and jobs that wait for another attempt.
const POLL_MS = 2000;
const HEARTBEAT_MS = 3000;

/** Why a job's signal is aborted: the process stops, or another worker has the job. */
export type StopReason = "closing" | "lost";

/** Does one job and always ends it. The signal's reason is a StopReason. */
export type JobHandler = (job: TakenJob, signal: AbortSignal) => Promise<void>;

/** Takes jobs from one queue, up to `concurrency` at a time, and renews their heartbeats. */
export class JobLoop {
  readonly #jobs: Jobs;
  readonly #queue: QueueName;
  readonly #concurrency: () => number;
  readonly #handle: JobHandler;
  readonly #held = new Map<string, { job: TakenJob; stop: AbortController; ended: Promise<void> }>();
  readonly #heartbeat: ReturnType<typeof setInterval>;
  readonly #looping: Promise<void>;
  #closing = false;
  #woken = false;
  #sleeper: { timer: ReturnType<typeof setTimeout>; wake: () => void } | undefined;

  /**
   * Starts at once.
   *
   * @param concurrency Returns how many jobs to hold; called before each look for more.
   */
  constructor(jobs: Jobs, queue: QueueName, concurrency: () => number, handle: JobHandler) {
    this.#jobs = jobs;
    this.#queue = queue;
    this.#concurrency = concurrency;
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
   * Takes no more jobs, aborts the held ones and waits for their handlers.
   *
   * @param waitMs The longest wait; it leaves behind handlers that are busy for longer.
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
      const free = this.#concurrency() - this.#held.size;
      const askedAt = currentMs();
      const taken = free > 0 ? await this.#take(free) : [];
      for (const job of taken) this.#begin(job, askedAt);
      if (taken.length < free || free <= 0) await this.#sleep();
    }
  }

  async #take(count: number): Promise<TakenJob[]> {
    try {
      return await this.#putOffSuspects(await this.#jobs.take(this.#queue, count));
    } catch (error) {
      log.error("Cannot take jobs from {queue}: {error}", { queue: this.#queue, error });
      return [];
    }
  }

  /** All but the suspects beyond the one that may be held. */
  async #putOffSuspects(taken: readonly TakenJob[]): Promise<TakenJob[]> {
    const isOneHeld = [...this.#held.values()].some(({ job }) => job.isSuspect);
    const suspects = taken.filter((job) => job.isSuspect);
    const excess = new Set(suspects.slice(isOneHeld ? 0 : 1));
    for (const job of excess) await this.#jobs.putOff(this.#queue, job);
    return taken.filter((job) => !excess.has(job));
  }

  #begin(job: TakenJob, askedAt: number): void {
    const stop = new AbortController();
    // The loop may have been closed while this job was on its way.
    if (this.#closing) stop.abort("closing" satisfies StopReason);
    const ended = traceJob(this.#queue, job, askedAt, () => this.#handle(job, stop.signal))
      .catch((error) => log.error("Cannot end job {id} of {queue}: {error}", { id: job.id, queue: this.#queue, error }))
      .finally(() => {
        // The loop holds an id twice if it lost the job and took it again before the first handler ended.
        if (this.#held.get(job.id)?.job === job) this.#held.delete(job.id);
        this.wake();
      });
    this.#held.set(job.id, { job, stop, ended });
  }

  async #sleep(): Promise<void> {
    if (this.#woken || this.#closing) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, POLL_MS);
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
      // This also aborts jobs that their handlers have just ended, which does nothing.
      for (const { job, stop } of held) if (!kept.has(job.id)) stop.abort("lost" satisfies StopReason);
    } catch (error) {
      log.error("Cannot renew the heartbeats of {queue}: {error}", { queue: this.#queue, error });
    }
  }
}
