import { expect } from "@std/expect";

import { listOrders } from "../../db/row_pages.ts";
import { addCompleted, addUser, orderColumns, removeBacktest } from "../support/backtests.ts";
import { databaseSteps } from "../support/database.ts";

databaseSteps("orders", async ({ db }, step) => {
  await addUser(db, "ann");
  const id = await addCompleted(db, { orders: orderColumns(25_000) });
  const page = (after: number, limit: number, ownerId = "ann") =>
    listOrders(db, { backtestId: id, ownerId, after, limit });

  await step("are read back as they were placed", async () => {
    expect(await page(0, 3)).toEqual([
      {
        number: 1,
        time: new Date(0),
        side: "buy",
        type: "market",
        quantity: 1,
        limitPrice: null,
        stopPrice: null,
        status: "filled",
        reason: null,
        filledQuantity: 1,
        price: 100,
        fillTime: new Date(60_000),
        tag: null,
        market: null,
      },
      expect.objectContaining({ number: 2, side: "sell", quantity: 2, price: 101, tag: "second" }),
      expect.objectContaining({
        number: 3,
        quantity: null,
        status: "rejected",
        reason: "smaller than one lot",
        price: null,
        fillTime: null,
      }),
    ]);
  });

  await step("pages run on across chunks, and end", async () => {
    expect((await page(9_998, 5)).map((order) => order.number)).toEqual([9999, 10_000, 10_001, 10_002, 10_003]);
    expect((await page(20_000, 1)).map((order) => order.number)).toEqual([20_001]);
    expect((await page(24_999, 200)).map((order) => order.number)).toEqual([25_000]);
    expect(await page(25_000, 200)).toEqual([]);
  });

  await step("belong to their owner, and go with the record", async () => {
    expect(await page(0, 3, "bob")).toEqual([]);
    await removeBacktest(db, { id, ownerId: "ann" });
    expect(await page(0, 3)).toEqual([]);
  });
});
