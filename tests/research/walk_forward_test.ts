import { expect } from "@std/expect";
import { countWindows, listWindows, stitchWindows } from "../../research/walk_forward.ts";

const YEAR = { startDate: "2024-01-01", endDate: "2025-01-01" };
const WALK = { trainDays: 180, testDays: 90, stepDays: 90, anchored: false };
const RATES = { initialBalance: 100, periodsPerYear: 2, riskFreeRate: 0 };

Deno.test("windows have whole tests inside the range", () => {
  // 366 days: the second test ends on day 360, and a third one on day 450.
  expect(listWindows(YEAR, WALK)).toEqual([
    { trainStart: "2024-01-01", trainEnd: "2024-06-29", testEnd: "2024-09-27" },
    { trainStart: "2024-03-31", trainEnd: "2024-09-27", testEnd: "2024-12-26" },
  ]);
  expect(listWindows(YEAR, { ...WALK, anchored: true })[1]?.trainStart).toBe("2024-01-01");
  expect(countWindows(YEAR, { ...WALK, trainDays: 276 })).toBe(1);
  expect(countWindows(YEAR, { ...WALK, trainDays: 277 })).toBe(0);
});

Deno.test("the stitched account earns the returns of all tests one after the other", () => {
  const traded = [
    // 2 and 3 January 1970, then a day of rest.
    { returns: Float64Array.of(0.5, -0.2), dates: [1, 2], trainAnnualReturn: 0.44 },
    { returns: Float64Array.of(0.1, 0), dates: [4, 5], trainAnnualReturn: 0 },
  ];
  const found = stitchWindows(traded, RATES);
  // 100, 150, 120, 132, 132: two years of two days. In sample: root of 1.44 x 1.
  expect(found.equity.map(({ equity }) => equity)).toEqual([100, 150, 120, 132, 132].map((each) => near(each)));
  expect(found.equity.map(({ date }) => Number(date?.slice(-2)))).toEqual([1, 2, 3, 5, 6]);
  expect(found).toMatchObject({
    windows: 2,
    days: 4,
    total_return: near(0.32),
    annual_return: near(Math.sqrt(1.32) - 1),
    max_drawdown: near(0.2),
    in_sample_annual_return: near(0.2),
    efficiency: near((Math.sqrt(1.32) - 1) / 0.2),
    undefined_figures: {},
  });
});

Deno.test("figures that cannot be computed are null with a reason", () => {
  const none = stitchWindows([], RATES);
  expect(none).toMatchObject({ days: 0, final_equity: 100, total_return: 0, annual_return: null, efficiency: null });
  expect(none.undefined_figures).toMatchObject({ annual_return: "no test window has traded" });
  const losing = stitchWindows(
    [{ returns: Float64Array.of(0.1, 0.2), dates: null, trainAnnualReturn: -0.1 }],
    RATES,
  );
  expect(losing.equity.map(({ date }) => date)).toEqual([null, null, null]);
  expect(losing.efficiency).toBe(null);
  expect(losing.undefined_figures.efficiency).toMatch(/in sample is not above 0/);
  // A ruined account does not rise again.
  const ruined = stitchWindows([
    { returns: Float64Array.of(0.1, -1), dates: [1, 2], trainAnnualReturn: 0.1 },
    { returns: Float64Array.of(0.5), dates: [3], trainAnnualReturn: 0.1 },
  ], RATES);
  expect(ruined).toMatchObject({ days: 2, final_equity: 0, total_return: -1, annual_return: null, max_drawdown: 1 });
  expect(ruined.undefined_figures.annual_return).toBe("equity reached zero");
});

Deno.test("a long account is thinned to 500 points, the first and the last among them", () => {
  const { equity } = stitchWindows([{
    returns: new Float64Array(2000).fill(0.001),
    dates: Array.from({ length: 2000 }, (_, i) => i + 1),
    trainAnnualReturn: 0.1,
  }], RATES);
  expect([equity.length, equity[0], equity.at(-1)?.day]).toEqual([500, expect.objectContaining({ day: 0 }), 2000]);
  for (const { day, date } of equity) expect(Date.parse(date!) / 86_400_000).toBe(day);
});

const near = (value: number) => expect.closeTo(value, 12);

Deno.test("days are left out between a training and its test", () => {
  const walk = { ...WALK, purgeDays: 10 };
  expect(listWindows(YEAR, walk)[0]).toEqual({
    trainStart: "2024-01-01",
    trainEnd: "2024-06-29",
    testStart: "2024-07-09",
    testEnd: "2024-10-07",
  });
  expect(countWindows(YEAR, { ...walk, trainDays: 266 })).toBe(1);
  expect(countWindows(YEAR, { ...walk, trainDays: 267 })).toBe(0);
});
