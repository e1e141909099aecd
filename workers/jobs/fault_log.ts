const QUIET_MS = 60_000;
const KINDS_MAX = 100;

interface Properties {
  readonly error: unknown;
  readonly queue?: string;
}

/**
 * Reports faults of the queue, one of a kind a minute.
 *
 * While the database is away or its disk is full, each queue fails every two seconds: all the same lines would fill that disk.
 */
export class FaultLog {
  readonly #write: (message: string, properties: Record<string, unknown>) => void;
  readonly #currentMs: () => number;
  /** When each kind was reported, and how many of it were left out since, by the error's message. */
  readonly #kinds = new Map<string, { readonly saidMs: number; leftOut: number }>();

  /** @param write Writes a line. */
  constructor(
    write: (message: string, properties: Record<string, unknown>) => void,
    currentMs: () => number = () => performance.now(),
  ) {
    this.#write = write;
    this.#currentMs = currentMs;
  }

  /** @param message The text of the line, with names of properties in braces. */
  report(message: string, properties: Properties): void {
    const { error } = properties;
    const reason = error instanceof Error ? error.message : String(error);
    const kind = this.#kinds.get(reason);
    const nowMs = this.#currentMs();
    if (kind !== undefined && nowMs - kind.saidMs < QUIET_MS) {
      kind.leftOut++;
      return;
    }
    // Messages may hold a number or an id: each is a kind of its own.
    if (this.#kinds.size >= KINDS_MAX) this.#kinds.clear();
    this.#kinds.set(reason, { saidMs: nowMs, leftOut: 0 });
    const leftOut = kind?.leftOut ?? 0;
    this.#write(message, leftOut === 0 ? { ...properties } : { ...properties, repeated: leftOut });
  }
}
