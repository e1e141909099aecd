import { expect } from "@std/expect";
import type { TestClient } from "../support/client.ts";
import { pause, type Query } from "./invariants.ts";

const END_MS = 300_000;
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
  static async begin(client: TestClient): Promise<Optimizations> {
    const ids: string[] = [];
    for (let variant = 0; variant < VARIANTS.length; variant++) ids.push(await insist(() => client, variant));
    const clean: string[] = [];
    for (const id of ids) {
      await client.poll(`/api/optimizations/${id}`, "/optimization/status");
      clean.push(await readOptimization(client, id));
    }
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

  /** Waits until all have ended. @throws When one has not after five minutes, failed, or differs from a clean one. */
  async check(query: Query, client: TestClient): Promise<void> {
    const deadline = performance.now() + END_MS;
    for (;;) {
      const left = await query("select id, status from optimizations where status in ('queued', 'running')");
      if (left.length === 0) break;
      if (performance.now() > deadline) throw new Error(`Not ended: ${JSON.stringify(left)}`);
      await pause(POLL_MS);
    }
    for (const [id, variant] of this.#accepted) {
      expect(await readOptimization(client, id)).toBe(this.#clean[variant]);
    }
    // Of those that were submitted without an answer, too.
    const others = await query("select distinct status from optimizations where status <> 'completed'");
    expect(others).toEqual([]);
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
