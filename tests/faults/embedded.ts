import { expect } from "@std/expect";
import { join } from "node:path";
import { openPglite } from "../../db/client.ts";
import type { Answer, TestClient } from "../support/client.ts";
import { type RunningProcess, startProcess } from "../support/process.ts";
import { killFamily } from "./cluster.ts";
import type { Outcome } from "./faults.ts";
import { checkRecords, checkResults, pause, type Query } from "./invariants.ts";
import { SeededRandom } from "./random.ts";
import { runClean, Submissions } from "./workload.ts";

const LIFE_MS_MAX = 3000;
const OPEN_MS_MAX = 30_000;
const END_MS = 120_000;

/**
 * Kills an embedded service at random moments while backtests are submitted and run. It must start again each time, with everything that
 * it had acknowledged.
 *
 * @throws When something is lost, duplicated or different, or the service does not start.
 */
export async function runEmbedded({ seed, kills }: { seed: number; kills: number }): Promise<Outcome> {
  const begun = performance.now();
  const random = new SeededRandom(seed);
  const DATA_DIR = await Deno.makeTempDir({ prefix: "hindcast-faults-" });
  const start = () => startProcess("serve", { DATA_DIR, WORKERS: "2", USER_BACKTESTS_MAX: "1000000" });
  let service = await start();
  try {
    const user = service.client();
    await user.signUp();
    const clean = await runClean(user);
    const submissions = new Submissions();
    const seen = new Map<string, string>();
    let openMs = 0;
    for (let kill = 0; kill < kills; kill++) {
      const working = work(signedIn(service, user.cookie), submissions, seen);
      await pause(random.below(LIFE_MS_MAX));
      await killFamily(service);
      await working;
      const opening = performance.now();
      service = await start();
      openMs = Math.max(openMs, performance.now() - opening);
      await checkAcknowledged(signedIn(service, user.cookie), submissions, seen);
    }
    expect(openMs).toBeLessThan(OPEN_MS_MAX);
    const client = signedIn(service, user.cookie);
    const killedMs = performance.now();
    await untilNoneIsLeft(client);
    const recoveryMs = Math.round(performance.now() - killedMs);
    await checkResults(client, submissions, clean);
    const { code, stderr } = await service.end("SIGTERM");
    expect([code, stderr]).toEqual([0, ""]);
    const repeated = await checkDatabase(join(DATA_DIR, "database"), submissions, clean.length);
    const { accepted: { size: accepted }, unanswered } = submissions;
    const tookMs = Math.round(performance.now() - begun);
    return { kills, accepted, unanswered, repeated, openMs: Math.round(openMs), recoveryMs, tookMs };
  } finally {
    await service.end("SIGKILL");
    await Deno.remove(DATA_DIR, { recursive: true });
  }
}

/** Runs checkRecords() on the embedded database of an ended service. */
export async function checkDatabase(folder: string, submissions: Submissions, cleanCount: number): Promise<number> {
  return await withDatabase(folder, (query) => checkRecords(query, submissions, cleanCount));
}

/** Opens the embedded database of an ended service while `body` reads it. */
export async function withDatabase<Answer>(folder: string, body: (query: Query) => Promise<Answer>): Promise<Answer> {
  const { connection, close } = await openPglite(folder);
  if (connection.kind !== "pglite") throw new Error(`Cannot read ${folder}: it is not an embedded database`);
  const { pool } = connection;
  try {
    return await body(async (statement) => [...await pool.query(statement)]);
  } finally {
    await close();
  }
}

/** A signed-in client of the running service. */
export function signedIn(service: RunningProcess, cookie: string): TestClient {
  const client = service.client();
  client.cookie = cookie;
  return client;
}

/** Submits until the service is gone, and keeps its answers for completed backtests. */
async function work(client: TestClient, submissions: Submissions, seen: Map<string, string>): Promise<void> {
  while (await submissions.submit(client)) {
    const id = [...submissions.accepted.keys()].findLast((id) => !seen.has(id));
    const answer = await client.get(`/api/backtests/${id}`).catch(() => null);
    if (id !== undefined && answer?.at("/backtest/status") === "completed") seen.set(id, recordOf(answer));
  }
}

/** Every accepted backtest exists, and completed ones have not changed. */
export async function checkAcknowledged(
  client: TestClient,
  { accepted }: Submissions,
  seen: ReadonlyMap<string, string>,
): Promise<void> {
  for (const id of accepted.keys()) {
    const answer = await client.get(`/api/backtests/${id}`);
    expect([id, answer.status]).toEqual([id, 200]);
    const before = seen.get(id);
    if (before !== undefined) expect(recordOf(answer)).toBe(before);
  }
}

/** A record without the count of its owner's tries, which grows with each of them. */
function recordOf(answer: Answer): string {
  return JSON.stringify(answer.at("/backtest"), (key, value: unknown) => key === "trials" ? undefined : value);
}

/** Waits until no backtest is queued or running. */
export async function untilNoneIsLeft(client: TestClient): Promise<void> {
  const deadline = performance.now() + END_MS;
  for (;;) {
    const left: unknown[] = [];
    for (const status of ["queued", "running"]) {
      left.push(...(await client.get(`/api/backtests?status=${status}&limit=5`)).list("/backtests"));
    }
    if (left.length === 0) return;
    if (performance.now() > deadline) throw new Error(`Not ended: ${JSON.stringify(left)}`);
    await pause(100);
  }
}
