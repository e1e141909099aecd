import { AppError } from "../../routers/common/errors.ts";

// A hash takes a core for some fifty milliseconds.
const RUNNING_MAX = 2;
const WAITING_MAX = 128;
const ADDRESS_WAITING_MAX = 32;
const RETRY_AFTER_SECONDS = 2;

/** Lets few requests that check or set a password run at a time, in the order of their arrival. */
export class SignInQueue {
  #running = 0;
  readonly #waiting: { readonly address: string; readonly start: () => void }[] = [];

  /**
   * Runs the work when it is its turn.
   *
   * @param address Whose work it is; nobody may fill the queue alone.
   * @throws AppError UNAVAILABLE where too many wait already.
   */
  async run<Answer>(address: string, work: () => Promise<Answer>): Promise<Answer> {
    await this.#takeTurn(address);
    try {
      return await work();
    } finally {
      this.#running--;
      this.#waiting.shift()?.start();
    }
  }

  /** Refuses work that could not even wait, before anything is spent on it. @throws AppError UNAVAILABLE */
  requireRoom(address: string): void {
    if (this.#running < RUNNING_MAX) return;
    const own = this.#waiting.filter((each) => each.address === address).length;
    if (own >= ADDRESS_WAITING_MAX || this.#waiting.length >= WAITING_MAX) throw tooMany(this.#waiting.length);
  }

  async #takeTurn(address: string): Promise<void> {
    this.requireRoom(address);
    if (this.#running >= RUNNING_MAX) {
      await new Promise<void>((resolve) => {
        this.#waiting.push({
          address,
          start: () => {
            this.#running++;
            resolve();
          },
        });
      });
      return;
    }
    this.#running++;
  }
}

function tooMany(waiting: number): AppError {
  const message = `Cannot check a password yet: ${waiting} requests wait; retry in ${RETRY_AFTER_SECONDS} s`;
  return new AppError("UNAVAILABLE", message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}
