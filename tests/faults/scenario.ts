import { expect } from "@std/expect";
// @ts-types="@types/pg"
import pg from "pg";
import type { TestClient } from "../support/client.ts";
import { Cluster } from "./cluster.ts";
import { SeededRandom } from "./random.ts";

const API_COUNT = 2;
const WORKER_COUNT = 3;
const VARIANTS = 6;
const END_MS = 180_000;

/** What goes wrong. */
export type Fault = "worker killed" | "api killed" | "connections terminated" | "database crashed";

/** How a scenario went. */
export interface Outcome {
  readonly accepted: number;
  /** Submissions whose answer a fault swallowed: they may exist or not, and end like the others if they do. */
  readonly unanswered: number;
  readonly faults: number;
  /** Runs that were begun more than once. */
  readonly repeated: number;
  readonly tookMs: number;
}

/**
 * Submits backtests to two API processes in front of three workers, lets faults happen meanwhile, and checks what is left: every
 * accepted backtest ended exactly once, with the result of a clean run, and nothing else is there.
 *
 * @param databaseUrl A database with a service's tables and sample candles that nobody else uses.
 * @param faults What may go wrong; `faultsMax` times in all.
 * @throws When something was lost, doubled or different.
 */
export async function runScenario({ databaseUrl, seed, faults, faultsMax, backtests, crashDatabase }: {
  readonly databaseUrl: string;
  readonly seed: number;
  readonly faults: readonly Fault[];
  readonly faultsMax: number;
  readonly backtests: number;
  /** Where the database may crash: ends the server as a crash would, and starts it again. */
  readonly crashDatabase?: () => Promise<void>;
}): Promise<Outcome> {
  const begun = performance.now();
  const random = new SeededRandom(seed);
  const sql = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  // A crash of the database ends these connections too.
  sql.on("error", () => {});
  const cluster = await Cluster.start(databaseUrl, { apis: API_COUNT, workers: WORKER_COUNT });
  try {
    const first = cluster.client(0);
    await first.signUp();
    const clean = await runClean(first);
    const run = new FaultyRun(cluster, sql, random, first.cookie, crashDatabase);
    await Promise.all([run.submitAll(backtests), run.breakThings(faults, faultsMax)]);
    await run.untilAllEnded();
    const repeated = await run.check(clean);
    expect(await cluster.stop("SIGTERM")).toEqual([]);
    const { accepted, unanswered, faultsCount } = run;
    const tookMs = Math.round(performance.now() - begun);
    return { accepted: accepted.size, unanswered, faults: faultsCount, repeated, tookMs };
  } finally {
    await cluster.stop("SIGKILL");
    await sql.end();
  }
}

/** Everything that a clean run of each variant answers, as text. */
async function runClean(client: TestClient): Promise<string[]> {
  const ids: unknown[] = [];
  for (let variant = 0; variant < VARIANTS; variant++) {
    const answer = await client.send("POST", "/api/backtests", request(variant));
    if (answer.status !== 202) throw new Error(`Cannot submit: ${answer.status} ${answer.text}`);
    ids.push(answer.at("/backtest/id"));
  }
  for (const id of ids) await client.finish(id);
  const results = await Promise.all(ids.map((id) => readResult(client, id)));
  expect(new Set(results).size).toBe(VARIANTS);
  return results;
}

function request(variant: number) {
  return {
    backtest: {
      symbol: "DEMO",
      exchange: "SAMPLE",
      strategy: "SMA Cross",
      start_date: "2024-01-01",
      end_date: "2025-01-01",
      initial_balance: 10_000,
      parameters: { timeframe: "1m", fast: 200 + variant, slow: 2000 },
    },
  };
}

async function readResult(client: TestClient, id: unknown): Promise<string> {
  const record = await client.get(`/api/backtests/${id}`);
  const result = { ...Object(record.at("/backtest/result")), duration_ms: 0 };
  const parts = [`${record.at("/backtest/status")} ${JSON.stringify(result)}`];
  for (const part of ["trades?limit=200", "equity?points=2000", "orders?limit=200"]) {
    parts.push((await client.get(`/api/backtests/${id}/${part}`)).text);
  }
  return parts.join("\n");
}

class FaultyRun {
  /** The variant of each accepted backtest by its id. */
  readonly accepted = new Map<string, number>();
  unanswered = 0;
  faultsCount = 0;
  readonly #cluster: Cluster;
  readonly #sql: pg.Pool;
  readonly #random: SeededRandom;
  readonly #cookie: string;
  readonly #crashDatabase: (() => Promise<void>) | undefined;

