import { expect } from "@std/expect";
import { findRow } from "../../routers/backtest_verification.ts";

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
const compare = (other: Parameters<typeof listOf>[0]) => findRow("trades", listOf(ROWS), listOf(other));

Deno.test("the first row that differs is named with its number and field", async () => {
  expect(await compare(ROWS)).toBe(null);
  const changed = ROWS.map((row) => row.number >= 4 ? { ...row, price: null } : row);
  expect(await compare(changed)).toEqual({ in: "trades", number: 4, field: "price", value: 40, other: null });
});

Deno.test("a list that ends sooner differs at the first row that it lacks", async () => {
  for (const count of [0, 1, 2, 3, 4]) {
    const found = await compare(ROWS.slice(0, count));
    expect(found).toEqual({ in: "trades", number: count + 1, field: "number", value: count + 1, other: null });
    const turned = await findRow("orders", listOf(ROWS.slice(0, count)), listOf(ROWS));
    expect(turned).toEqual({ in: "orders", number: count + 1, field: "number", value: null, other: count + 1 });
  }
});
