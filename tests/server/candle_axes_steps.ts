/** Spaces that vary the dates and the timeframe of their trials. */
import { expect } from "@std/expect";
import type { TestClient } from "../support/client.ts";
import { finishOptimization, OPTIMIZATION, submitOptimization } from "../support/optimizations.ts";
import { backtestDays } from "../support/walk_forward.ts";

const SCRIPT = {
  type: "script",
  source: `strategy(({ every }) => ({
    decide(i, candles, account, orders) {
      if (account.quantity !== 0 && i % every === 0) orders.close();
      else if (account.quantity === 0) orders.buy();
    },
  }));`,
};
const SPACE = {
  start_date: { values: ["2024-01-01", "2024-01-10"] },
  end_date: { values: ["2024-02-01", "2024-01-25"] },
  timeframe: { values: ["1h", "4h"] },
};

/** Each trial of such a space is the backtest over its dates and its timeframe. */
export async function varyCandles(user: TestClient): Promise<void> {
  const common = { slow: 20, execution: { commission: 0.0005 } };
  const space = { fast: { values: [5, 10] }, ...SPACE };
  const ended = await finishOptimization(user, await submitOptimization(user, { space, parameters: common }));
  expect(ended.at("/optimization")).toMatchObject({
    status: "completed",
    trials: { done: 16, failed: 0 },
    space: SPACE,
    markets: null,
    // One calendar has the days of all trials.
    luck: { days: 31 },
  });
  const path = `/api/optimizations/${ended.at("/optimization/id")}`;
  const trials = (await user.get(`${path}/trials`)).list("/trials").map(Object);
  expect(new Set(trials.map(({ parameters }) => JSON.stringify(parameters))).size).toBe(16);
  for (const { parameters: { start_date, end_date, timeframe, fast }, metrics } of trials) {
    const backtest = await backtestDays(user, { parameters: { ...common, timeframe, fast }, start_date, end_date });
    expect([timeframe, start_date, end_date, metrics]).toEqual([timeframe, start_date, end_date, backtest.metrics]);
  }
  const surface = await user.get(`${path}/surface?x=start_date&y=timeframe`);
  expect(surface.at("/surface/x/values")).toEqual(SPACE.start_date.values);
  await trialAsBacktest(user, path, trials);
  await varyOfScript(user);
  await refuseOthers(user);
}

/** A trial that is submitted as a backtest is the same try. */
async function trialAsBacktest(user: TestClient, path: string, trials: readonly ReturnType<typeof Object>[]) {
  const last = trials.at(-1)!;
  const made = await user.send("POST", `${path}/trials/${last.number}/backtest`);
  const { timeframe, start_date, end_date, fast } = last.parameters;
  expect(made.at("/backtest")).toMatchObject({ start_date, end_date, parameters: { timeframe, fast } });
  const done = await user.finish(made.at("/backtest/id"));
  expect(done.at("/backtest/result/metrics")).toEqual(last.metrics);
}

/** Checks the same for users' code, whose processes hold the candles of one range each. */
async function varyOfScript(user: TestClient): Promise<void> {
  const parameters = { runtime: SCRIPT };
  const space = {
    ...SPACE,
    every: { values: [3, 7] },
    "execution.commission": { values: [0, 0.001] },
    "execution.delay": { values: [0, 1] },
  };
  const id = await submitOptimization(user, { strategy: "own", space, parameters });
  const ended = await finishOptimization(user, id);
  expect(ended.at("/optimization")).toMatchObject({ status: "completed", trials: { done: 64, failed: 0 } });
  const trials = (await user.get(`/api/optimizations/${id}/trials`)).list("/trials").map(Object);
  expect(new Set(trials.map(({ metrics }) => JSON.stringify(metrics))).size).toBeGreaterThan(32);
  for (const number of [1, 22, 43, 64]) {
    const made = await user.send("POST", `/api/optimizations/${id}/trials/${number}/backtest`);
    const done = await user.finish(made.at("/backtest/id"));
    expect([number, done.at("/backtest/result/metrics")]).toEqual([number, trials[number - 1]!.metrics]);
  }
}

async function refuseOthers(user: TestClient): Promise<void> {
  const dates = (...values: string[]) => ({ space: { start_date: { values } } });
  const instruments = [{ symbol: "DEMO", exchange: "SAMPLE" }];
  const refusals: readonly (readonly [object, string])[] = [
    [dates("2023-12-31"), "/optimization/space/start_date/values/0 must not be before start_date 2024-01-01"],
    [dates("2024-02-01"), "must be before every end, 2024-02-01, not 2024-02-01"],
    [dates("2024-01-32"), "must be a calendar date YYYY-MM-DD"],
    [dates("2024-01-02", "2024-01-02"), 'names "2024-01-02" twice'],
    [{ space: { end_date: { values: ["2024-02-02"] } } }, "must not be after end_date 2024-02-01"],
    [{ space: { end_date: { min: 1, max: 2 } } }, 'must be {"values": […]}'],
    [{ space: { timeframe: { values: ["1h"] } } }, "is fixed in parameters"],
    [{ space: { timeframe: { values: ["1g"] } }, parameters: {} }, "must be one of MINUTE"],
    [{ ...dates("2024-01-02"), method: "tpe" }, "cannot vary with the method tpe"],
    [{ ...dates("2024-01-02"), markets: { instruments } }, "cannot vary beside markets"],
    [{ ...dates("2024-01-02"), walk_forward: { train_days: 14, test_days: 7 } }, "cannot vary beside walk_forward"],
    [
      { ...dates("2024-01-02", "2024-01-03"), method: "random", trials_max: 1 },
      "must be at least 2, one trial for each date and timeframe",
    ],
  ];
  for (const [change, message] of refusals) {
    const refused = await user.send("POST", "/api/optimizations", { optimization: { ...OPTIMIZATION, ...change } });
    expect([refused.status, refused.at("/error/message")]).toEqual([400, expect.stringContaining(message)]);
  }
}
