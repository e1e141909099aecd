import { expect } from "@std/expect";
import { and, eq, gt, lt, ne } from "drizzle-orm";
import { PgBoss } from "pg-boss";
import { v7 as uuidv7 } from "uuid";
import { type Backtest, insertBacktest } from "../../../db/backtests.ts";
import { type Db, openPostgres } from "../../../db/client.ts";
import { lockUser, readUsage } from "../../../db/quotas.ts";
import { backtests } from "../../../db/schema.ts";
import { QUEUES } from "../../../workers/jobs/queues.ts";
import { resolveExecution } from "../../../engine/execution.ts";
import { type OpenQueue, openQueue } from "../../../workers/queue.ts";
import { addUser, newBacktest, untilEnded } from "../../support/backtests.ts";
import { createTestDatabase } from "../../support/database.ts";

const WAITING = 10_000;
const WORKERS = 2;
// Half a million candles: so long that none is fetched in advance on a machine several times as quick as today's.
const RUN = {
  startDate: "2024-01-01",
  endDate: "2025-01-01",
  parameters: {
    timeframe: "1m",
    fast: 24,
    slow: 96,
    direction: "both",
    takeProfitLevel: 0,
    stopLossLevel: 0,
    execution: resolveExecution({}, null),
  },
} as const;

/** Lets a user have a number of runs waiting, as if they had submitted them, but quicker. */
async function queueMany(db: Db, databaseUrl: string, ownerId: string): Promise<void> {
  const rows = Array.from(
    { length: WAITING },
    (_, queuePosition) => ({ ...newBacktest(ownerId, RUN), id: uuidv7(), queuePosition }),
  );
  const boss = new PgBoss({ connectionString: databaseUrl, schedule: false, supervise: false, max: 1 });
  boss.on("error", () => {});
  await boss.start();
  while (rows.length > 0) {
    const part = rows.splice(0, 1000);
    await db.insert(backtests).values(part);
    const jobs = part.map(({ id, queuePosition }) => ({
      id,
      data: { backtestId: id, ownerId },
      priority: -queuePosition,
      group: { id: ownerId },
    }));
    await boss.insert(QUEUES.backtests, jobs);
  }
  await boss.stop({ graceful: false });
}

/** Submits as the API does, and waits for the end. */
async function runOne(db: Db, queue: OpenQueue, ownerId: string): Promise<Backtest> {
  const id = await db.transaction(async (tx: Db) => {
    await lockUser(tx, ownerId);
    const queuePosition = (await readUsage(tx, ownerId, WAITING)).queuePosition ?? NaN;
    const inserted = await insertBacktest(tx, { ...newBacktest(ownerId, RUN), queuePosition });
    await queue.enqueue(tx, "backtest", { id: inserted.id, ownerId }, queuePosition);
    return inserted.id;
  });
  return await untilEnded(db, id, ownerId);
}

Deno.test("a user with 10,000 backtests waiting holds another up for two run lengths at most", async () => {
  const { url, drop } = await createTestDatabase("service");
  const handle = await openPostgres(url, 6);
  const { db } = handle;
  await addUser(db, "many");
  await addUser(db, "one");
  const queue = await openQueue({ handle, runSecondsMax: 60 });
  try {
    await queueMany(db, url, "many");
    await queue.work(WORKERS);
    for (let i = 0; i < 3; i++) {
      const { status, createdAt, startedAt } = await runOne(db, queue, "one");
      expect(status).toBe("completed");
      const startedMeanwhile = and(gt(backtests.startedAt, createdAt), lt(backtests.startedAt, startedAt ?? createdAt));
      const overtook = await db.select({ id: backtests.id }).from(backtests)
        .where(and(eq(backtests.ownerId, "many"), startedMeanwhile));
      // In two run lengths every worker begins two runs.
      expect(overtook.length).toBeLessThanOrEqual(2 * WORKERS);
    }
    const left = await db.$count(backtests, and(eq(backtests.ownerId, "many"), ne(backtests.status, "completed")));
    expect(left).toBeGreaterThan(WAITING / 2);
  } finally {
    await queue.close();
    await handle.close();
    await drop();
  }
});
