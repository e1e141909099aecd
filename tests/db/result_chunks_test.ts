import { expect } from "@std/expect";
import { sql } from "drizzle-orm";
import { rowsOf } from "../../db/answer_rows.ts";
import { backtestRecords, claimBacktests, insertBacktest, storeResults } from "../../db/backtests.ts";
import { failBacktest } from "../../db/failed_backtests.ts";
import type { Db } from "../../db/client.ts";
import { decodeColumns, encodeColumns } from "../../db/codec/columns.ts";
import { unpackTrades } from "../../db/codec/packed_trades.ts";
import type { ResultChunk } from "../../db/codec/result_parts.ts";
import { readEquity } from "../../db/equity.ts";
import { listOrders, listTrades } from "../../db/row_pages.ts";
import { collectInSlices, insertChunks, insertChunksAhead } from "../../db/result_chunks.ts";
import { resultChunks } from "../../db/schema.ts";
import { addUser, newBacktest, newChunks, newResult, tradeColumns } from "../support/backtests.ts";
import { eachDatabaseSteps } from "../support/database.ts";

eachDatabaseSteps("chunks that are written ahead of their record", async ({ db }, step) => {
  await addUser(db, "ann");
  const claimed = async () => {
    const { id } = await insertBacktest(db, newBacktest("ann"));
    await claimBacktests(db, [id]);
    return id;
  };
  const chunksOf = async (count: number) => await newChunks({ trades: tradeColumns(count) });
  const writeAhead = async (backtestId: string, attempt: number, count = 1) =>
    await insertChunksAhead(db, { backtestId, attempt, chunks: await chunksOf(count) });
  const store = async (id: string, attempt: number) => {
    const run = { id, attempt, result: newResult(), chunks: await chunksOf(1), areChunksWritten: true };
    return (await db.transaction((tx: Db) => storeResults(tx, [run]))).has(id);
  };
  const read = async (backtestId: string) =>
    (await listTrades(db, { backtestId, ownerId: "ann", after: 0, limit: 9 })).length;
  const attemptsOf = async (backtestId: string) => {
    const rows = await db.select().from(resultChunks);
    return [...new Set(rows.filter((row) => row.backtestId === backtestId).map(({ attempt }) => attempt))].sort();
  };

  await step("are read once the record is completed, and not before", async () => {
    const id = await claimed();
    expect(await writeAhead(id, 1)).toBe(true);
    expect(await read(id)).toBe(0);
    expect(await store(id, 1)).toBe(true);
    expect(await read(id)).toBe(1);
  });

  await step("are written by a statement that is prepared once, however many they are", async () => {
    const id = await claimed();
    const chunks = await newChunks();
    await db.transaction(async (tx: Db) => {
      const prepared = async () =>
        rowsOf(await tx.execute(sql`select from pg_prepared_statements where statement like '%result_chunks%'`)).length;
      const counts: number[] = [];
      for (const attempt of [1, 2]) {
        await insertChunks(tx, [{ backtestId: id, attempt, chunks: chunks.slice(0, attempt) }]);
        counts.push(await prepared());
      }
      expect(counts[0]).toBeGreaterThan(0);
      expect(counts[1]).toBe(counts[0]);
    });
    expect(await attemptsOf(id)).toEqual([1, 2]);
  });

  await step("are read as an earlier version encoded them, too", async () => {
    const id = await claimed();
    const encode = ({ data }: ResultChunk) => encodeColumns(unpackTrades(decodeColumns(data)));
    const chunks = (await chunksOf(3)).map((chunk) => ({ ...chunk, data: encode(chunk) }));
    const [before, now] = [id, await claimed()];
    const list = async (backtestId: string) => [
      await listTrades(db, { backtestId, ownerId: "ann", after: 0, limit: 9 }),
      await listOrders(db, { backtestId, ownerId: "ann", after: 0, limit: 9 }),
      await readEquity(db, { backtestId, ownerId: "ann" }),
    ];
    for (const run of [{ id: before, chunks }, { id: now, chunks: await chunksOf(3) }]) {
      await db.transaction((tx: Db) => storeResults(tx, [{ ...run, attempt: 1, result: newResult() }]));
    }
    expect(await list(before)).toEqual(await list(now));
    expect(await read(before)).toBe(3);
  });

  await step("may be written again, as after an answer that was lost", async () => {
    const id = await claimed();
    await writeAhead(id, 1);
    expect(await writeAhead(id, 1)).toBe(true);
    expect(await store(id, 1)).toBe(true);
    expect(await read(id)).toBe(1);
  });

  await step("are refused to an attempt that has lost its record", async () => {
    const id = await claimed();
    await claimBacktests(db, [id]);
    expect(await writeAhead(id, 1)).toBe(false);
    expect(await attemptsOf(id)).toEqual([]);
  });

  await step("of an attempt that died between two of them are not mixed with those of the next, and go", async () => {
    const id = await claimed();
    await writeAhead(id, 1, 3);
    await claimBacktests(db, [id]);
    await writeAhead(id, 2, 2);
    expect(await attemptsOf(id)).toEqual([1, 2]);
    expect(await store(id, 2)).toBe(true);
    expect(await read(id)).toBe(2);
    expect(await attemptsOf(id)).toEqual([2]);
  });

  await step("go when their record ends without a result", async () => {
    const error = { code: "NO_DATA", message: "Cannot run" };
    const ends: ((tx: Db, id: string) => Promise<unknown>)[] = [
      (tx, id) => backtestRecords.cancel(tx, { id, ownerId: "ann" }),
      (tx, id) => failBacktest(tx, { id, attempt: 1, error }),
      (tx, id) => backtestRecords.fail(tx, id, error),
    ];
    for (const end of ends) {
      const id = await claimed();
      await writeAhead(id, 1);
      await db.transaction((tx: Db) => end(tx, id));
      expect(await attemptsOf(id)).toEqual([]);
    }
  });
});

Deno.test("chunks are encoded and decoded in slices of time, between which requests are answered", async () => {
  let isAnswered = false;
  setTimeout(() => isAnswered = true);
  const slowly = function* () {
    for (const value of [1, 2, 3]) {
      for (const begun = performance.now(); performance.now() - begun < 10;);
      yield value;
    }
  };
  expect(await collectInSlices(slowly())).toEqual([1, 2, 3]);
  expect(isAnswered).toBe(true);
});
