/** Bytes of long events that are sent to an address, and to all, and that no client has read yet. */
export const UNREAD_LIMITS = { addressBytesMax: 16 * 1024 * 1024, bytesMax: 64 * 1024 * 1024 };

/** A long event that a stream sends. */
export interface UnreadEvent {
  readonly address: string;
  readonly bytes: number;
  giveUp(reason: Error): void;
}

/** Long events that wait for their clients to read them: beyond the limits, the client that has read nothing for the longest is given up. */
export class UnreadEvents {
  readonly #limits: typeof UNREAD_LIMITS;
  /** The one whose client has read nothing for the longest first. */
  readonly #events = new Set<UnreadEvent>();

  constructor(limits: typeof UNREAD_LIMITS) {
    this.#limits = limits;
  }

  /** Counts an event, or counts it as just read in part. */
  touch(event: UnreadEvent): void {
    this.#events.delete(event);
    this.#events.add(event);
    this.#shrink([...this.#events].filter(({ address }) => address === event.address), this.#limits.addressBytesMax);
    this.#shrink([...this.#events], this.#limits.bytesMax);
  }

  delete(event: UnreadEvent): void {
    this.#events.delete(event);
  }

  #shrink(events: readonly UnreadEvent[], bytesMax: number): void {
    let bytes = events.reduce((sum, event) => sum + event.bytes, 0);
    // The newest stays, however long it is.
    for (const event of events.slice(0, -1)) {
      if (bytes <= bytesMax) return;
      bytes -= event.bytes;
      this.#events.delete(event);
      event.giveUp(new Error(`the client reads too slowly: events of more than ${bytesMax} bytes wait`));
    }
  }
}
