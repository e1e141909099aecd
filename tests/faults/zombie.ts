import { expect } from "@std/expect";
import { Cluster } from "./cluster.ts";
import { openQuery, type Outcome } from "./faults.ts";
import type { Ground } from "./ground.ts";
import { checkAll, pause, type Query, untilAllEnded } from "./invariants.ts";
import { until } from "../support/until.ts";
import { SeededRandom } from "./random.ts";
import { RecoveryWatch } from "./recovery.ts";
import { runClean, Submissions } from "./workload.ts";

const BATCH = 12;
const POLL_MS = 20;

/**
 * Stops a worker during its runs (SIGSTOP), waits until others have taken or even ended these, and continues it: its results then change
 * nothing.
 *
 * @param rounds How often.
 * @throws When something is lost, duplicated or different.
 */
export async function runZombies(ground: Ground, { seed, rounds }: { seed: number; rounds: number }): Promise<Outcome> {
  const begun = performance.now();
  const random = new SeededRandom(seed);
  await using sql = openQuery(ground.databaseUrl);
  const { query } = sql;
  const cluster = await Cluster.start(ground.databaseUrl, { apis: 1, workers: 1 });
  try {
    const client = cluster.client(0);
    await client.signUp();
    const clean = await runClean(client);
    const submissions = new Submissions();
    const recovery = new RecoveryWatch(query);
    let held = 0;
    for (let round = 0; round < rounds; round++) {
      const zombie = cluster.workers[0]!;
      held += await stopWithin(zombie.pid, query, async () => {
        for (let i = 0; i < BATCH; i++) await submissions.submit(client);
      });
      const taken = recovery.begin().then(() => recovery.over());
      await cluster.addWorker();
      await taken;
      if (random.below(2) === 1) await untilAllEnded(query);
      Deno.kill(zombie.pid, "SIGCONT");
      await untilAllEnded(query);
      // The zombie is the next round's worker.
      await cluster.killWorker(1);
    }
    const recoveryMs = await recovery.close();
    const repeated = await checkAll(query, submissions, clean, client);
    expect(await cluster.stop("SIGTERM")).toEqual([]);
    const tookMs = Math.round(performance.now() - begun);
    return { rounds, accepted: submissions.accepted.size, held, repeated, recoveryMs, tookMs };
  } finally {
    await cluster.stop("SIGKILL");
  }
}

/** Stops a worker while it holds jobs. @returns How many. */
async function stopWithin(pid: number, query: Query, submit: () => Promise<void>): Promise<number> {
  for (;;) {
    await submit();
    await until(async () => {
      const active = await query(`select 1 from backtests where status = 'running' limit 1`);
      const left = await query(`select 1 from backtests where status = 'queued' limit 1`);
      return active.length > 0 || left.length === 0;
    });
    Deno.kill(pid, "SIGSTOP");
    // Its last statements may still arrive.
    await pause(POLL_MS);
    const [{ count }] = (await query(
      `select count(*)::integer as count from pgboss.job where name = 'backtests' and state = 'active'`,
    )).map(Object);
    if (count > 0) return count;
    Deno.kill(pid, "SIGCONT");
  }
}
