/** How long others wait while one user acts, for others_bench.ts. */
import type { TestClient } from "../tests/support/client.ts";
import { quantile, report, say } from "./measure.ts";

const WATCHED_MS = 6_000;
// What is made last of an answer is measured, too.
const ANSWERS_MIN = 2;
const WATCHED_MS_MAX = 60_000;
const SESSION_EVERY_MS = 50;
const RUN_EVERY_MS = 500;
const GOAL_MS = 250;
const RUN_MS_MAX = 1_500;
const REFUSED_PAUSE_MS = 100;
const BACKTEST = {
  ...{ symbol: "DEMO", exchange: "SAMPLE", start_date: "2024-01-01", end_date: "2024-01-08" },
  ...{ strategy: "SMA Cross", initial_balance: 1000, parameters: { timeframe: "1h" }, fresh: true },
};

/** Requests of one user. */
export type Requests = readonly { readonly path: string; readonly init?: RequestInit }[];

/** A user who does their worst, and another on the same service. */
export interface Users {
  readonly reader: TestClient;
  readonly other: TestClient;
}

/**
 * Watches another user's requests while one acts, and reports them.
 *
 * @param kind Of the service's database.
 * @param act Its note says how it went.
 */
export async function watchOthers(
  kind: string,
  name: string,
  act: () => Promise<string>,
  other: TestClient,
): Promise<void> {
  const { sessions, runs, lists, note } = await watch(other, act);
  await say(
    `${kind}, ${name}: session p50 ${ms(sessions, 0.5)}, p99 ${ms(sessions, 0.99)}, longest ${ms(sessions, 1)} ms; ` +
      `short backtest p50 ${ms(runs, 0.5)}, longest ${ms(runs, 1)} ms; short list p50 ${ms(lists, 0.5)}, longest ` +
      `${ms(lists, 1)} ms; ${note}`,
  );
  const during = (what: string, ours: number, most: number) =>
    report({ measure: `${kind}: another's ${what} during: ${name}`, ours, goal: { of: "ours", most } });
  await during("session (p99)", quantile(sessions, 0.99), GOAL_MS);
  await during("short backtest (longest)", quantile(runs, 1), RUN_MS_MAX);
  await during("short list (longest)", quantile(lists, 1), RUN_MS_MAX);
}

/** Has a user read for a while: so many requests at once, each again and again. Without any, it only waits. */
export async function readFor(reader: TestClient, requests: Requests, readers: number): Promise<string> {
  const leaving = new AbortController();
  const read = { bytes: 0, answers: 0, refused: 0 };
  const readings = Array.from({ length: readers }, (_, i) => {
    const { path, init = {} } = requests[i % requests.length]!;
    return readAgain(reader, path, { ...init, signal: leaving.signal }, read);
  });
  const begun = performance.now();
  const tookMs = () => performance.now() - begun;
  const isOver = () =>
    tookMs() > WATCHED_MS_MAX || tookMs() > WATCHED_MS && (readers === 0 || read.answers >= ANSWERS_MIN);
  while (!isOver()) await new Promise((resume) => setTimeout(resume, RUN_EVERY_MS));
  const seconds = tookMs() / 1000;
  leaving.abort();
  await Promise.all(readings);
  const rate = (read.bytes / 1e6 / seconds).toFixed(1);
  return `${rate} MB/s, ${read.answers} answers, ${read.refused} refused in ${seconds.toFixed(0)} s`;
}

function ms(latencies: readonly number[], share: number): string {
  return quantile(latencies, share).toFixed(0);
}

/** Sends a request again and again until its signal comes. */
async function readAgain(
  { url, cookie }: TestClient,
  path: string,
  { signal, headers, ...init }: RequestInit & { readonly signal: AbortSignal },
  read: { bytes: number; answers: number; refused: number },
): Promise<void> {
  while (!signal.aborted) {
    try {
      const all = { cookie, origin: url, "accept-encoding": "identity", ...headers };
      const answer = await fetch(new URL(path, url), { ...init, headers: all, signal });
      for await (const piece of answer.body ?? []) read.bytes += piece.byteLength;
      if (answer.ok) read.answers++;
      else {
        read.refused++;
        await new Promise((resume) => setTimeout(resume, REFUSED_PAUSE_MS));
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

/** Times a user's requests during an act, whether or not the earlier ones were answered. */
async function watch(user: TestClient, act: () => Promise<string>) {
  const time = async (work: () => Promise<unknown>) => {
    const begun = performance.now();
    await work();
    return performance.now() - begun;
  };
  const run = async () => {
    const submitted = await user.send("POST", "/api/backtests", { backtest: BACKTEST });
    await user.finish(submitted.at("/backtest/id"));
    return `/api/backtests/${submitted.at("/backtest/id")}/trades`;
  };
  const list = await run();
  const [sessions, runs, lists]: Promise<number>[][] = [[], [], []];
  const timers = [
    setInterval(() => sessions!.push(time(() => user.get("/api/session"))), SESSION_EVERY_MS),
    setInterval(() => runs!.push(time(run)), RUN_EVERY_MS),
    setInterval(() => lists!.push(time(() => user.get(list))), RUN_EVERY_MS),
  ];
  const note = await act().finally(() => timers.forEach(clearInterval));
  return {
    note,
    sessions: await Promise.all(sessions!),
    runs: await Promise.all(runs!),
    lists: await Promise.all(lists!),
  };
}
