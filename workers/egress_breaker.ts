const FAILURES_MAX = 5;
const PAUSE_MS = 30_000;

interface HostRecord {
  failuresInARow: number;
  closedUntilMs: number;
}

/**
 * Leaves a host alone for a while on which run after run has failed: it is spared, and so are the runs that would wait for it.
 *
 * After the pause runs are let through again; the first that fails begins another pause, the first that succeeds ends the matter.
 */
export class HostBreaker {
  readonly #hosts = new Map<string, HostRecord>();
  readonly #now: () => number;

  /** @param now The time in milliseconds, from any start. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** How long a host is still left alone, in milliseconds; 0: it may be called. */
  pauseMs(host: string): number {
    const record = this.#hosts.get(host);
    return record === undefined ? 0 : Math.max(0, record.closedUntilMs - this.#now());
  }

  /** Notes how a run on a host ended. */
  record(host: string, failed: boolean): void {
    if (!failed) {
      this.#hosts.delete(host);
      return;
    }
    const record = this.#hosts.get(host) ?? { failuresInARow: 0, closedUntilMs: -Infinity };
    record.failuresInARow++;
    if (record.failuresInARow >= FAILURES_MAX) record.closedUntilMs = this.#now() + PAUSE_MS;
    this.#hosts.set(host, record);
    this.#forget();
  }

  /** What failed long ago says nothing any more; the memory of hosts must not grow for ever. */
  #forget(): void {
    if (this.#hosts.size <= 10_000) return;
    const oldest = this.#hosts.keys().next().value;
    if (oldest !== undefined) this.#hosts.delete(oldest);
  }
}
