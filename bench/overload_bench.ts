/**
 * Submits as fast as a service takes it, over HTTP to a process of its own on PostgreSQL: how long an answer takes, whether anything
 * else is still answered meanwhile and while every worker is busy, and whether all that was accepted ends well.
 *
 * `deno run --allow-all bench/overload_bench.ts [backtests] [submitters]`, each submitter a user of its own; with TEST_DATABASE_URL as `deno task bench` sets it.
 */
import { createTestDatabase } from "../tests/support/database.ts";
import type { TestClient } from "../tests/support/client.ts";
import { startProcess } from "../tests/support/process.ts";
import { quantile } from "./measure.ts";

const HEALTH_SAMPLES = 200;
// Often enough to see a busy moment, and seldom enough not to be one.
const HEALTH_PAUSE_MS = 20;
const WARM_COUNT = 100;
const REQUEST = {
  backtest: {
    symbol: "DEMO",
    exchange: "SAMPLE",
    strategy: "SMA Cross",
    start_date: "2024-01-01",
    end_date: "2024-04-10",
    initial_balance: 10_000,
    parameters: { timeframe: "1d" },
    fresh: true,
  },
};

const count = Number(Deno.args[0] ?? 10_000);
const submittersCount = Number(Deno.args[1] ?? 4);
const { url, drop } = await createTestDatabase();
const service = await startProcess("serve", {
  DATABASE_URL: url,
  BETTER_AUTH_SECRET: "a secret of at least 32 characters",
  WORKERS: "2",
});
try {
  const users = Array.from({ length: submittersCount }, () => service.client());
  for (const user of users) await user.signUp();
  await measure(users);
} finally {
  await service.end("SIGTERM");
  await drop();
}

async function measure(users: readonly TestClient[]): Promise<void> {
  await submitAll(users, WARM_COUNT);
  await untilNone(users);
  const [client] = users;
  if (client === undefined) throw new RangeError("Cannot submit without a submitter");
  const idle = await timeHealth(client, (samples) => samples < HEALTH_SAMPLES);

  let submitting = true;
  const begun = performance.now();
  const submitted = submitAll(users, count).finally(() => submitting = false);
  const crowded = await timeHealth(client, () => submitting);
  const { latencies, statuses } = await submitted;
  const submittedMs = performance.now() - begun;
  const busy = await timeHealth(client, (samples) => samples < HEALTH_SAMPLES);
  await untilNone(users);
  const endedMs = performance.now() - begun;
  let ended = -WARM_COUNT;
  for (const user of users) ended += await countCompleted(user);

  print(`${count} backtests by ${submittersCount} submitters at once`, [
    ["answers by status", Object.entries(statuses).map(([status, times]) => `${times} x ${status}`).join(", ")],
    ["completed of those accepted", `${ended} of ${statuses[202] ?? 0}`],
    ["submitted a second", (count * 1000 / submittedMs).toFixed(0)],
    ["run and stored a second, all told", ((statuses[202] ?? 0) * 1000 / endedMs).toFixed(0)],
    ["ms until the answer, p50 and p99", quantiles(latencies)],
    ["ms of a health check, idle", quantiles(idle)],
    ["  while the workers are busy", `${quantiles(busy)} (${times(busy, idle)} times idle at p99)`],
    ["  while all submit as well", `${quantiles(crowded)} (${times(crowded, idle)} times idle at p99)`],
  ]);
}

async function submitAll(users: readonly TestClient[], times: number) {
  const latencies: number[] = [];
  const statuses: Record<number, number> = {};
  let left = times;
  const submitter = async (client: TestClient) => {
    while (left-- > 0) {
      const begun = performance.now();
      const { status } = await client.send("POST", "/api/backtests", REQUEST);
      latencies.push(performance.now() - begun);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  await Promise.all(users.map(submitter));
  return { latencies, statuses };
}

/** One check after the other. */
async function timeHealth(client: TestClient, more: (samples: number) => boolean): Promise<number[]> {
  const latencies: number[] = [];
  while (more(latencies.length)) {
    const begun = performance.now();
    const { status } = await client.get("/api/health");
    if (status !== 200) throw new Error(`Cannot be well: ${status}`);
    latencies.push(performance.now() - begun);
    await new Promise((resume) => setTimeout(resume, HEALTH_PAUSE_MS));
  }
  return latencies;
}

async function untilNone(users: readonly TestClient[]): Promise<void> {
  for (const client of users) {
    for (const status of ["queued", "running"]) {
      while ((await client.get(`/api/backtests?limit=1&status=${status}`)).list("/backtests").length > 0) {
        await new Promise((resume) => setTimeout(resume, 50));
      }
    }
  }
}

async function countCompleted(client: TestClient): Promise<number> {
  let completed = 0;
  for (let cursor: unknown = ""; cursor !== null;) {
    const page = await client.get(
      `/api/backtests?status=completed&limit=200${cursor === "" ? "" : `&cursor=${cursor}`}`,
    );
    completed += page.list("/backtests").length;
    cursor = page.at("/next_cursor");
  }
  return completed;
}

function quantiles(latencies: readonly number[]): string {
  return `${quantile(latencies, 0.5).toFixed(1)} and ${quantile(latencies, 0.99).toFixed(1)}`;
}

function times(latencies: readonly number[], idle: readonly number[]): string {
  return (quantile(latencies, 0.99) / quantile(idle, 0.99)).toFixed(1);
}

function print(title: string, rows: readonly (readonly [string, string])[]): void {
  const lines = rows.map(([name, value]) => `  ${name.padEnd(36)}${value}`);
  Deno.stdout.writeSync(new TextEncoder().encode(`${title}\n${lines.join("\n")}\n`));
}
