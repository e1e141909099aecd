import { expect } from "@std/expect";
import { PostgresClient } from "../../../db/postgres/postgres.ts";
import { openQueue } from "../../../workers/queue.ts";
import { addUser, archiveTenDays, newTenDaysBacktest, submitBacktest, untilEnded } from "../../support/backtests.ts";
import { databaseTest } from "../../support/database.ts";

databaseTest(
  "a run on candles in memory takes nine statements: to claim it, to look for its candles, to store its result",
  async (handle) => {
    const { db } = handle;
    await addUser(db, "ann");
    await archiveTenDays(db);
    const queue = await openQueue({ handle, runSecondsMax: 60 });
    const { query } = PostgresClient.prototype;
    try {
      await queue.work(1);
      // Stores the candles, which later results share.
      await untilEnded(db, await submitBacktest(db, queue, newTenDaysBacktest("ann")));
      const texts: string[] = [];
      PostgresClient.prototype.query = function (...args) {
        texts.push(args[0].trim());
        return query.apply(this, args);
      };
      await untilEnded(db, await submitBacktest(db, queue, newTenDaysBacktest("ann")));
      const claimed = texts.findIndex((text) => text.startsWith('update "backtests"'));
      const ended = texts.indexOf("commit", claimed);
      // The test, pg-boss and its other queues look now and then.
      const isOfRun = (text: string) =>
        text.includes("pgboss") ? text.startsWith("WITH results") : !text.startsWith('select "id", "owner_id"');
      const ofRun = texts.slice(claimed, ended + 1).filter(isOfRun);
      expect(ofRun.map((text) => text.split(/[\s(]+/).slice(0, 3).join(" "))).toEqual([
        'update "backtests" set',
        'select "id", "symbol",',
        'select "instrument_id", "timeframe",',
        "begin",
        "with done as",
        "WITH results AS",
        "commit",
      ]);
    } finally {
      PostgresClient.prototype.query = query;
      await queue.close();
    }
  },
);
