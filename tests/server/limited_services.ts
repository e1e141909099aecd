import { finishOptimization, submitOptimization } from "../support/optimizations.ts";
import { startTestService, type TestService } from "../support/service.ts";

/** The candles and dates of optimizations of users' code. */
export const RUN = { start_date: "2024-02-01", end_date: "2024-03-01", parameters: { timeframe: "1h" } };

/** Services whose limit of time some points exceed. */
export class LimitedServices {
  readonly #host: string;
  #seconds = 8;
  #service: TestService | undefined;

  constructor(host: string) {
    this.#host = host;
  }

  /**
   * Optimizes over values of `fault`. On a busy machine trials that do not hang may exceed the limit, too: the next service has twice as
   * much time.
   *
   * @returns The optimization, and its trials by the objective.
   */
  async optimize(change: object, faults: readonly unknown[]) {
    for (;; this.#seconds *= 2) {
      const environment = { REMOTE_ENDPOINT_ALLOW: this.#host, RUN_SECONDS_MAX: String(this.#seconds) };
      this.#service ??= await startTestService("PostgreSQL", environment);
      const user = await this.#service.user();
      const id = await submitOptimization(user, { ...RUN, ...change, space: { fault: { values: faults } } });
      const ended = await finishOptimization(user, id);
      const trials = (await user.get(`/api/optimizations/${id}/trials?sort=sharpe`)).list("/trials").map(Object);
      const late = trials.filter(({ error }) => error?.code === "STRATEGY_TIMED_OUT");
      if (late.every(({ parameters }) => parameters.fault === "hangs") || this.#seconds > 60) return { ended, trials };
      await this.close();
    }
  }

  async close(): Promise<void> {
    await this.#service?.close();
    this.#service = undefined;
  }
}