  constructor(
    cluster: Cluster,
    sql: pg.Pool,
    random: SeededRandom,
    cookie: string,
    crashDatabase: (() => Promise<void>) | undefined,
  ) {
    this.#crashDatabase = crashDatabase;
    this.#cluster = cluster;
    this.#sql = sql;
    this.#random = random;
    this.#cookie = cookie;
  }

  async submitAll(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const client = this.#client(i);
      try {
        const answer = await client.send("POST", "/api/backtests", request(i % VARIANTS));
        if (answer.status === 202) {
          this.accepted.set(String(answer.at("/backtest/id")), i % VARIANTS);
          continue;
        }
      } catch {
        // The process was killed in the middle: nobody was told that it was accepted.
      }
      this.unanswered++;
      await pause(200);
    }
  }

  async breakThings(faults: readonly Fault[], faultsMax: number): Promise<void> {
    for (; this.faultsCount < faultsMax; this.faultsCount++) {
      await this.#untilSomeRun();
      await this.#break(this.#random.pick(faults));
    }
  }

  /** Waits for every record's end, and for its job's. */
  async untilAllEnded(): Promise<void> {
    const deadline = performance.now() + END_MS;
    for (;;) {
      const left = await this.#query(`select status, attempts from backtests where status in ('queued', 'running')`);
      const jobs = await this.#query(
        `select state from pgboss.job where name like 'backtests%' and state < 'completed'`,
      );
      if (left.length === 0 && jobs.length === 0) return;
      if (performance.now() > deadline) throw new Error(`Not ended: ${JSON.stringify({ left, jobs })}`);
      await pause(100);
    }
  }

  /** @returns How many runs were begun more than once. */
  async check(clean: readonly string[]): Promise<number> {
    const records = await this.#query<{ id: string; status: string; attempts: number; trades: number }>(`
      select id, status, attempts, (select count(*)::integer from backtest_trades where backtest_id = id) as trades
      from backtests`);
    const known = new Map(records.map((record) => [record.id, record]));
    for (const id of this.accepted.keys()) expect([id, known.get(id)?.status]).toEqual([id, "completed"]);
    expect(records.length).toBeGreaterThanOrEqual(this.accepted.size + clean.length);
    expect(records.length).toBeLessThanOrEqual(this.accepted.size + this.unanswered + clean.length);
    expect(new Set(records.map(({ status }) => status))).toEqual(new Set(["completed"]));
    const [stored] = await this.#query(`select (select count(*)::integer from backtest_equity) as curves`);
    expect(stored).toEqual({ curves: records.length });
    for (const [id, variant] of this.accepted) {
      expect(await readResult(this.#client(0), id)).toBe(clean[variant]);
    }
    return records.filter(({ attempts }) => attempts > 1).length;
  }

  async #query<Row extends pg.QueryResultRow>(statement: string): Promise<Row[]> {
    return (await this.#sql.query<Row>(statement)).rows;
  }

  #client(index: number): TestClient {
    return this.#cluster.client(index % this.#cluster.apis.length, this.#cookie);
  }

  async #untilSomeRun(): Promise<void> {
    const deadline = performance.now() + END_MS;
    for (;;) {
      const running = await this.#query(`select 1 from backtests where status = 'running' limit 1`);
      if (running.length > 0 || performance.now() > deadline) return;
      // All may have ended already: nothing is left to be hurt.
      const waiting = await this.#query(`select 1 from backtests where status = 'queued' limit 1`);
      if (waiting.length === 0 && this.accepted.size > 0) return;
      await pause(10);
    }
  }

  async #break(fault: Fault): Promise<void> {
    const { workers, apis } = this.#cluster;
    switch (fault) {
      case "worker killed":
        await this.#cluster.killWorker(this.#random.below(workers.length));
        return await this.#cluster.addWorker();
      case "api killed":
        // One stays, so that the submissions go on.
        if (apis.length > 1) await this.#cluster.killApi(this.#random.below(apis.length));
        return await this.#cluster.addApi();
      case "connections terminated":
        await this.#query(`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`);
        return await pause(this.#random.below(500));
      case "database crashed":
        return await this.#crashDatabase?.();
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resume) => setTimeout(resume, ms));
}
