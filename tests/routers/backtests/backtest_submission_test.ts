import { expect } from "@std/expect";
import { PostgresClient } from "../../../db/postgres/postgres.ts";
import { backtests } from "../../../db/schema.ts";
import { createPostgresDatabase } from "../../../db/postgres_session.ts";
import { backtestRequestSchema, submitBacktest } from "../../../routers/backtests/backtest_submission.ts";
import type { User } from "../../../routers/common/trpc.ts";
import { openQueue } from "../../../workers/queue.ts";
import { addUser } from "../../support/backtests.ts";
import { strangerContext } from "../../support/context.ts";
import { databaseTest } from "../../support/database.ts";

const REQUEST = backtestRequestSchema.parse({
  symbol: "DEMO",
  exchange: "SAMPLE",
  strategy: "SMA Cross",
  start_date: "2024-01-01",
  end_date: "2024-02-01",
  initial_balance: 10_000,
});

const USER: User = { id: "ann", email: "ann@example.com", name: "ann", role: "user" };

databaseTest(
  "a submission takes two round trips: all that it reads, and all that it writes with the commit",
  async (handle) => {
    if (handle.connection.kind !== "postgres") throw new Error("Cannot be but PostgreSQL");
    await addUser(handle.db, "ann");
    const queue = await openQueue({ handle, runSecondsMax: 60 });
    const client = await PostgresClient.connect(handle.connection.url);
    const trips: string[][] = [];
    let pending = 0;
    const query = client.query.bind(client);
    client.query = (text, values, shape) => {
      if (pending++ === 0) trips.push([]);
      trips.at(-1)?.push(text.trim().split(/[\s(]+/).slice(0, 3).join(" "));
      return query(text, values, shape).finally(() => pending--);
    };
    const context = strangerContext(createPostgresDatabase(client), { queue });
    await submitBacktest({ ...context, user: USER, idempotencyKey: "first" }, REQUEST);
    expect(trips).toEqual([
      // Looks for an earlier submission of the same key.
      ['select "id", "owner_id",'],
      [
        "begin",
        "select pg_advisory_xact_lock hashtextextended",
        'select min "queue_position"),',
        'select "id", "owner_id",',
      ],
      [
        'insert into "backtests"',
        "insert into backtest_sizes",
        "select pg_notify $1,",
        "INSERT INTO pgboss.job_common",
        "commit",
      ],
    ]);
    await client.close();
    await queue.close();
  },
);

databaseTest(
  "simultaneous submissions of one user share transactions, and each is judged as if it came alone",
  async ({ db, connection }) => {
    if (connection.kind !== "postgres") throw new Error("Cannot be but PostgreSQL");
    await addUser(db, "ann");
    const client = await PostgresClient.connect(connection.url);
    const handle = { db: createPostgresDatabase(client), connection, close: () => client.close() };
    const queue = await openQueue({ handle, runSecondsMax: 60 });
    let commits = 0;
    const query = client.query.bind(client);
    client.query = (text, values, shape) => {
      if (text === "commit") commits++;
      return query(text, values, shape);
    };
    const context = { ...strangerContext(handle.db, { queue }), user: USER };
    const submitAll = async (count: number, backtestsMax: number) => {
      const quotas = { ...context.quotas, backtestsMax };
      const all = Array.from({ length: count }, () => submitBacktest({ ...context, quotas }, REQUEST));
      return (await Promise.allSettled(all)).map((end) =>
        end.status === "fulfilled" ? end.value.queuePosition : Object(end.reason).appCode
      );
    };
    expect(await submitAll(10, 12)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(commits).toBe(1);
    // Two of three fit.
    expect((await submitAll(3, 12)).sort()).toEqual([10, 11, "QUOTA_EXCEEDED"]);
    await queue.close();
    await client.close();
  },
);

databaseTest(
  "simultaneous submissions whose commit is not answered are not stored a second time",
  async ({ db, connection }) => {
    if (connection.kind !== "postgres") throw new Error("Cannot be but PostgreSQL");
    await addUser(db, "ann");
    const client = await PostgresClient.connect(connection.url);
    const handle = { db: createPostgresDatabase(client), connection, close: () => client.close() };
    const queue = await openQueue({ handle, runSecondsMax: 60 });
    const query = client.query.bind(client);
    client.query = async (text, values, shape) => {
      const answer = await query(text, values, shape);
      if (text === "commit") throw Object.assign(new Error("The connection was lost"), { code: "08006" });
      return answer;
    };
    const context = { ...strangerContext(handle.db, { queue }), user: USER };
    const ended = await Promise.allSettled([1, 2, 3].map(() => submitBacktest(context, REQUEST)));
    expect(ended.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(await db.$count(backtests)).toBe(3);
    client.query = query;
    await queue.close();
    await client.close();
  },
);
