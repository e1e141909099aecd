import { expect } from "@std/expect";
import type { TrialRows } from "../../../db/trial_chunks.ts";
import { AnswerBudget } from "../../../routers/common/answer_budget.ts";
import { readInTurns } from "../../../routers/common/large_reads.ts";
import { RisingTrials } from "../../../routers/optimizations/trial_lists.ts";
import { readList } from "../../../routers/common/paging.ts";
import { UserTurns } from "../../../routers/common/user_turns.ts";

const ANN = { id: "ann", name: "Ann", email: "ann@example.com", role: "user" } as const;
const PIECES = 3;

Deno.test("of thirty downloads of a user, two read a piece at a time, and all of them end", async () => {
  const userTurns = new UserTurns();
  let [reading, most] = [0, 0];
  const download = async () => {
    const list = readInTurns({ userTurns, user: ANN }, {
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

Deno.test("a download of trials reads each chunk once, whatever its pieces, and again where it begins elsewhere", async () => {
  const notes = { errors: [], undefined: [], times: null };
  const chunks: TrialRows[] = [[0, 1, 3], [5, 6], [8]].map((places) => ({
    first: places[0]!,
    count: places.length,
    columns: { place: Float64Array.from(places) },
    notes,
  }));
  let read = 0;
  const trials = new RisingTrials(async function* (from) {
    for (const chunk of chunks) {
      if (chunk.columns.place!.at(-1)! < from) continue;
      read++;
      yield chunk;
    }
  });
  const placesOf = async (first: number, count: number) => (await trials.read(first, count)).map(({ place }) => place);
  expect(await placesOf(0, 2)).toEqual([0, 1]);
  expect(await placesOf(2, 2)).toEqual([3, 5]);
  expect(await placesOf(6, 2)).toEqual([6, 8]);
  expect(await placesOf(9, 2)).toEqual([]);
  expect(read).toBe(3);
  expect(await placesOf(6, 1)).toEqual([6]);
  expect(read).toBe(4);
});
