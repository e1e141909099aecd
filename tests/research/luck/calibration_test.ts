import { expect } from "@std/expect";
import { EDGES, measureRate, NOISE } from "./calibration.ts";

const named = (word: string) => [...NOISE, ...EDGES].filter(({ name }) => name.includes(word));

Deno.test("of noise, few of the best trials are called beyond luck", () => {
  // At a rate of 5 %, more than 5 of 50 come in one of 26 runs; the seeds are always the same. `deno task calibrate` measures more.
  let beyond = 0;
  for (const each of NOISE) {
    const sets = each.name.includes("1,500") ? 2 : 12;
    beyond += sets * measureRate(each, sets);
  }
  expect(beyond).toBeLessThanOrEqual(5);
});

Deno.test("of edges with a Sharpe ratio of 3, most are called beyond luck", () => {
  for (const each of named("Sharpe 3")) {
    const rate = measureRate(each, 20);
    expect(`${each.name}: ${rate >= 0.9 ? "found" : rate}`).toBe(`${each.name}: found`);
  }
});
