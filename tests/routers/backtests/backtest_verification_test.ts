import { expect } from "@std/expect";
import { AnswerBudget } from "../../../routers/common/answer_budget.ts";
import { findRow, verificationProcedures } from "../../../routers/backtests/backtest_verification.ts";
import { createCallerFactory, router } from "../../../routers/common/trpc.ts";
import { addCompleted, addUser, tradeColumns } from "../../support/backtests.ts";
import { strangerContext } from "../../support/context.ts";
import { databaseTest } from "../../support/database.ts";

/** A list that is read two rows at a time. */
function listOf(rows: readonly { readonly number: number; readonly price: number | null }[]) {
  return {
    read: (after: string | undefined, limit: number) =>
      Promise.resolve(rows.filter(({ number }) => number > Number(after ?? 0)).slice(0, limit)),
    key: ({ number }: { readonly number: number }) => String(number),
    show: (row: (typeof rows)[number]) => row,
    pieceRows: 2,
  };
}

const ROWS = [1, 2, 3, 4, 5].map((number) => ({ number, price: number * 10 }));
const compare = (other: Parameters<typeof listOf>[0]) => findRow("trades", listOf(ROWS), listOf(other), () => {});

Deno.test("the first row that differs is named with its number and field", async () => {
  expect(await compare(ROWS)).toBe(null);
  const changed = ROWS.map((row) => row.number >= 4 ? { ...row, price: null } : row);
  expect(await compare(changed)).toEqual({ in: "trades", number: 4, field: "price", value: 40, other: null });
});

Deno.test("a list that ends sooner differs at the first row that it lacks", async () => {
  for (const count of [0, 1, 2, 3, 4]) {
    const found = await compare(ROWS.slice(0, count));
    expect(found).toEqual({ in: "trades", number: count + 1, field: "number", value: count + 1, other: null });
    const turned = await findRow("orders", listOf(ROWS.slice(0, count)), listOf(ROWS), () => {});
    expect(turned).toEqual({ in: "orders", number: count + 1, field: "number", value: null, other: count + 1 });
  }
});

databaseTest("the comparisons of one request read a bounded number of trades and orders", async ({ db }) => {
  await addUser(db, "ann");
  const [id, other] = [
    await addCompleted(db, { trades: tradeColumns(9) }),
    await addCompleted(db, { trades: tradeColumns(9) }),
  ];
  const answer = new AnswerBudget();
  const context = strangerContext(db, {
    answer,
    user: { id: "ann", email: "ann@example.com", name: "ann", role: "user" },
    session: { id: "one", expiresAt: new Date(Date.now() + 60_000), scope: null },
  });
  const api = createCallerFactory(router(verificationProcedures))(context);
  // Nine trades and an order of each are 20 rows, which count as 100 of 4,000,000 candles.
  answer.takeCandles(4_000_000 - 101);
  for (let call = 0; call < 2; call++) {
    expect(await api.differences({ id, other })).toMatchObject({ equal: true, difference: null });
  }
  await expect(api.differences({ id, other })).rejects.toMatchObject({ appCode: "RANGE_TOO_LARGE" });
  context.rowsWorker.close();
});
