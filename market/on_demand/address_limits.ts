/** A caller without an account caused too many fetches in a short time. */
export class AddressLimitError extends Error {
  override readonly name = "AddressLimitError";
  constructor(readonly retryAfterSeconds: number) {
    super(`Cannot fetch more candles for this address now: retry in ${retryAfterSeconds} s, or sign in`);
  }
}

const FETCHES_MAX = 30;
const WINDOW_MS = 60_000;

/** Counts the fetches of each address in the current minute. */
export class AddressLimits {
  readonly #now: () => number;
  #window = NaN;
  readonly #counts = new Map<string, number>();

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Counts a fetch. @throws {AddressLimitError} When the address has used up its limit. */
  take(address: string): void {
    const now = this.#now();
    const window = Math.floor(now / WINDOW_MS);
    if (window !== this.#window) {
      this.#window = window;
      this.#counts.clear();
    }
    const count = this.#counts.get(address) ?? 0;
    if (count >= FETCHES_MAX) throw new AddressLimitError(Math.ceil(((window + 1) * WINDOW_MS - now) / 1000));
    this.#counts.set(address, count + 1);
  }
}
