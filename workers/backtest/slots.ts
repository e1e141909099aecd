/** How long to wait for a slot, and what ends the wait. */
interface SlotWait {
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/** A limited number of slots to compute in; waiting runs get them in their order. */
export class Slots {
  #free: number;
  readonly #waiting: ((isGiven: boolean) => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Takes a slot, which release() gives back. @returns True if a slot was free within `waitMs` and before the signal was aborted. */
  async take({ waitMs, signal }: SlotWait): Promise<boolean> {
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
    const isGiven = await promise;
    signal.removeEventListener("abort", leave);
    clearTimeout(timer);
    return isGiven;
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next(true);
  }

  /** Refuses a slot to all waiting runs. */
  close(): void {
    for (const give of this.#waiting.splice(0)) give(false);
  }
}
