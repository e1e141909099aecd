/** Someone who is not known caused too much work in a short time. */
export class AddressLimitError extends Error {
  override readonly name = "AddressLimitError";
  constructor(readonly retryAfterSeconds: number) {
    super(`Cannot fetch more candles for this address now: again in ${retryAfterSeconds} s, or with an account`);
  }
}

const FETCHES_MAX = 30;
const WINDOW_MS = 60_000;

/** Counts what each address caused in the current minute. */
export class AddressLimits {
  readonly #now: () => number;
  #window = NaN;
  readonly #counts = new Map<string, number>();

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** @throws {AddressLimitError} When the address had its share. */
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
