import { expect } from "@std/expect";
import { join } from "node:path";
import type { TestClient } from "../support/client.ts";
import { copyFolder } from "../support/copy_folder.ts";
import { type RunningProcess, startProcess } from "../support/process.ts";
import { until } from "../support/until.ts";
import { Cluster, killFamily } from "./cluster.ts";
import { signedIn, untilNoneIsLeft, withDatabase } from "./embedded.ts";
import { openQuery, type Outcome } from "./faults.ts";
import type { Ground } from "./ground.ts";
import { checkAll, checkRecords, checkResults, type Query, untilAllEnded } from "./invariants.ts";
import { SeededRandom } from "./random.ts";
import { readResult } from "./workload.ts";

// 86,929 trades and 174,240 candles: 23 chunks, which are written in about seven transactions.
const LARGE = {
  symbol: "DEMO",
  exchange: "SAMPLE",
  strategy: "SMA Cross",
  start_date: "2024-01-01",
  end_date: "2024-05-01",
  initial_balance: 10_000,
  parameters: { timeframe: "1m", fast: 1, slow: 2 },
  fresh: true,
};
// Its chunks have 2.7 MB. The embedded database writes them to its log and to the table.
const LARGE_BYTES = 5_000_000;
// After fewer bytes, none of its chunks may be stored.
const FIRST_CHUNKS_BYTES = 1_500_000;
// A dead run is repeated 10 to 15 seconds later, and meanwhile others die.
const DEATHS_AT_ONCE = 8;
// A kill may come after the record is completed.
const MISSES_MAX = 20;
// Sizes differ by the digits of `duration_ms`.
const SIZE_DIFFERENCE_MAX = 16;

interface Scale {
  readonly seed: number;
  /** Kills that leave a part of a result, or all of it without its record. */
  readonly kills: number;
}

/** The backtests that a scenario has submitted: one is accepted for each kill, and all have the same result. */
class Killed {
  readonly accepted = new Map<string, number>();
  readonly unanswered = 0;
  hits = 0;
  misses = 0;

  /** Counts a kill. @throws When too many came too late. */
  count(isHit: boolean): void {
    if (isHit) this.hits++;
    else if (++this.misses > MISSES_MAX + this.hits) throw new Error("The kills come too late or too early");
  }
}

/**
 * Kills a worker between the chunks of a large result, again and again. The runs are repeated, and nothing is left of the dead attempts.
 *
 * @throws When a result differs from a clean run's, or a chunk of a dead attempt or a wrong sum of bytes is left.
 */
export async function runChunks(ground: Ground, { seed, kills }: Scale): Promise<Outcome> {
  const begun = performance.now();
  const random = new SeededRandom(seed);
  await using sql = openQuery(ground.databaseUrl);
  const { query } = sql;
  const cluster = await Cluster.start(ground.databaseUrl, { apis: 1, workers: 1 });
  try {
    const client = cluster.client(0);
    await client.signUp();
    const cleanId = await submit(client);
    await client.finish(cleanId);
    const clean = [await readResult(client, cleanId)];
    const chunks = (await lookAt(query, cleanId)).chunks;
    const killed = new Killed();
    while (killed.hits < kills) {
      const id = await submit(client);
      killed.accepted.set(id, 0);
      const least = 1 + random.below(chunks);
      await until(async () => {
        const now = await lookAt(query, id);
        return now.status === "completed" || now.chunks >= least;
      });
      await cluster.killWorker(0);
      killed.count(isHalf(await lookAt(query, id)));
      await cluster.addWorker();
      if (killed.hits % DEATHS_AT_ONCE === 0) await untilAllEnded(query);
    }
    await untilAllEnded(query);
    const repeated = await checkAll(query, killed, clean, client);
    await checkStored(query);
    expect(await cluster.stop("SIGTERM")).toEqual([]);
    return { kills: killed.hits, missed: killed.misses, repeated, tookMs: Math.round(performance.now() - begun) };
  } finally {
    await cluster.stop("SIGKILL");
  }
}

/**
 * Does the same to a service on the embedded database, whose own process holds the worker and the database. Linux only: the bytes that the
 * process has written show the moment.
 *
 * @param dataDir An ended service's directory, to begin with a copy of it.
 * @throws As runChunks() does.
 */
