import { getLogger } from "@logtape/logtape";
import type { Jobs, TakenJob } from "./jobs.ts";
import type { QueueName } from "./queues.ts";
import { currentMs, traceJob } from "../common/telemetry.ts";
import { FaultLog } from "./fault_log.ts";

const log = getLogger(["hindcast", "queue"]);
const faults = new FaultLog((message, properties) => log.error(message, properties));

// Notifications wake the loop at once; polling finds jobs whose notification was lost, and jobs that wait for another attempt.
const POLL_MS = 2000;
const HEARTBEAT_MS = 3000;
// A spare place is not notified of jobs: in a long queue, each look passes all jobs of users who have one running.
const SPARE_POLL_MS = 500;
// How long a job keeps a spare place while others wait for it.
const SPARE_MS = 1000;

/** Why a job's signal is aborted: the process stops, another worker has the job, or it makes way for another user's. */
export type StopReason = "closing" | "lost" | "making way";

/**
 * Does one job and always ends it. The signal's reason is a StopReason.
 *
 * @param leavePlace Lets the loop take another job although this one has not ended.
 */
export type JobHandler = (job: TakenJob, signal: AbortSignal, leavePlace: () => void) => Promise<void>;

interface HeldJob {
  readonly job: TakenJob;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  readonly begunMs: number;
}

/** Takes jobs from one queue, up to `concurrency` at a time, and renews their heartbeats. */
export class JobLoop {
  readonly #jobs: Jobs;
  readonly #queue: QueueName;
  readonly #concurrency: () => number;
  readonly #handle: JobHandler;
  readonly #spareOf: JobLoop | undefined;
  readonly #held = new Map<string, HeldJob>();
  /** Held jobs that have not left their places. */
  readonly #placed = new Set<TakenJob>();
  readonly #heartbeat: ReturnType<typeof setInterval>;
  readonly #looping: Promise<void>;
  #closing = false;
  #woken = false;
  /** The last look found fewer jobs than there were places for: more come with a notification. */
  #isDrained = false;
  #sleeper: { timer: ReturnType<typeof setTimeout>; wake: () => void } | undefined;

  /**
   * Starts at once.
   *
   * @param concurrency Returns how many jobs to hold; called before each look for more.
   * @param spareOf Makes this a spare place beside that loop's, for users who have no job running while those are taken. After a second,
   * its job makes way for the next one; it then waits for one of the other places, before all other jobs.
   */
  constructor(jobs: Jobs, queue: QueueName, concurrency: () => number, handle: JobHandler, spareOf?: JobLoop) {
    this.#jobs = jobs;
    this.#queue = queue;
    this.#concurrency = concurrency;
    this.#handle = handle;
    this.#spareOf = spareOf;
    this.#heartbeat = setInterval(() => void this.#touch(), HEARTBEAT_MS);
    this.#looping = this.#loop();
  }

  /** Jobs that it holds. */
  get heldCount(): number {
    return this.#held.size;
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
      const free = this.#countFree();
      const askedAt = currentMs();
      const taken = free > 0 ? await this.#take(free) : [];
      for (const job of taken) {
        if (this.#spareOf !== undefined) await this.#makeWay();
        this.#begin(job, askedAt);
      }
      this.#isDrained = taken.length < free;
      if (this.#isDrained || free <= 0) await this.#sleep();
    }
  }

  /**
   * How many jobs to look for. A job that has left its place takes up none, as long as no more than twice as many jobs are held as there
   * are places. A spare place looks for a job only while the others are taken.
   */
  #countFree(): number {
    if (this.#spareOf === undefined) {
      const places = this.#concurrency();
      return Math.min(places - this.#placed.size, 2 * places - this.#held.size);
    }
    if (this.#spareOf.#countFree() > 0) return 0;
    const since = performance.now() - SPARE_MS;
    return this.#concurrency() - [...this.#held.values()].filter(({ begunMs }) => begunMs > since).length;
  }

  async #take(count: number): Promise<TakenJob[]> {
    try {
      const taken = this.#spareOf === undefined
        ? await this.#jobs.take(this.#queue, count)
        : await this.#jobs.takeForSpare(this.#queue);
      return await this.#putOffSuspects(taken);
    } catch (error) {
      faults.report("Cannot take jobs from {queue}: {error}", { queue: this.#queue, error });
      return [];
    }
  }

  /** Empties a spare place for a job that has been taken. */
  async #makeWay(): Promise<void> {
    for (const { job, stop } of this.#held.values()) {
      try {
        await this.#jobs.makeFirst(this.#queue, job);
        stop.abort("making way" satisfies StopReason);
      } catch (error) {
        log.error("Cannot make way for another job of {queue}: {error}", { queue: this.#queue, error });
      }
    }
  }

  /** All but the suspects beyond the one that may be held. */
  async #putOffSuspects(taken: readonly TakenJob[]): Promise<TakenJob[]> {
    // Suspects leave a spare place to others, since its process may hold one already.
    const isOneHeld = this.#spareOf !== undefined || [...this.#held.values()].some(({ job }) => job.isSuspect);
    const suspects = taken.filter((job) => job.isSuspect);
    const excess = new Set(suspects.slice(isOneHeld ? 0 : 1));
    for (const job of excess) await this.#jobs.putOff(this.#queue, job);
    return taken.filter((job) => !excess.has(job));
  }

  #begin(job: TakenJob, askedAt: number): void {
    const stop = new AbortController();
    // The loop may have been closed while this job was on its way.
    if (this.#closing) stop.abort("closing" satisfies StopReason);
    this.#placed.add(job);
    const leavePlace = () => {
      this.#placed.delete(job);
      if (!this.#isDrained) this.wake();
    };
    const ended = traceJob(this.#queue, job, askedAt, () => this.#handle(job, stop.signal, leavePlace))
      .catch((error) => log.error("Cannot end job {id} of {queue}: {error}", { id: job.id, queue: this.#queue, error }))
      .finally(() => {
        // The loop holds an id twice if it lost the job and took it again before the first handler ended.
        if (this.#held.get(job.id)?.job === job) this.#held.delete(job.id);
        leavePlace();
      });
    this.#held.set(job.id, { job, stop, ended, begunMs: performance.now() });
  }

  async #sleep(): Promise<void> {
    if (this.#woken || this.#closing) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.#spareOf === undefined ? POLL_MS : SPARE_POLL_MS);
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
