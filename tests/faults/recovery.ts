import { until } from "../support/until.ts";
import { pause, type Query } from "./invariants.ts";

const POLL_MS = 100;

interface Fault {
  readonly atMs: number;
  /** The jobs that were held when it happened, with their attempts, and that nobody has taken up or ended since. */
  readonly held: Map<string, number>;
}

/** Measures how long work stands still after a fault: until every job that was held then has been taken again or has ended. */
export class RecoveryWatch {
  /** What each fault cost, in the order of recovery. */
  readonly tookMs: number[] = [];
  readonly #query: Query;
  readonly #open = new Set<Fault>();
  readonly #watching: Promise<void>;
  #isClosed = false;

  constructor(query: Query) {
    this.#query = query;
    this.#watching = this.#watch();
  }

  /** To be called at once after the fault. */
  async begin(): Promise<void> {
    const atMs = performance.now();
    const rows = await this.#query(
      `select id, retry_count from pgboss.job where name = 'backtests' and state = 'active'`,
    );
    this.#open.add({ atMs, held: new Map(rows.map(Object).map((row) => [row.id, row.retry_count])) });
  }

  /** Waits until all faults are over. */
  async over(): Promise<void> {
    await until(() => this.#open.size === 0);
  }

  /** Ends the watch when all faults are over. @returns The longest, in milliseconds. */
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
        // One that waits to be tried again still has the number of the attempt before.
        if (unended.get(id) !== attempt) fault.held.delete(id);
      }
      if (fault.held.size > 0) continue;
      this.#open.delete(fault);
      this.tookMs.push(performance.now() - fault.atMs);
    }
  }
}
