/** The luck of scans: trials of markets that trade on different days, on noise and where one market has an edge. */
import { expect } from "@std/expect";
import { measureLuck } from "../../research/overfitting.ts";
import { Random } from "../../research/numbers/random_numbers.ts";
import { joinDays } from "../../research/joined_days.ts";

const DAYS = 360;
const MARKETS = 12;
const POINTS = 8;
const SETS = 40;

/** Days since 1970 of a market: each day, or five of seven. */
function daysOf(market: number): number[] {
  const all = Array.from({ length: DAYS }, (_, i) => 19_000 + i);
  return market % 3 === 0 ? all : all.filter((day) => day % 7 < 5);
}

/** The luck of a scan whose markets share a part of each day, and whose points share a part of their market's. */
function judge(seed: number, edge: number) {
  const random = new Random(seed);
  const markets = new Map(Array.from({ length: MARKETS }, (_, market) => [market, daysOf(market)] as const));
  const calendar = joinDays(markets);
  const common = Float64Array.from(calendar.days, () => random.normal());
  const returns = [...markets].flatMap(([market, days]) => {
    const own = days.map((day) => 0.5 * common[day - 19_000]! + 0.8 * random.normal());
    return Array.from({ length: POINTS }, () => {
      // As the trials of a slice are: on the days of their market alone.
      const trial = Float64Array.from(own, (each) => {
        return 0.01 *
          ((0.7 * each + 0.7 * random.normal()) * (random.normal() < 0 ? -1 : 1) + (market === 5 ? edge : 0));
      });
      const column = new Float64Array(calendar.days.length);
      calendar.place(market, trial, column);
      return column;
    });
  });
  const totals = returns.map((column) => {
    const mean = column.reduce((sum, each) => sum + each) / column.length;
    return mean / Math.sqrt(column.reduce((sum, each) => sum + (each - mean) ** 2, 0));
  });
  const best = totals.indexOf(Math.max(...totals));
  const { luck } = measureLuck({
    ...{ trials: returns.length, objective: "sharpe", direction: "max", returns, best, trades: 100 },
    ...{
      numbers: returns.map((_, i) => i + 1),
      benchmark: null,
      periodsPerYear: 365,
      riskFreeRate: 0,
      plateau: 1,
      seed,
    },
  });
  return { verdict: luck.verdict, market: Math.floor(best / POINTS) };
}

Deno.test("the best trial of a scan of noise is called luck, and one with an edge is not", () => {
  const noise = Array.from({ length: SETS }, (_, seed) => judge(seed + 1, 0));
  // A level of 5 % allows 2 of 40; 6 or more would be improbable (1 %).
  expect(noise.filter(({ verdict }) => verdict === "beyond_luck").length).toBeLessThan(6);
  const planted = Array.from({ length: SETS }, (_, seed) => judge(seed + 1, 0.45));
  expect(planted.filter(({ verdict }) => verdict === "beyond_luck").length).toBeGreaterThan(36);
  expect(planted.filter(({ market }) => market === 5).length).toBe(SETS);
});

Deno.test("returns stand on the days of their market, and a holding's on the next of these days", () => {
  const calendar = joinDays(new Map([[0, [10, 11, 14]], [1, [11, 12]]]));
  expect(calendar.days).toEqual([10, 11, 12, 14]);
  const column = new Float64Array(4);
  calendar.place(0, Float64Array.of(0.1, 0.2, 0.3), column);
  expect([...column]).toEqual([0.1, 0.2, 0, 0.3]);
  // Day 13 is none of them: 2 % and 3 % make 5.06 % on day 14. Day 15 is behind them.
  const aligned = calendar.align({ days: [10, 13, 14, 15], returns: Float64Array.of(0.01, 0.02, 0.03, 0.04) });
  expect([...aligned]).toEqual([expect.closeTo(0.01, 12), 0, 0, expect.closeTo(0.0506, 12)]);
});
