import {
  type AttemptKey,
  type Backtest,
  claimBacktests,
  type CompletedRun,
  failBacktest,
  type Progress,
  releaseBacktest,
  setProgress,
  storeResults,
} from "../../db/backtests.ts";
import type { Db } from "../../db/client.ts";
import { findFullUsers } from "../../db/backtest_sizes.ts";
import { Batcher } from "./batching.ts";
import { type Jobs, QUEUES, type TakenJob } from "../jobs/jobs.ts";

const QUEUE = QUEUES.backtests;
const BATCH_MAX = 32;

/**
 * What becomes of a job and its record: the result is stored, the failure is told, the job goes back to the queue unharmed or counts
 * as a failed attempt, or it ends without a word because the record is no longer its own.
 */
export type RunEnd =
  | { readonly type: "completed"; readonly run: Omit<CompletedRun, keyof AttemptKey> }
  | { readonly type: "failed"; readonly error: { readonly code: string; readonly message: string } }
  | { readonly type: "given_back" }
  | { readonly type: "broken" }
  | { readonly type: "dropped" };

/** A record whose run begins. */
export type ClaimedBacktest = Backtest & {
  /** Whether its owner keeps more than he may: what it would leave behind is not kept, too. */
  readonly hasNoRoom: boolean;
};

interface Settlement {
  readonly job: TakenJob;
  readonly attempt: number;
  readonly end: RunEnd;
}

/**
 * The records of running backtests. What happens at once is written in one transaction, so that short runs do not pay for a
 * transaction each; every write is fenced by attempt, of the record and of the job.
 */
export class BacktestRecords {
  readonly #db: Db;
  readonly #jobs: Jobs;
  readonly #claims: Batcher<string, ClaimedBacktest | null>;
  readonly #settlements: Batcher<Settlement, undefined>;

  /** @param resultBytesMax What the backtests of one user may have. */
  constructor(db: Db, jobs: Jobs, resultBytesMax: number) {
    this.#db = db;
    this.#jobs = jobs;
    this.#claims = new Batcher(async (ids) => {
      const records = await claimBacktests(db, ids);
      const owners = new Set(records.map(({ ownerId }) => ownerId));
      const full = resultBytesMax < Infinity ? await findFullUsers(db, [...owners], resultBytesMax) : new Set();
      const claimed = new Map(
        records.map((record) => [record.id, { ...record, hasNoRoom: full.has(record.ownerId) }]),
      );
      await jobs.changes.tell(db, [...claimed.keys()].map((id) => `backtest ${id}` as const));
      return ids.map((id) => claimed.get(id) ?? null);
    }, BATCH_MAX);
    this.#settlements = new Batcher(async (settlements) => {
      await db.transaction((tx: Db) => settleAll(tx, jobs, settlements));
      return settlements.map(() => undefined);
    }, BATCH_MAX);
  }

  /** Begins an attempt; null when there is nothing left to do for the record. */
  claim(id: string): Promise<ClaimedBacktest | null> {
    return this.#claims.add(id);
  }

  /** Notes how far an attempt is; returns whether it still holds the record. */
  async progress(run: AttemptKey & Progress): Promise<boolean> {
    if (!await setProgress(this.#db, run)) return false;
    await this.#jobs.changes.tell(this.#db, [`backtest ${run.id}`]);
    return true;
  }

  /** Writes how an attempt ended, together with the end of its job. */
  async settle(job: TakenJob, attempt: number, end: RunEnd): Promise<void> {
    await this.#settlements.add({ job, attempt, end });
  }
}

async function settleAll(tx: Db, jobs: Jobs, settlements: readonly Settlement[]): Promise<void> {
  const completed: CompletedRun[] = [];
  const over: TakenJob[] = [];
  for (const { job, attempt, end } of settlements) {
    const run = { id: job.id, attempt };
    if (end.type === "broken") {
      await releaseBacktest(tx, run);
      await jobs.fail(tx, QUEUE, job, "see the log");
    } else if (end.type === "given_back" && await releaseBacktest(tx, run)) {
      await jobs.giveBack(tx, QUEUE, job);
    } else {
      if (end.type === "failed") await failBacktest(tx, { ...run, error: end.error });
      if (end.type === "completed") completed.push({ ...run, ...end.run });
      over.push(job);
    }
  }
  // After every other record: with the sums of sizes that this changes, to wait for a record that is just deleted would be for ever.
  await storeResults(tx, completed);
  await jobs.complete(tx, QUEUE, over);
  await jobs.changes.tell(tx, settlements.map(({ job }) => `backtest ${job.id}` as const));
}
