import { expect } from "@std/expect";
import { NumberedList } from "../../engine/numbered_list.ts";

Deno.test("the rest of a list stays in order and is found by number, whichever item is removed", () => {
  const list = new NumberedList(() => ({ number: -1 }));
  const expected: number[] = [];
  let state = 1;
  for (let number = 0; number < 3000; number++) {
    list.append().number = number;
    expected.push(number);
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    // The oldest, the youngest or any other, sometimes several in a row.
    for (let more = state >>> 29; more > 3 && expected.length > 0; more--) {
      const row = [0, expected.length - 1, state % expected.length][more % 3]!;
      list.remove(list.at(row));
      const [gone] = expected.splice(row, 1);
      expect(list.find(gone!)).toBeNull();
    }
    expect(list.count).toBe(expected.length);
  }
  expect(Array.from({ length: list.count }, (_, row) => list.at(row).number)).toEqual(expected);
  expect(expected.map((number) => list.find(number)?.number)).toEqual(expected);
  const rows = Array.from({ length: 3001 }, (_, number) => list.rowFrom(number));
  expect(rows).toEqual(rows.map((_, number) => expected.filter((one) => one < number).length));
});

Deno.test("removed items are reused", () => {
  let made = 0;
  const list = new NumberedList(() => ({ number: made++ }));
  const first = list.append();
  list.remove(first);
  expect(list.append()).toBe(first);
  expect(made).toBe(1);
});
