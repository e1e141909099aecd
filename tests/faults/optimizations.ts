import { expect } from "@std/expect";
import type { TestClient } from "../support/client.ts";
import { pause, type Query } from "./invariants.ts";

/** How long nothing may move: each trial of a script starts a process, so that a busy machine takes minutes for all. */
const STILL_MS_MAX = 300_000;
const POLL_MS = 100;
const RUN = {
  ...{ symbol: "OAK", exchange: "SAMPLE", start_date: "2023-01-01", end_date: "2024-05-01", initial_balance: 10_000 },
  seed: 1,
};
const instruments = ["ALDER", "ASPEN", "PINE", "ROWAN"].map((symbol) => ({ symbol, exchange: "SAMPLE" }));
/** An average of a script's own, in a process of the sandbox. */
const SCRIPT = `strategy(({ period }) => ({
  warmup: period + 1,
  prepare({ close }) { this.mean = sma(close, period); },
  decide(i, { close }, account, orders) {
    if (account.quantity === 0 && close[i] > this.mean[i]) orders.buy();
    else if (account.quantity > 0 && close[i] < this.mean[i]) orders.close();
  },
}));`;
/** Many trials over many markets: each market alone, and one account over all of them, also of a script. */
const VARIANTS: readonly object[] = [
  {
    ...{ ...RUN, strategy: "SMA Cross", markets: { instruments }, parameters: { timeframe: "1d" } },
    space: { fast: { min: 2, max: 12, step: 1 }, slow: { values: [20, 40] } },
  },
  {
    ...{ ...RUN, strategy: "Momentum Rotation", walk_forward: { train_days: 200, test_days: 60 } },
    parameters: { timeframe: "1d", instruments, every: "week", filter: -1 },
    space: { lookback: { min: 5, max: 50, step: 5 }, top: { values: [1, 2] } },
  },
  {
    ...{ ...RUN, strategy: "mine", space: { period: { min: 3, max: 60, step: 1 } } },
    parameters: { timeframe: "1d", instruments, runtime: { type: "script", source: SCRIPT } },
  },
];

/** The optimizations of a scenario: scans, and optimizations of portfolios. */
export class Optimizations {
  readonly #clean: readonly string[];
  /** The variant of each accepted one by its id. */
  readonly #accepted = new Map<string, number>();
  #next = 0;

  private constructor(clean: readonly string[]) {
    this.#clean = clean;
  }

  /** Runs each variant without faults. */
  static async begin(query: Query, client: TestClient): Promise<Optimizations> {
    const ids: string[] = [];
    for (let variant = 0; variant < VARIANTS.length; variant++) ids.push(await insist(() => client, variant));
    await untilEnded(query);
    const clean: string[] = [];
    for (const id of ids) clean.push(await readOptimization(client, id));
    for (const text of clean) expect(text).toMatch(/^completed null .*"failed":0/);
    expect(new Set(clean).size).toBe(VARIANTS.length);
    return new Optimizations(clean);
  }

  get accepted(): number {
    return this.#accepted.size;
  }

  /** Submits the next variant, until it is accepted. */
  async submit(client: () => TestClient): Promise<void> {
    const variant = this.#next++ % VARIANTS.length;
    this.#accepted.set(await insist(client, variant), variant);
  }

  /** Waits until all have ended. @throws When one does not go on, failed, or differs from a clean one. */
  async check(query: Query, client: TestClient): Promise<void> {
    await untilEnded(query);
    for (const [id, variant] of this.#accepted) {
      expect(await readOptimization(client, id)).toBe(this.#clean[variant]);
    }
    // Of those that were submitted without an answer, too.
    const others = await query("select distinct status from optimizations where status <> 'completed'");
    expect(others).toEqual([]);
  }
}

/** Waits until every optimization has ended. @throws With the others and their jobs when none of them has gone on for five minutes. */
async function untilEnded(query: Query): Promise<void> {
  let [last, deadline] = ["", 0];
  for (;;) {
    const left = await query(`
      select optimizations.id, status, points_done, slices_open, job.state, retry_count, job.data - 'optimizationId' as data
      from optimizations left join pgboss.job on job.name = 'optimizations' and job.data ->> 'optimizationId' = optimizations.id::text
        and state < 'completed'
      where status in ('queued', 'running') order by optimizations.id, job.id`);
    if (left.length === 0) return;
    // Without the states of jobs: one that is taken and given back again and again does not go on.
    const now = JSON.stringify(
      left.map(Object).map(({ points_done, slices_open, data }) => [points_done, slices_open, data]),
    );
    if (now !== last) [last, deadline] = [now, performance.now() + STILL_MS_MAX];
    if (performance.now() > deadline) throw new Error(`Not ended: ${JSON.stringify(left)}`);
    await pause(POLL_MS);
  }
}

/** Submits a variant until it is accepted. @returns Its id. */
async function insist(client: () => TestClient, variant: number): Promise<string> {
  for (;;) {
    const id = await submit(client(), variant);
    if (id !== null) return id;
    await pause(POLL_MS);
  }
}

/** @returns Its id; null where a fault prevented the answer. */
async function submit(client: TestClient, variant: number): Promise<string | null> {
  try {
    const answer = await client.send("POST", "/api/optimizations", { optimization: VARIANTS[variant] });
    if (answer.status === 202) return String(answer.at("/optimization/id"));
    if (answer.status < 500) throw new Error(`Cannot submit: ${answer.status} ${answer.text}`);
  } catch (error) {
    // The process was killed before its answer.
    if (!(error instanceof TypeError)) throw error;
  }
  return null;
}

/** The status, the counts, the trials and what is concluded from them. */
async function readOptimization(client: TestClient, id: string): Promise<string> {
  const record = await client.get(`/api/optimizations/${id}`);
  const [status, error, trials, luck, best, windows] = ["status", "error", "trials", "luck", "best", "walk_forward"]
    .map(
      (name) => record.at(`/optimization/${name}`),
    );
  const parts = [`${status} ${error} ${JSON.stringify({ ...Object(trials), per_second: null, luck, best, windows })}`];
  for (const part of ["trials?format=csv", "returns?format=csv"]) {
    parts.push((await client.get(`/api/optimizations/${id}/${part}`)).text);
  }
  return parts.join("\n");
}