export async function runEmbeddedChunks(
  { seed, kills, dataDir }: Scale & { readonly dataDir?: string },
): Promise<Outcome> {
  const begun = performance.now();
  const random = new SeededRandom(seed);
  const folder = await Deno.makeTempDir({ prefix: "hindcast-faults-" });
  const DATA_DIR = join(folder, "data");
  if (dataDir !== undefined) copyFolder(dataDir, DATA_DIR);
  const database = join(DATA_DIR, "database");
  const start = () => startProcess("serve", { DATA_DIR, USER_BACKTESTS_MAX: "1000000" });
  let service = await start();
  try {
    const user = service.client();
    await user.signUp();
    const cleanId = await submit(user);
    await user.finish(cleanId);
    const clean = [await readResult(user, cleanId)];
    const killed = new Killed();
    while (killed.hits < kills) {
      const id = await submit(signedIn(service, user.cookie));
      killed.accepted.set(id, 0);
      await untilWriting(
        signedIn(service, user.cookie),
        service,
        id,
        FIRST_CHUNKS_BYTES + random.below(LARGE_BYTES - FIRST_CHUNKS_BYTES),
      );
      await killFamily(service);
      killed.count(isHalf(await withDatabase(database, (query) => lookAt(query, id))));
      service = await start();
      if (killed.hits % DEATHS_AT_ONCE === 0) await untilNoneIsLeft(signedIn(service, user.cookie));
    }
    await untilNoneIsLeft(signedIn(service, user.cookie));
    await checkResults(signedIn(service, user.cookie), killed, clean);
    const { code, stderr } = await service.end("SIGTERM");
    expect([code, stderr]).toEqual([0, ""]);
    const repeated = await withDatabase(database, async (query) => {
      await checkStored(query);
      return await checkRecords(query, killed, clean.length);
    });
    return { kills: killed.hits, missed: killed.misses, repeated, tookMs: Math.round(performance.now() - begun) };
  } finally {
    await service.end("SIGKILL");
    await Deno.remove(folder, { recursive: true });
  }
}

async function submit(client: TestClient): Promise<string> {
  const answer = await client.send("POST", "/api/backtests", { backtest: LARGE });
  if (answer.status !== 202) throw new Error(`Cannot submit: ${answer.status} ${answer.text}`);
  return String(answer.at("/backtest/id"));
}

/** Waits until the process has written `bytes` bytes since the run began, or the run has ended. */
async function untilWriting(client: TestClient, service: RunningProcess, id: string, bytes: number): Promise<void> {
  const statusOf = async () => (await client.get(`/api/backtests/${id}`)).at("/backtest/status");
  await until(async () => await statusOf() !== "queued");
  const before = writtenBytes(service);
  await until(async () => writtenBytes(service) - before >= bytes || await statusOf() === "completed");
}

function writtenBytes({ pid }: RunningProcess): number {
  return Number(/^wchar: (\d+)$/m.exec(Deno.readTextFileSync(`/proc/${pid}/io`))?.[1]);
}

/** A record's status, and how many chunks it has. */
async function lookAt(query: Query, id: string): Promise<{ readonly status: string; readonly chunks: number }> {
  const [row] = await query(`
    select status, (select count(*)::integer from result_chunks where backtest_id = id) as chunks
    from backtests where id = '${id}'`);
  return Object(row);
}

function isHalf({ status, chunks }: Awaited<ReturnType<typeof lookAt>>): boolean {
  return status === "running" && chunks > 0;
}

/** All results are stored in the same bytes, and their owner has the sum of them. */
async function checkStored(query: Query): Promise<void> {
  const [stored] = (await query(`
    select count(distinct chunks)::integer as results, (max(size_bytes) - min(size_bytes))::integer as difference,
      sum(size_bytes)::text as sum, (select string_agg(bytes::text, ' ') from backtest_sizes) as owned
    from (
      select size_bytes, (
        select md5(string_agg(concat_ws(' ', part, chunk, rows, first_time, last_time, encode(data, 'hex'),
          encode(tags, 'hex')), ',' order by part, chunk))
        from result_chunks where backtest_id = id) as chunks
      from backtests) as each`)).map(Object);
  expect(stored.results).toBe(1);
  expect(stored.difference).toBeLessThan(SIZE_DIFFERENCE_MAX);
  expect(stored.owned).toBe(stored.sum);
}
