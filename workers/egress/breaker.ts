const FAILURES_MAX = 5;
const PAUSE_MS = 30_000;
const ENDPOINTS_MAX = 10_000;

interface EndpointRecord {
  failuresInARow: number;
  closedUntilMs: number;
}

/**
 * Leaves an endpoint alone for a while on which run after run has failed: it is spared, and so are the runs that would wait for it.
 *
 * Endpoints are told apart by their whole URLs, since a host's name is no secret: who knew it could make up URLs that fail, and the
 * runs of others on that host would fail with them.
 *
 * After the pause runs are let through again; the first that fails begins another pause, the first that succeeds ends the matter.
 */
export class EndpointBreaker {
  readonly #endpoints = new Map<string, EndpointRecord>();
  readonly #now: () => number;

  /** @param now The time in milliseconds, from any start. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** How long an endpoint is still left alone, in milliseconds; 0: it may be called. */
  pauseMs(url: string): number {
    const record = this.#endpoints.get(url);
    return record === undefined ? 0 : Math.max(0, record.closedUntilMs - this.#now());
  }

  /** Notes how a run on an endpoint ended. */
  record(url: string, failed: boolean): void {
    if (!failed) {
      this.#endpoints.delete(url);
      return;
    }
    const record = this.#endpoints.get(url) ?? { failuresInARow: 0, closedUntilMs: -Infinity };
    record.failuresInARow++;
    if (record.failuresInARow >= FAILURES_MAX) record.closedUntilMs = this.#now() + PAUSE_MS;
    this.#endpoints.set(url, record);
    this.#forget();
  }

  /** What failed long ago says nothing any more; the memory of endpoints must not grow for ever. */
  #forget(): void {
    if (this.#endpoints.size <= ENDPOINTS_MAX) return;
    const oldest = this.#endpoints.keys().next().value;
    if (oldest !== undefined) this.#endpoints.delete(oldest);
  }
}
