/** The form's walk-forward windows against the service's. */
import { expect } from "@std/expect";
import { countWindows, listWindows } from "../../research/walk_forward.ts";
import { NO_WALK, planWalk, toWalkForward } from "../../web/src/pages/optimize/walk_form.ts";

const START = "2024-01-01";

Deno.test("the form makes the service's windows of each range, and suggests some where there are two days", () => {
  for (
    const [end, rangeDays] of [["2024-01-03", 2], ["2024-01-08", 7], ["2024-03-05", 64], ["2027-01-01", 1096]] as const
  ) {
    const range = { startDate: START, endDate: end };
    for (const [train, test, step] of [["", "", ""], ["1", "1", ""], ["3", "2", "4"], ["40", "24", "30"]] as const) {
      const walk = { ...NO_WALK, trainDays: train, testDays: test, stepDays: step };
      const plan = planWalk(walk, { start: START, end });
      const { trainDays, testDays, stepDays } = plan.days;
      const isPossible = trainDays + testDays <= rangeDays;
      expect([end, Object.keys(plan.faults)]).toEqual([end, isPossible ? [] : ["trainDays"]]);
      if (train === "") expect(isPossible).toBe(true);
      const own = { trainDays, testDays, stepDays, anchored: false };
      const windows = listWindows(range, own);
      expect([plan.windows, plan.firstTest, plan.lastTestEnd]).toEqual([
        countWindows(range, own),
        windows[0]?.trainEnd ?? null,
        windows.at(-1)?.testEnd ?? null,
      ]);
    }
  }
});

Deno.test("the form suggests six windows for a year, each test a tenth of it", () => {
  const plan = planWalk(NO_WALK, { start: START, end: "2025-01-01" });
  expect([plan.days, plan.windows]).toEqual([{ trainDays: 144, testDays: 36, stepDays: 36 }, 6]);
  expect(toWalkForward(NO_WALK, plan)).toEqual({ train_days: 144, test_days: 36, step_days: 36, anchored: false });
});

Deno.test("the form says at its field why there is no window", () => {
  const faultsOf = (change: object, end = "2024-01-31") =>
    planWalk({ ...NO_WALK, ...change }, { start: START, end }).faults;
  expect(faultsOf({ trainDays: "20", testDays: "11" })).toEqual({
    trainDays: "Training and test need 31 days, and the range has 30",
  });
  expect(faultsOf({ trainDays: "10", testDays: "5", stepDays: "4" })).toEqual({
    stepDays: "Enter 5 or more: tests would overlap",
  });
  for (const typed of ["0", "-3", "1.5", "ten"]) {
    expect(faultsOf({ testDays: typed })).toMatchObject({ testDays: "Enter a whole number, 1 or more" });
  }
  expect(Object.keys(faultsOf({}, ""))).toEqual(["trainDays"]);
});
