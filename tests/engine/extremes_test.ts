import { expect } from "@std/expect";
import { Extremes } from "../../engine/extremes.ts";
import { walk } from "./indicators/prices.ts";

Deno.test("the extremes of any stretch are its highest high and its lowest low, however much was read before", () => {
  const lows = walk(20_000);
  const highs = lows.map((price, i) => price + i % 3);
  const extremes = new Extremes(highs, lows);
  let state = 1;
  const below = (limit: number) => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) % limit;
  // Short stretches, and long ones that use blocks and blocks of blocks.
  for (let n = 0; n < 600; n++) {
    const from = below(lows.length);
    const to = Math.min(lows.length - 1, from + below([3, 300, 20_000][n % 3]!));
    let [highest, lowest] = [-Infinity, Infinity];
    for (let i = from; i <= to; i++) {
      highest = Math.max(highest, highs[i]!);
      lowest = Math.min(lowest, lows[i]!);
    }
    extremes.begin(-Infinity, Infinity);
    extremes.addCandles(from, to);
    expect([from, to, extremes.high, extremes.low]).toEqual([from, to, highest, lowest]);
  }
  extremes.begin(3, 3);
  extremes.addCandles(5, 4);
  expect([extremes.high, extremes.low]).toEqual([3, 3]);
  extremes.add(4, 2);
  expect([extremes.high, extremes.low]).toEqual([4, 2]);
});
