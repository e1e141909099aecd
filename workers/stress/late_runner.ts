import type { Runner } from "../backtest/runner.ts";

/** A runner whose threads begin when it is first needed: many services never run a stress test. */
export class LateRunner {
  readonly #make: () => Runner;
  #runner: Runner | undefined;

  constructor(make: () => Runner) {
    this.#make = make;
  }

  start(): Runner {
    return this.#runner ??= this.#make();
  }

  close(): void {
    this.#runner?.close();
  }
}
