import type { Db } from "./database.ts";
import { transactPipelined } from "./postgres_session.ts";

// Of transactions that are under way.
const unitsOf = new WeakMap<Db, UnitOfWork>();

/** A transaction in as few round trips as its statements allow; see inUnit(). */
class UnitOfWork {
  readonly tx: Db;
  /** Resolves when its last statements are on their way. */
  readonly allSent: Promise<void>;
  readonly #resolveAllSent: () => void;
  #unsent = 0;
  #isLast = false;

  constructor(tx: Db) {
    this.tx = tx;
    ({ promise: this.allSent, resolve: this.#resolveAllSent } = Promise.withResolvers());
  }

  /**
   * Says that no statement follows those that have been started: the commit shares their round trip.
   *
   * @param answers Those of the last statements.
   */
  async last<Answer>(answers: Promise<Answer>): Promise<Answer> {
    this.#isLast = true;
    this.#check();
    return await answers;
  }

  /** See expectStatement(). */
  expect(): () => void {
    this.#unsent++;
    let isSent = false;
    return () => {
      if (isSent) return;
      isSent = true;
      this.#unsent--;
      this.#check();
    };
  }

  #check(): void {
    if (this.#isLast && this.#unsent === 0) this.#resolveAllSent();
  }
}

/**
 * Does what is written together, in one transaction: statements that are started together share a round trip, the first ones with
 * `begin`, the last ones with `commit`.
 *
 * The first statements only read or lock, or the first one writes everything that belongs together: where `begin` fails, the server
 * has executed them alone, and nobody gets their answers.
 *
 * @param db A database, and no transaction.
 * @param work Returns `unit.last(...)` with the answers of its last statements; without it, the commit waits for all answers.
 */
export async function inUnit<Answer>(db: Db, work: (unit: UnitOfWork) => Promise<Answer>): Promise<Answer> {
  return await transactPipelined(db, async (tx) => {
    const unit = new UnitOfWork(tx);
    unitsOf.set(tx, unit);
    try {
      const answer = work(unit);
      await Promise.race([answer, unit.allSent]);
      return { answer };
    } finally {
      unitsOf.delete(tx);
    }
  });
}

/**
 * Has the commit of a unit of work wait for a statement of a library that sends it a moment later than we do.
 *
 * @param tx A transaction; outside of a unit of work, nothing waits.
 * @returns Say with it that the statement has been sent, or that there is none.
 */
export function expectStatement(tx: Db): () => void {
  return unitsOf.get(tx)?.expect() ?? (() => {});
}
