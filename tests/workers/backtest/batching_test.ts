import { expect } from "@std/expect";
import { Batcher, InFlight } from "../../../workers/backtest/batching.ts";

/** A batcher that doubles numbers, refuses batches with 13 in them, and keeps what it was asked. */
function doubler(itemsMax: number) {
  const batches: number[][] = [];
  const batcher = new Batcher<number, number>((items) => {
    batches.push([...items]);
    if (items.includes(13)) return Promise.reject(new Error("13"));
    return Promise.resolve(items.map((item) => 2 * item));
  }, itemsMax);
  return { batches, batcher };
}

Deno.test("calls of one turn are done together, each with its own answer", async () => {
  const { batches, batcher } = doubler(10);
  expect(await Promise.all([1, 2, 3].map((item) => batcher.add(item)))).toEqual([2, 4, 6]);
  expect(await batcher.add(4)).toBe(8);
  expect(batches).toEqual([[1, 2, 3], [4]]);
});

Deno.test("a batch holds no more than it may", async () => {
  const { batches, batcher } = doubler(2);
  await Promise.all([1, 2, 3].map((item) => batcher.add(item)));
  expect(batches).toEqual([[1, 2], [3]]);
});

Deno.test("one bad item fails alone", async () => {
  const { batches, batcher } = doubler(10);
  const answers = await Promise.allSettled([1, 13, 3].map((item) => batcher.add(item)));
  expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(batches).toEqual([[1, 13, 3], [1], [13], [3]]);
});

Deno.test("who asks for the same at the same time shares an answer, who asks later gets a new one", async () => {
  const inFlight = new InFlight<number>();
  let made = 0;
  const make = () => Promise.resolve(++made);
  expect(await Promise.all([inFlight.get("a", make), inFlight.get("a", make), inFlight.get("b", make)])).toEqual([
    1,
    1,
    2,
  ]);
  expect(await inFlight.get("a", make)).toBe(3);
  await expect(inFlight.get("c", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await inFlight.get("c", make)).toBe(4);
});
