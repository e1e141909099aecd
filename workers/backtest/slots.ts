/** A number of places: who takes one computes, the others wait in turn. */
export class Slots {
  #free: number;
  readonly #waiting: ((got: boolean) => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /**
   * Takes a place, waiting for one at most `waitMs`.
   *
   * @returns Whether there is one; it must be given back by release(). False as well when the signal was aborted.
   */
  async take({ waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal }): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.#free > 0) {
      this.#free--;
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const leave = () => {
      const index = this.#waiting.indexOf(resolve);
      if (index >= 0) this.#waiting.splice(index, 1);
      resolve(false);
    };
    this.#waiting.push(resolve);
    const timer = setTimeout(leave, waitMs);
    signal.addEventListener("abort", leave);
    const got = await promise;
    signal.removeEventListener("abort", leave);
    clearTimeout(timer);
    return got;
  }

  /** Gives a place back, to the one who has waited longest. */
  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next(true);
  }
}
