import type { PgBoss } from "pg-boss";
import { CHANGES_CHANNEL } from "../../db/change_channel.ts";
import type { Db } from "../../db/client.ts";
import type { RUN_KINDS, RunKindName } from "../../db/run_kinds.ts";
import { queryText } from "../../db/postgres_session.ts";
import { DeliveryCheck } from "./delivery_check.ts";

const NOTIFY = "select pg_notify($1, topic) from unnest($2::text[]) as topic";

/**
 * The subject of a change: a queue that has a new job, a run whose record changed, a user one of whose backtests changed, a run that its
 * workers need not go on with, an endpoint whose programs have a new request, a request that has its answer, a module that has its
 * verdict, the schema of the database.
 */
export type Topic =
  | `queue ${string}`
  | `${(typeof RUN_KINDS)[RunKindName]["topic"]} ${string}`
  | `backtests ${string}`
  | `end ${string}`
  | `served ${string} ${string}`
  | `answer ${string}`
  | `check ${string}`
  | "schema";

/**
 * Notifies all processes on one database of changes, when the changing transaction commits.
 *
 * A notification names only its subject. It can come twice, and after a lost connection every subscriber gets one.
 * Subscribers read the database themselves.
 */
export class Changes {
  readonly #boss: PgBoss;
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #check: DeliveryCheck;
  #listening: Promise<{ close(): Promise<void> }> | undefined;

  /** @param boss Started; its connection is used. */
  constructor(boss: PgBoss) {
    this.#boss = boss;
    const send = async (topic: string) => {
      await boss.getDb().executeSql(NOTIFY, [CHANGES_CHANNEL, [topic]]);
    };
    this.#check = new DeliveryCheck(send, () => this.#notifyAll());
  }

  /** Notifies all subscribers when the caller's transaction commits, or at once outside of one. */
  async notify(tx: Db, topics: readonly Topic[]): Promise<void> {
    if (topics.length === 0) return;
    await queryText(tx, NOTIFY, [CHANGES_CHANNEL, topics]);
  }

  /**
   * Calls back on every change of a topic from now on.
   *
   * @returns A function that ends the subscription.
   * @throws When the database cannot be reached.
   */
  async subscribe(topic: Topic, onChange: () => void): Promise<() => void> {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners.add(onChange));
    const unsubscribe = () => {
      listeners.delete(onChange);
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
    // A listener that did not open needs no closing.
    const listening = await this.#listening?.catch(() => undefined);
    this.#check.close();
    await listening?.close();
  }

  async #listen(): Promise<{ close(): Promise<void> }> {
    const db = this.#boss.getDb();
    if (db.listen === undefined) throw new Error("Cannot listen for changes: the database adapter has no listen()");
    const onTopic = (topic: string) => {
      if (!this.#check.take(topic)) this.#notifyLocal(topic);
    };
    // The connection is new: notifications may have been lost.
    const onConnect = () => {
      this.#notifyAll();
      this.#check.begin();
    };
    return await db.listen(CHANGES_CHANNEL, onTopic, onConnect);
  }

  #notifyLocal(topic: string): void {
    for (const onChange of [...this.#listeners.get(topic) ?? []]) onChange();
  }

  #notifyAll(): void {
    for (const topic of [...this.#listeners.keys()]) this.#notifyLocal(topic);
  }
}
