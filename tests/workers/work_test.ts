import { expect } from "@std/expect";
import { refillAtHalf } from "../../workers/work.ts";

Deno.test("backtests held in advance are taken again when half of them are over, and others as soon as one is", () => {
  const places = (wanted: number, held: number) => refillAtHalf({ wanted, held, backtestsMax: 2 });
  expect([places(32, 0), places(32, 16)]).toEqual([32, 32]);
  expect([places(32, 17), places(32, 31)]).toEqual([17, 31]);
  expect([places(2, 0), places(2, 1), places(2, 2)]).toEqual([2, 2, 2]);
  // Jobs were once held in advance, until one took long.
  expect(places(2, 20)).toBe(2);
});
