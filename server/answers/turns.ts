import { setImmediate } from "node:timers";

/** Turns of the event loop, one for each caller: between two of them, whatever has arrived is answered. */
export class Turns {
  readonly #waiting: (() => void)[] = [];

  /** Waits for a turn of the event loop that no other caller has, in the order of the calls. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(() => this.#give());
    });
  }

  #give(): void {
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) setImmediate(() => this.#give());
  }
}
