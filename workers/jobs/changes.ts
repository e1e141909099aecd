import { sql } from "drizzle-orm";
import type { PgBoss } from "pg-boss";
import type { Db } from "../../db/client.ts";

const CHANNEL = "hindcast_changes";

/** What news can be about: a queue that was sent a job, a backtest whose record is another than before. */
export type Topic = `queue ${string}` | `backtest ${string}`;

/**
 * News between all processes on one database, told in the transactions that make them true.
 *
 * News say that something changed, not what: they can come twice or, when a connection breaks, be made up for by one that may be
 * needless. Whoever hears one looks for himself.
 */
export class Changes {
  readonly #boss: PgBoss;
  readonly #listeners = new Map<string, Set<() => void>>();
  #listening: Promise<{ close(): Promise<void> }> | undefined;

  /** @param boss Started; its connection is used. */
  constructor(boss: PgBoss) {
    this.#boss = boss;
  }

  /** Tells everybody when the caller's transaction commits, or at once when it is none. */
  async notify(tx: Db, topics: readonly Topic[]): Promise<void> {
    if (topics.length === 0) return;
    await tx.execute(
      sql`select pg_notify(${CHANNEL}, topic) from unnest(${`{${
        topics.map((topic) => `"${topic}"`).join()
      }}`}::text::text[]) as topic`,
    );
  }

  /**
   * Calls back on every news about a topic from now on.
   *
   * @returns What ends it.
   * @throws When the database cannot be reached.
   */
  async subscribe(topic: Topic, onNews: () => void): Promise<() => void> {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners.add(onNews));
    const unsubscribe = () => {
      listeners.delete(onNews);
      if (listeners.size === 0 && this.#listeners.get(topic) === listeners) this.#listeners.delete(topic);
    };
    try {
      this.#listening ??= this.#listen();
      await this.#listening;
    } catch (error) {
      this.#listening = undefined;
      unsubscribe();
      throw error;
    }
    return unsubscribe;
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    // What could not be opened needs no closing.
    const listening = await this.#listening?.catch(() => undefined);
    await listening?.close();
  }

  async #listen(): Promise<{ close(): Promise<void> }> {
    const db = this.#boss.getDb();
    if (db.listen === undefined) throw new Error("Cannot listen for changes: the database adapter has no listen()");
    return await db.listen(CHANNEL, (topic) => this.#spread(topic), () => this.#spreadAll());
  }

  #spread(topic: string): void {
    for (const onNews of [...this.#listeners.get(topic) ?? []]) onNews();
  }

  // The connection is new: nobody knows what was told meanwhile.
  #spreadAll(): void {
    for (const topic of [...this.#listeners.keys()]) this.#spread(topic);
  }
}
