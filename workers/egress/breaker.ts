const FAILURES_MAX = 5;
const PAUSE_MS = 30_000;
const ENDPOINTS_MAX = 10_000;

interface EndpointRecord {
  failuresInARow: number;
  pausedUntilMs: number;
}

/**
 * Pauses calls to an endpoint after several failed runs in a row, so that further runs fail at once instead of waiting for it.
 *
 * The key is the whole URL. With the host alone, anyone could block other users of that host by failing on URLs of their own.
 *
 * After the pause, runs may call again: one failure starts another pause, one success clears the record.
 */
export class EndpointBreaker {
  readonly #endpoints = new Map<string, EndpointRecord>();
  readonly #now: () => number;

  /** @param now The time in milliseconds since any fixed moment. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Milliseconds until the endpoint may be called again; 0 when it may be called now. */
  pauseMs(url: string): number {
    const record = this.#endpoints.get(url);
    return record === undefined ? 0 : Math.max(0, record.pausedUntilMs - this.#now());
  }

  /** Records how a run on an endpoint ended. */
  record(url: string, failed: boolean): void {
    if (!failed) {
      this.#endpoints.delete(url);
      return;
    }
    const record = this.#endpoints.get(url) ?? { failuresInARow: 0, pausedUntilMs: -Infinity };
    record.failuresInARow++;
    if (record.failuresInARow >= FAILURES_MAX) record.pausedUntilMs = this.#now() + PAUSE_MS;
    this.#endpoints.set(url, record);
    this.#dropOldest();
  }

  /** Keeps the memory of endpoints from growing without end. */
  #dropOldest(): void {
    if (this.#endpoints.size <= ENDPOINTS_MAX) return;
    const oldest = this.#endpoints.keys().next().value;
    if (oldest !== undefined) this.#endpoints.delete(oldest);
  }
}
