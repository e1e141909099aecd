import { expect } from "@std/expect";
import { claimBacktests, insertBacktest, setProgress } from "../../../db/backtests.ts";
import { PostgresPool } from "../../../db/postgres/postgres_pool.ts";
import { backtestRuns } from "../../../routers/backtests/backtest_runs.ts";
import { addUser, newBacktest } from "../../support/backtests.ts";
import { strangerContext } from "../../support/context.ts";
import { openTestDatabase } from "../../support/database.ts";

const FOLLOWERS = 50;

Deno.test("a change of a backtest's record is read once for all its followers", async () => {
  const handle = await openTestDatabase("PostgreSQL");
  let looks = 0;
  const { query } = PostgresPool.prototype;
  PostgresPool.prototype.query = function (...args) {
    looks++;
    return query.apply(this, args);
  };
  const watchers = new Set<() => void>();
  const context = strangerContext(handle.db);
  const watch = (_kind: string, _id: string, onChange: () => void) => {
    watchers.add(onChange);
    return Promise.resolve(() => void watchers.delete(onChange));
  };
  const ctx = { ...context, queue: { ...context.queue, watch } };
  await addUser(handle.db, "ann");
  const { id } = await insertBacktest(handle.db, newBacktest("ann"));
  const leave = new AbortController();
  const followers = Array.from(
    { length: FOLLOWERS },
    () => backtestRuns.follow(ctx, { id, ownerId: "ann" }, leave.signal),
  );
  const nextOfAll = async () => {
    const next = await Promise.all(followers.map((follower) => follower.next()));
    return next.map(({ value }) => value?.progress);
  };
  const all = (progress: number) => Array(FOLLOWERS).fill(progress);
  await claimBacktests(handle.db, [id]);
  expect(await nextOfAll()).toEqual(all(0));
  for (const progress of [0.25, 0.5, 0.75]) {
    await setProgress(handle.db, { id, attempt: 1, progress, partialEquity: null });
    looks = 0;
    const next = nextOfAll();
    for (const onChange of watchers) onChange();
    expect(await next).toEqual(all(progress));
    expect(looks).toBe(1);
  }
  leave.abort();
  for (const follower of followers) expect(await follower.next()).toMatchObject({ done: true });
  expect(watchers.size).toBe(0);
  PostgresPool.prototype.query = query;
  await handle.close();
});
