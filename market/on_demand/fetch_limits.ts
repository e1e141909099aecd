/** A caller caused too many fetches in a short time. */
export class FetchLimitError extends Error {
  override readonly name = "FetchLimitError";
  constructor(readonly retryAfterSeconds: number, caller: FetchCaller) {
    const hint = "address" in caller ? ", or sign in" : "";
    super(`Cannot fetch more candles for you now: retry in ${retryAfterSeconds} s${hint}`);
  }
}

/** The cause of a fetch: a user, or the network of a caller without an account. */
type FetchCaller = { readonly userId: string } | { readonly address: string };

const ADDRESS_FETCHES_MAX = 30;
const USER_FETCHES_MAX = 120;
const WINDOW_MS = 60_000;

/** Counts the fetches of each caller in the current minute. */
export class FetchLimits {
  readonly #now: () => number;
  #window = NaN;
  readonly #counts = new Map<string, number>();

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Counts a fetch. @throws {FetchLimitError} When the caller has used up its limit. */
  take(caller: FetchCaller): void {
    const now = this.#now();
    const window = Math.floor(now / WINDOW_MS);
    if (window !== this.#window) {
      this.#window = window;
      this.#counts.clear();
    }
    const [key, max] = "userId" in caller
      ? [`user ${caller.userId}`, USER_FETCHES_MAX]
      : [`address ${caller.address}`, ADDRESS_FETCHES_MAX];
    const count = this.#counts.get(key) ?? 0;
    if (count >= max) throw new FetchLimitError(Math.ceil(((window + 1) * WINDOW_MS - now) / 1000), caller);
    this.#counts.set(key, count + 1);
  }
}
