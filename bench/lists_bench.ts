/**
 * How long another user's requests take while one user reads long lists: on an embedded database and on PostgreSQL, over HTTP to a
 * process of its own with the permissions of its task.
 *
 * `deno run --allow-all bench/lists_bench.ts [FILTER]`: only readings whose names contain the filter; with TEST_DATABASE_URL as
 * `deno task bench` sets it.
 */
import { createTestDatabase } from "../tests/support/database.ts";
import type { TestClient } from "../tests/support/client.ts";
import { submitOptimization } from "../tests/support/optimizations.ts";
import { startProcess } from "../tests/support/process.ts";
import { quantile, report, say } from "./measure.ts";

const WATCHED_MS = 8_000;
const SESSION_EVERY_MS = 50;
const RUN_EVERY_MS = 500;
const GOAL_MS = 250;
const POINTS = { fast: { min: 1, max: 100, step: 1 }, slow: { min: 101, max: 400, step: 1 } };
const TRIALS = 30_000;
const YEAR = { symbol: "DEMO", exchange: "SAMPLE", start_date: "2024-01-01", end_date: "2025-01-01" };
const HOURS = { timeframe: "1h" };

/** The records whose lists are read. */
interface Records {
  readonly optimization: string;
  readonly backtest: string;
}

/** By name: a path, asked so many times at once, again and again. */
const READINGS: Readonly<Record<string, readonly [times: number, path: (records: Records) => string]>> = {
  "nothing": [0, () => ""],
  "16 lists of all trials": [16, ({ optimization }) => `/api/optimizations/${optimization}/trials`],
  "16 lists of all trials as CSV": [16, ({ optimization }) => `/api/optimizations/${optimization}/trials?format=csv`],
  "16 lists of all trials as Arrow": [
    16,
    ({ optimization }) => `/api/optimizations/${optimization}/trials?format=arrow`,
  ],
  "10 lists of all trades": [10, ({ backtest }) => `/api/backtests/${backtest}/trades`],
  "20 pages of trials by a metric": [
    20,
    ({ optimization }) => `/api/optimizations/${optimization}/trials?sort=sharpe&limit=200`,
  ],
};

const [filter = ""] = Deno.args;
const folder = await Deno.makeTempDir({ prefix: "hindcast-bench-" });
try {
  await measure("embedded", { DATA_DIR: folder });
} finally {
  await Deno.remove(folder, { recursive: true });
}
if (Deno.env.has("TEST_DATABASE_URL")) {
  const { url, drop } = await createTestDatabase();
  try {
    await measure("PostgreSQL", { DATABASE_URL: url, BETTER_AUTH_SECRET: "a secret of at least 32 characters" });
  } finally {
    await drop();
  }
}

async function measure(kind: string, environment: Record<string, string>): Promise<void> {
  await using servers = new AsyncDisposableStack();
  const service = await startProcess("serve", { WORKERS: "1", ...environment });
  servers.defer(async () => void await service.end("SIGTERM"));
  const [reader, other] = [service.client(), service.client()];
  await reader.signUp();
  await other.signUp();
  const records = await makeRecords(reader);
  for (const [name, [times, path]] of Object.entries(READINGS)) {
    if (!name.includes(filter)) continue;
    const leaving = new AbortController();
    const readings = Array.from({ length: times }, () => readAgain(reader, path(records), leaving.signal));
    const { sessions, runs } = await watch(other);
    leaving.abort();
    const read = (await Promise.all(readings)).reduce((sum, each) => ({
      bytes: sum.bytes + each.bytes,
      answers: sum.answers + each.answers,
    }), { bytes: 0, answers: 0 });
    const megabytesPerSecond = read.bytes / 1e6 / (WATCHED_MS / 1000);
    await say(
      `${kind}, ${name}: session p50 ${ms(sessions, 0.5)}, p99 ${ms(sessions, 0.99)} ms; short backtest p50 ` +
        `${ms(runs, 0.5)}, longest ${ms(runs, 1)} ms; ${megabytesPerSecond.toFixed(1)} MB/s, ${read.answers} answers`,
    );
    await report({
      measure: `${kind}: another's session (p99) during: ${name}`,
      ours: quantile(sessions, 0.99),
      reference: null,
      goal: { of: "ours", most: GOAL_MS },
    });
  }
}

function ms(latencies: readonly number[], share: number): string {
  return quantile(latencies, share).toFixed(0);
}

async function makeRecords(user: TestClient): Promise<Records> {
  const optimization = await submitOptimization(user, {
    start_date: "2024-03-01",
    end_date: "2024-03-08",
    parameters: HOURS,
    space: POINTS,
    trials_max: TRIALS,
  });
  const submitted = await user.send("POST", "/api/backtests", {
    backtest: {
      ...YEAR,
      strategy: "SMA Cross",
      initial_balance: 10_000,
      parameters: { timeframe: "1m", fast: 1, slow: 2 },
    },
  });
  const backtest = String(submitted.at("/backtest/id"));
  const trades = (await user.finish(backtest)).at("/backtest/result/metrics/trades");
  const begun = performance.now();
  let ended = await user.get(`/api/optimizations/${optimization}`);
  while (!["completed", "failed"].includes(String(ended.at("/optimization/status")))) {
    await new Promise((resume) => setTimeout(resume, 500));
    ended = await user.get(`/api/optimizations/${optimization}`);
  }
  const seconds = ((performance.now() - begun) / 1000).toFixed(0);
  await say(`${ended.at("/optimization/trials/done")} trials (${seconds} s), ${trades} trades`);
  return { optimization, backtest };
}

/** Reads a path again and again until the signal comes. */
async function readAgain({ url, cookie }: TestClient, path: string, signal: AbortSignal) {
  let [bytes, answers] = [0, 0];
  while (!signal.aborted) {
    try {
      const answer = await fetch(new URL(path, url), { headers: { cookie, "accept-encoding": "identity" }, signal });
      for await (const piece of answer.body ?? []) bytes += piece.byteLength;
      if (answer.status === 200) answers++;
      else await new Promise((resume) => setTimeout(resume, 100));
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
  return { bytes, answers };
}

/** Times another user's requests for a while, whether or not the earlier ones were answered. */
async function watch(user: TestClient) {
  const time = async (work: () => Promise<unknown>) => {
    const begun = performance.now();
    await work();
    return performance.now() - begun;
  };
  const sessions: Promise<number>[] = [];
  const runs: Promise<number>[] = [];
  const backtest = { ...YEAR, end_date: "2024-01-08", strategy: "SMA Cross", initial_balance: 1000, parameters: HOURS };
  const run = async () => {
    const submitted = await user.send("POST", "/api/backtests", { backtest: { ...backtest, fresh: true } });
    await user.finish(submitted.at("/backtest/id"));
  };
  const timers = [
    setInterval(() => sessions.push(time(() => user.get("/api/session"))), SESSION_EVERY_MS),
    setInterval(() => runs.push(time(run)), RUN_EVERY_MS),
  ];
  await new Promise((resume) => setTimeout(resume, WATCHED_MS));
  timers.forEach(clearInterval);
  return { sessions: await Promise.all(sessions), runs: await Promise.all(runs) };
}
