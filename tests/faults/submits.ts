import { expect } from "@std/expect";
import { startProcess } from "../support/process.ts";
import { Cluster, clusterEnvironment } from "./cluster.ts";
import { openQuery, type Outcome } from "./faults.ts";
import type { Ground } from "./ground.ts";
import { checkAll, pause, type Query, untilAllEnded } from "./invariants.ts";
import { SeededRandom } from "./random.ts";
import { runClean, Submissions } from "./workload.ts";

// How many API processes are started and killed at once.
const LANES = 3;

/**
 * Kills API processes during a submission, at random moments from before its request is read until after its answer. After each kill
 * every record has its job and every job its record; in the end all of them complete.
 *
 * @param kills How many processes are killed.
 * @throws When an accepted submission is missing or incomplete.
 */
export async function runSubmits(ground: Ground, { seed, kills }: { seed: number; kills: number }): Promise<Outcome> {
  const begun = performance.now();
  const random = new SeededRandom(seed);
  await using sql = openQuery(ground.databaseUrl);
  const cluster = await Cluster.start(ground.databaseUrl, { apis: 1, workers: 1 });
  try {
    const client = cluster.client(0);
    await client.signUp();
    const clean = await runClean(client);
    // Without a worker, so that every job can be counted.
    await cluster.killWorker(0);
    const submissions = new Submissions();
    const environment = clusterEnvironment(ground.databaseUrl);
    const spanMs = await measureSubmission(
      environment,
      client.cookie,
      submissions,
      Math.min(Math.ceil(kills / 2), LANES),
    );
    const moments = Array.from({ length: kills }, () => random.next() * spanMs);
    const lane = async () => {
      for (let moment = moments.pop(); moment !== undefined; moment = moments.pop()) {
        await killWithin(environment, client.cookie, submissions, moment);
        expect(await findHalves(sql.query)).toEqual([]);
      }
    };
    await Promise.all(Array.from({ length: Math.min(kills, LANES) }, lane));
    const [{ count }] = (await sql.query("select count(*)::integer as count from backtests")).map(Object);
    await cluster.addWorker();
    await untilAllEnded(sql.query);
    await checkAll(sql.query, submissions, clean, client);
    expect(await cluster.stop("SIGTERM")).toEqual([]);
    const { accepted: { size: accepted }, unanswered } = submissions;
    const unansweredStored = count - clean.length - accepted;
    const tookMs = Math.round(performance.now() - begun);
    return { kills, spanMs: Math.round(spanMs), accepted, unanswered, unansweredStored, tookMs };
  } finally {
    await cluster.stop("SIGKILL");
  }
}

/** Three times the duration of the first submission to a new process, while as many others start as later. */
async function measureSubmission(
  environment: Readonly<Record<string, string>>,
  cookie: string,
  submissions: Submissions,
  count: number,
): Promise<number> {
  const measure = () => killWithin(environment, cookie, submissions, Infinity);
  const tookMs = await Promise.all(Array.from({ length: count }, measure));
  return 3 * tookMs.toSorted((a, b) => a - b)[Math.floor(count / 2)]!;
}

/** Submits to a new process and kills it `momentMs` later; Infinity: after its answer. @returns The submission's duration. */
async function killWithin(
  environment: Readonly<Record<string, string>>,
  cookie: string,
  submissions: Submissions,
  momentMs: number,
): Promise<number> {
  const api = await startProcess("serve", environment);
  const client = api.client();
  client.cookie = cookie;
  // Opens the connection.
  await client.get("/api/health");
  const begun = performance.now();
  const submitting = submissions.submit(client);
  await (momentMs === Infinity ? submitting : pause(momentMs));
  const tookMs = performance.now() - begun;
  await api.end("SIGKILL");
  await submitting;
  return tookMs;
}

/** Queued records without a job, and jobs without a record. A dead process's open transaction is invisible. */
async function findHalves(query: Query): Promise<readonly unknown[]> {
  return await query(`
    select backtests.id as record, job.id as job
    from (select id from backtests where status = 'queued') as backtests
    full join (select id from pgboss.job where name = 'backtests' and state < 'active') as job on job.id = backtests.id
    where backtests.id is null or job.id is null`);
}
