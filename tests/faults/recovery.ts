import { until } from "../support/until.ts";
import { pause, type Query } from "./invariants.ts";

const POLL_MS = 100;

interface Fault {
  readonly atMs: number;
  /** The jobs that were held at the fault, with their attempts, until they are taken again or end. */
  readonly held: Map<string, number>;
}

/** Measures how long work stops after a fault: until every job that was held has been taken again or has ended. */
export class RecoveryWatch {
  /** How long each fault stopped work, in the order of recovery. */
  readonly tookMs: number[] = [];
  readonly #query: Query;
  readonly #open = new Set<Fault>();
  readonly #watching: Promise<void>;
  #isClosed = false;

  constructor(query: Query) {
    this.#query = query;
    this.#watching = this.#watch();
  }

  /** Begins a measurement: call it directly after the fault. */
  async begin(): Promise<void> {
    const atMs = performance.now();
    const rows = await this.#query(
      `select id, retry_count from pgboss.job where name = 'backtests' and state = 'active'`,
    );
    this.#open.add({ atMs, held: new Map(rows.map(Object).map((row) => [row.id, row.retry_count])) });
  }

  /** Waits until work has recovered from all faults. */
  async over(): Promise<void> {
    await until(() => this.#open.size === 0);
  }

  /** Waits for recovery and ends the watch. @returns The longest recovery, in milliseconds. */
  async close(): Promise<number> {
    await this.over();
    this.#isClosed = true;
    await this.#watching;
    return Math.round(Math.max(0, ...this.tookMs));
  }

  async #watch(): Promise<void> {
    while (!this.#isClosed) {
      if (this.#open.size > 0) await this.#look();
      await pause(POLL_MS);
    }
  }

  async #look(): Promise<void> {
    const ids = [...this.#open].flatMap(({ held }) => [...held.keys()]);
    const rows = ids.length === 0 ? [] : await this.#query(`
      select id, retry_count from pgboss.job
      where id = any('{${ids.join()}}'::uuid[]) and name = 'backtests' and state in ('active', 'retry', 'created')`);
    const unended = new Map(
      rows.map(Object).map(({ id, retry_count }): [string, number] => [String(id), Number(retry_count)]),
    );
    for (const fault of this.#open) {
      for (const [id, attempt] of fault.held) {
        // A job that waits for its next attempt still has the number of the last one.
        if (unended.get(id) !== attempt) fault.held.delete(id);
      }
      if (fault.held.size > 0) continue;
      this.#open.delete(fault);
      this.tookMs.push(performance.now() - fault.atMs);
    }
  }
}
