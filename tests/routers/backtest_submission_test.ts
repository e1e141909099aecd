import { expect } from "@std/expect";
import { PostgresClient } from "../../db/postgres.ts";
import { createPostgresDatabase } from "../../db/postgres_session.ts";
import { backtestRequestSchema, submitBacktest } from "../../routers/backtest_submission.ts";
import type { User } from "../../routers/trpc.ts";
import { openQueue } from "../../workers/queue.ts";
import { addUser } from "../support/backtests.ts";
import { strangerContext } from "../support/context.ts";
import { databaseTest } from "../support/database.ts";

const REQUEST = backtestRequestSchema.parse({
  symbol: "DEMO",
  exchange: "SAMPLE",
  strategy: "SMA Cross",
  start_date: "2024-01-01",
  end_date: "2024-02-01",
  initial_balance: 10_000,
});

databaseTest(
  "a submission takes three round trips: all that it reads, all that it writes, commit",
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
    const user: User = { id: "ann", email: "ann@example.com", name: "ann", role: "user" };
    const context = strangerContext(createPostgresDatabase(client), { queue });
    await submitBacktest({ ...context, user, idempotencyKey: "first" }, REQUEST);
    expect(trips).toEqual([
      // Looks for an earlier submission of the same key.
      ['select "backtests"."id", "backtests"."owner_id",'],
      [
        "begin",
        "select pg_advisory_xact_lock hashtextextended",
        'select min "queue_position"),',
        'select "backtests"."id", "backtests"."owner_id",',
      ],
      [
        'insert into "backtests"',
        "insert into backtest_sizes",
        "select pg_notify $1,",
        'insert into "idempotency_keys"',
        "INSERT INTO pgboss.job_common",
      ],
      ["commit"],
    ]);
    await client.close();
    await queue.close();
  },
);
