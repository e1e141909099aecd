import { expect } from "@std/expect";
import { backtestRecords, claimBacktests, insertBacktest, storeResults } from "../../../db/backtests.ts";
import { failBacktest } from "../../../db/failed_backtests.ts";
import { insertCheck, readVerdict, storeVerdict } from "../../../db/module_checks.ts";
import { listOrders, listTrades } from "../../../db/row_pages.ts";
import { addUser, newBacktest, newChunks, newResult, orderColumns, tradeColumns } from "../../support/backtests.ts";
import { eachDatabaseTest } from "../../support/database.ts";

// A zero byte and halves of a surrogate pair: JavaScript's text can have them, PostgreSQL's cannot.
const SAID = "a\0b\ud83dc";
const KEPT = "a\ufffdb\ufffdc";

eachDatabaseTest("every text that a strategy reports can be stored", async ({ db }) => {
  await addUser(db, "ann");
  const begin = async () => {
    const { id } = await insertBacktest(db, newBacktest("ann"));
    await claimBacktests(db, [id]);
    return { id, attempt: 1 };
  };
  const done = await begin();
  const trades = tradeColumns(1, SAID);
  const orders = { ...orderColumns(2), tag: [null, SAID] };
  const chunks = await newChunks({ trades, orders });
  const result = newResult({ notes: [SAID] });
  expect([...await storeResults(db, [{ ...done, result, chunks }])]).toEqual([done.id]);
  const page = { backtestId: done.id, ownerId: "ann", after: 0, limit: 10 };
  expect((await listTrades(db, page)).map(({ tag }) => tag)).toEqual([KEPT]);
  expect((await listOrders(db, page)).map(({ tag }) => tag)).toEqual([null, KEPT]);
  expect((await backtestRecords.get(db, { id: done.id, ownerId: "ann" }))?.result?.notes).toEqual([KEPT]);

  const failed = await begin();
  await failBacktest(db, { ...failed, error: { code: "STRATEGY_FAILED", message: SAID } });
  expect((await backtestRecords.get(db, { id: failed.id, ownerId: "ann" }))?.error?.message).toBe(KEPT);

  const check = {
    ownerId: "ann",
    data: null,
    moduleUrl: "http://example.com/",
    parameters: {},
    lookbackCandles: 0,
    queuePosition: 0,
  };
  const id = await insertCheck(db, check);
  await storeVerdict(db, id, { accepted: false, code: "INVALID_MODULE", message: SAID }, null);
  expect(await readVerdict(db, id)).toMatchObject({ message: KEPT });
});
