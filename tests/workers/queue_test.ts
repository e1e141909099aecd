import { expect } from "@std/expect";
import { sql } from "drizzle-orm";
import { backtestRecords, insertBacktest, type NewBacktest } from "../../db/backtests.ts";
import type { Db } from "../../db/client.ts";
import { readEquity } from "../../db/equity.ts";
import { findRun } from "../../db/ingestion.ts";
import { listTrades } from "../../db/row_pages.ts";
import { resolveExecution } from "../../engine/execution.ts";
import { createRun } from "../../market/ingestion/ingestion_run.ts";
import { Jobs } from "../../workers/jobs/jobs.ts";
import { QUEUES } from "../../workers/jobs/queues.ts";
import { type OpenQueue, openQueue } from "../../workers/queue.ts";
import {
  addUser,
  archiveHours,
  archiveTenDays,
  newTenDaysBacktest,
  submitBacktest,
  untilEnded,
} from "../support/backtests.ts";
import { until } from "../support/until.ts";
import { eachDatabaseSteps } from "../support/database.ts";

const RUN_SECONDS_MAX = 60;

const submit = (db: Db, queue: OpenQueue, more: Partial<NewBacktest> = {}) =>
  submitBacktest(db, queue, newTenDaysBacktest("ann", more));

const get = (db: Db, id: string) => backtestRecords.get(db, { id, ownerId: "ann" });

