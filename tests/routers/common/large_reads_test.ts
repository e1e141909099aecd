import { expect } from "@std/expect";
import { AnswerBudget } from "../../../routers/common/answer_budget.ts";
import { readInTurns } from "../../../routers/common/large_reads.ts";
import { readList } from "../../../routers/common/paging.ts";
import { UserTurns } from "../../../routers/common/user_turns.ts";

const ANN = { id: "ann", name: "Ann", email: "ann@example.com", role: "user" } as const;
const PIECES = 3;

Deno.test("of thirty downloads of a user, two read a piece at a time, and all of them end", async () => {
  const userTurns = new UserTurns();
  let [reading, most] = [0, 0];
  const download = async () => {
    const list = readInTurns({ userTurns, user: ANN, link: null }, {
      read: async (after, limit) => {
        most = Math.max(most, ++reading);
        await new Promise((resume) => setTimeout(resume));
        reading--;
        const first = Number(after ?? 0);
        return Array.from({ length: Math.min(limit, 2 * PIECES - first) }, (_, i) => first + i + 1);
      },
      key: String,
      show: (row: number) => ({ row }),
      pieceRows: 2,
    });
    const rows: number[] = [];
    const pages = readList(list, { limit: undefined, after: undefined }, new AnswerBudget());
    for await (const { items } of pages) rows.push(...items.map(({ row }) => row));
    return rows;
  };
  const downloads = await Promise.all(Array.from({ length: 30 }, download));
  expect(downloads).toEqual(Array(30).fill([1, 2, 3, 4, 5, 6]));
  expect(most).toBe(2);
});
