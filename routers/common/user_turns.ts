import { AppError } from "./errors.ts";

const WAITING_MAX = 64;
const RETRY_AFTER_SECONDS = 2;

interface Turns {
  running: number;
  readonly waiting: (() => void)[];
}

/** Lets few works of one user run at a time, such as long readings, in the order of their arrival: one user's must not slow everybody's. */
export class UserTurns {
  readonly #atOnce: number;
  readonly #users = new Map<string, Turns>();

  constructor(atOnce = 2) {
    this.#atOnce = atOnce;
  }

  /** Runs the work when it is its turn. @throws AppError RATE_LIMITED where too much of the user's waits already. */
  async run<Answer>(userId: string, work: () => Promise<Answer>): Promise<Answer> {
    if ((this.#users.get(userId)?.waiting.length ?? 0) >= WAITING_MAX) throw tooMany();
    return await this.runLater(userId, work);
  }

  /** The same for a piece of an answer that is under way, which would break off: it waits behind any number, bounded elsewhere. */
  async runLater<Answer>(userId: string, work: () => Promise<Answer>): Promise<Answer> {
    const turns = this.#users.get(userId) ?? { running: 0, waiting: [] };
    this.#users.set(userId, turns);
    if (turns.running < this.#atOnce) turns.running++;
    else {
      // The turn of the one that ends is passed on, so the number of running ones stays.
      await new Promise<void>((resolve) => turns.waiting.push(resolve));
    }
    try {
      return await work();
    } finally {
      const next = turns.waiting.shift();
      if (next !== undefined) next();
      else if (--turns.running === 0) this.#users.delete(userId);
    }
  }
}

function tooMany(): AppError {
  const message = `Cannot read yet: ${WAITING_MAX} of your requests for charts, curves and lists wait; ` +
    `retry in ${RETRY_AFTER_SECONDS} s`;
  return new AppError("RATE_LIMITED", message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}