eachDatabaseSteps("the queue", async (handle, step) => {
  const { db, connection } = handle;
  /** A step about what a run does, which the kind of database does not change. */
  const stepOnPostgres: typeof step = async (name, body) => {
    if (connection.kind === "postgres") await step(name, body);
  };
  await addUser(db, "ann");
  await archiveTenDays(db);
  await archiveHours(db);
  let queue = await openQueue({ handle, runSecondsMax: RUN_SECONDS_MAX });
  try {
    await queue.work(2);

    await step("a submitted backtest is run, and its result, trades and equity are stored", async () => {
      const record = await untilEnded(db, await submit(db, queue));
      expect(record).toMatchObject({ status: "completed", progress: 1, attempts: 1, error: null });
      const key = { backtestId: record.id, ownerId: "ann" };
      // Day 2 closes at 20, above the mean of 9 and 20: bought at day 3's open of 25, 10,000 / 25 = 400 units. Day 4
      // closes at 20, below the mean of 30 and 20: sold at day 5's open of 15, for 400 x (15 - 25) = -4,000.
      expect(await listTrades(db, { ...key, after: 0, limit: 10 })).toMatchObject([{
        number: 1,
        side: "long",
        quantity: 400,
        entryTime: new Date("2024-01-04"),
        entryPrice: 25,
        exitTime: new Date("2024-01-06"),
        exitPrice: 15,
        pnl: -4000,
        exitReason: "signal",
      }]);
      const equity = await readEquity(db, key);
      expect([...equity!.equity]).toEqual([10_000, 10_000, 10_000, 12_000, 8000, 6000, 6000, 6000, 6000, 6000]);
      expect([...equity!.position]).toEqual([0, 0, 0, 400, 400, 0, 0, 0, 0, 0]);
      expect(equity!.time[9]).toBe(Date.UTC(2024, 0, 10));
      expect(record.result).toMatchObject({
        data: { candles: 10, first: "2024-01-01T00:00:00.000Z", last: "2024-01-10T00:00:00.000Z", gaps: 0 },
        // The instrument is crypto.
        execution: { profile: "hindcast", periodsPerYear: 365 },
        metrics: { final_equity: 6000, trades: 1 },
        integrity: { lookahead: { status: "passed" }, determinism: { status: "passed" } },
      });
    });

    await stepOnPostgres("a year of weekly candles has 52 returns, in any market", async () => {
      const { parameters } = newTenDaysBacktest("ann");
      const weekly = { parameters: { ...parameters, timeframe: "1w" } };
      const { result } = await untilEnded(db, await submit(db, queue, weekly));
      expect(result).toMatchObject({ execution: { periodsPerYear: 52 } });
    });

    await stepOnPostgres("a forex weekend belongs to the next trading day", async () => {
      await archiveTenDays(db, "PAIR", "forex");
      // Saturday and Sunday count to Monday. The number of days follows from annual_return = growth^(periodsPerYear / days) - 1.
      const days = async (symbol: string, periodsPerYear: number) => {
        const metrics = (await untilEnded(db, await submit(db, queue, { symbol }))).result!.metrics;
        return periodsPerYear * Math.log(6000 / metrics.initial_equity!) / Math.log1p(metrics.annual_return!);
      };
      expect(await days("TEN", 365)).toBeCloseTo(10, 5);
      expect(await days("PAIR", 260)).toBeCloseTo(8, 5);
    });

    await stepOnPostgres(
      "candles that do not fill the range are a note, and a market that rests at its ends is none",
      async () => {
        const notes = async (more = {}) => (await untilEnded(db, await submit(db, queue, more))).result?.notes;
        const exclusive = "is exclusive: the last candle opens at 2024-01-";
        const lastDay = (end: string) => `end_date ${end} ${exclusive}10T00:00:00.000Z`;
        const third = expect.stringMatching(/^The first decision came at candle 3 of 10 /);
        expect(await notes()).toEqual([lastDay("2024-01-11"), third]);
        expect(await notes({ startDate: "2023-12-30", endDate: "2024-02-01" })).toEqual([
          "The candles begin at 2024-01-01T00:00:00.000Z: none are held from start_date 2023-12-30 on",
          "The candles end at 2024-01-11T00:00:00.000Z: none are held up to end_date 2024-02-01",
          lastDay("2024-02-01"),
          third,
        ]);
        // 30 December 2023 was a Saturday: the first week begins on Monday, and forex is closed until then.
        const parameters = { ...newTenDaysBacktest("ann").parameters, timeframe: "1w" };
        expect(await notes({ startDate: "2023-12-30", parameters })).toEqual([
          `end_date 2024-01-11 ${exclusive}01T00:00:00.000Z`,
          expect.stringMatching(/^No decision was due: the strategy needs 3 candles, and the run had \d, /),
        ]);
        expect(await notes({ startDate: "2023-12-30", symbol: "PAIR" })).toEqual([lastDay("2024-01-11"), third]);
      },
    );

    await stepOnPostgres(
      "a benchmark's daily closes are read as the run's candles are, and named where they are missing",
      async () => {
        const { parameters } = newTenDaysBacktest("ann");
        const compare = (symbol: string) => {
          const execution = resolveExecution({ benchmark: { symbol, exchange: "TEST" } }, null);
          return submit(db, queue, { parameters: { ...parameters, execution } });
        };
        const plain = (await untilEnded(db, await submit(db, queue))).result;
        // Its hours have the same daily closes.
        const { result } = await untilEnded(db, await compare("HOURS"));
        expect(plain?.metrics.beta).toBeGreaterThan(0.1);
        expect(result?.metrics).toEqual(plain?.metrics);
        expect(result?.run_key).not.toBe(plain?.run_key);
        const missing = await untilEnded(db, await compare("NOBODY"));
        expect(missing).toMatchObject({ status: "failed", error: { code: "NO_DATA" } });
        expect(missing.error?.message).toMatch(/^Cannot load the benchmark: .*NOBODY/);
      },
    );

    await stepOnPostgres("equal submissions have equal run keys, and another balance gives another key", async () => {
      const keys = await Promise.all(
        [{}, {}, { initialBalance: 5000 }].map(async (more) =>
          (await untilEnded(db, await submit(db, queue, more))).result?.run_key
        ),
      );
      expect(keys[0]).toMatch(/^[0-9a-f]{64}$/);
      expect(keys[1]).toBe(keys[0]);
      expect(keys[2]).not.toBe(keys[0]);
    });

    await stepOnPostgres(
      "without candles a run fails with NO_DATA and names the candles that are held, and is not tried again",
      async () => {
        const fail = async (more: Partial<NewBacktest>) => {
          const { status, error, attempts } = await untilEnded(db, await submit(db, queue, more));
          expect([status, error?.code, attempts]).toEqual(["failed", "NO_DATA", 1]);
          return error?.message;
        };
        expect(await fail({ symbol: "NONE" })).toMatch(
          /^Cannot run on NONE of TEST without candles from 2024-01-01 to 2024-01-11: the archive has nothing of this symbol;/,
        );
        const held = "the archive has 1d on TEST from 2024-01-01 to 2024-01-10";
        expect(await fail({ exchange: "OTHER" })).toBe(
          `Cannot run on TEN of OTHER without candles from 2024-01-01 to 2024-01-11: ${held}`,
        );
        expect(await fail({ startDate: "2023-01-01", endDate: "2023-02-01" })).toBe(
          `Cannot run on TEN of TEST without 1d candles from 2023-01-01 to 2023-02-01: ${held}`,
        );
        const { parameters } = newTenDaysBacktest("ann");
        expect(await fail({ parameters: { ...parameters, timeframe: "1h" } })).toContain("the finest stored are 1d");
      },
    );

    await stepOnPostgres("candles before the range warm the strategy up, unless its profile takes none", async () => {
      const { parameters } = newTenDaysBacktest("ann");
      const range = { startDate: "2024-01-03" };
      const warm = await untilEnded(db, await submit(db, queue, range));
      // Days 0 and 1 are lookback, so day 2's cross counts: bought at day 3's open as before.
      expect(warm.result).toMatchObject({ data: { candles: 8 }, metrics: { trades: 1, final_equity: 6000 } });
      const execution = resolveExecution({ profile: "backtesting.py" }, null);
      const cold = await untilEnded(
        db,
        await submit(db, queue, { ...range, parameters: { ...parameters, execution } }),
      );
      expect(cold.result).toMatchObject({ data: { candles: 8 }, metrics: { trades: 0, final_equity: 10_000 } });
    });

    await stepOnPostgres("magnify replays the held finer candles", async () => {
      const { parameters } = newTenDaysBacktest("ann");
      const exit = async (bothTouched: "stop_first" | "magnify") => {
        const levels = { stopLossLevel: 0.1, takeProfitLevel: 0.1, execution: resolveExecution({ bothTouched }, null) };
        const more = { symbol: "HOURS", parameters: { ...parameters, ...levels } };
        const { id: backtestId, status } = await untilEnded(db, await submit(db, queue, more));
        expect(status).toBe("completed");
        const [trade] = await listTrades(db, { backtestId, ownerId: "ann", after: 0, limit: 1 });
        return [trade?.exitReason, trade?.exitPrice?.toFixed(6)];
      };
      // Bought at 25: the target of 27.5 is touched in hour 5, the stop of 22.5 in hour 10.
      expect(await exit("stop_first")).toEqual(["stop_loss", "22.500000"]);
      expect(await exit("magnify")).toEqual(["take_profit", "27.500000"]);
    });

    await stepOnPostgres("parameters that contradict each other fail the run with the reason", async () => {
      const { parameters } = newTenDaysBacktest("ann");
      const { error } = await untilEnded(db, await submit(db, queue, { parameters: { ...parameters, fast: 3 } }));
      expect(error).toMatchObject({ code: "STRATEGY_FAILED" });
    });

    await stepOnPostgres("a fault of ours is tried three times, and its details stay hidden", async () => {
      const refusedByApi = { timeframe: "1d", execution: { profile: "hindcast" }, instruments: [null] };
      const { status, error, attempts } = await untilEnded(db, await submit(db, queue, { parameters: refusedByApi }));
      expect([status, attempts]).toEqual(["failed", 3]);
      expect(error).toEqual({ code: "INTERNAL", message: "Cannot finish the run because of a fault of ours" });
    });

    await stepOnPostgres(
      "an ingestion run that is a fault of ours ends as failed, so that the next one is not joined to it",
      async () => {
        const run = await db.transaction(async (tx: Db) => {
          const { run } = await createRun(tx, { trigger: "manual", instruments: [] });
          // The API lets no run pass with such a list.
          await tx.execute(sql`update ingestion_runs set instruments = '{}' where id = ${run.id}`);
          await queue.enqueueIngestion(tx, run.id);
          return run;
        });
        const message = "Cannot finish the run because of a fault of ours";
        const failed = await until(async () => {
          const found = await findRun(db, run.id);
          return found?.status === "failed" && found;
        });
        expect(failed).toMatchObject({ message });
      },
    );

    await stepOnPostgres("an ingestion run whose workers all died before they began it ends as failed", async () => {
      const jobs = await Jobs.open(handle, RUN_SECONDS_MAX);
      const id = await db.transaction(async (tx: Db) => {
        const { run } = await createRun(tx, { trigger: "manual", instruments: [] });
        // The dead job of a job without attempts left.
        await jobs.send(tx, QUEUES.dead, run.id, { runId: run.id });
        return run.id;
      });
      await until(async () => await db.$count(sql`pgboss.job where id = ${id} and state = 'completed'`) > 0);
      expect(await findRun(db, id)).toMatchObject({ status: "failed", startedAt: null });
      await jobs.close();
    });

    await step("a cancelled record is not run", async () => {
      const id = await db.transaction(async (tx: Db) => {
        const record = await insertBacktest(tx, newTenDaysBacktest("ann"));
        await queue.enqueue(tx, "backtest", { id: record.id, ownerId: "ann" }, 0);
        await backtestRecords.cancel(tx, { id: record.id, ownerId: "ann" });
        return record.id;
      });
      // A worker takes the older job first, so the end of the younger one proves that the older one was seen.
      await untilEnded(db, await submit(db, queue));
      expect(await get(db, id)).toMatchObject({ status: "cancelled", attempts: 0, result: null });
    });

    await step("a watcher is notified of the changes of its own backtest only", async () => {
      const id = await submit(db, queue);
      const ended = Promise.withResolvers<void>();
      const looks: Promise<void>[] = [];
      const look = async () => {
        if ((await get(db, id))?.status === "completed") ended.resolve();
      };
      let othersNews = 0;
      const unwatch = await queue.watch("backtest", id, () => void looks.push(look()));
      const unwatchOther = await queue.watch("backtest", crypto.randomUUID(), () => othersNews++);
      // Every watcher reads once, to see the changes from before its watch.
      await look();
      await ended.promise;
      unwatch();
      unwatchOther();
      await Promise.all(looks);
      expect(othersNews).toBe(0);
    });

    await step("a closing queue gives its jobs back, and they are done after the next start", async () => {
      const ids = await Promise.all(Array.from({ length: 20 }, () => submit(db, queue)));
      await queue.close();
      const left = await Promise.all(ids.map((id) => get(db, id)));
      expect(left.filter((record) => record?.status === "running")).toEqual([]);
      queue = await openQueue({ handle, runSecondsMax: RUN_SECONDS_MAX });
      await queue.work(2);
      for (const id of ids) expect(await untilEnded(db, id)).toMatchObject({ status: "completed" });
    });

    await step("a run that takes too long is stopped and fails with STRATEGY_TIMED_OUT", async () => {
      await queue.close();
      queue = await openQueue({ handle, runSecondsMax: 0 });
      await queue.work(1);
      const record = await untilEnded(db, await submit(db, queue, { startDate: "2024-01-03" }));
      expect(record).toMatchObject({ status: "failed", attempts: 1, error: { code: "STRATEGY_TIMED_OUT" } });
      // The two days of warm-up before the range do not count.
      expect(record.error?.message).toBe("Cannot finish within 0 s: 0 of 8 candles were done");
      expect(await listTrades(db, { backtestId: record.id, ownerId: "ann", after: 0, limit: 1 })).toEqual([]);
    });

    await step("the queue passes its health check", async () => void await queue.check());
  } finally {
    await queue.close();
  }
});
