/** Spaces that vary settings of execution. */
import { expect } from "@std/expect";
import type { TestClient } from "../support/client.ts";
import { finishOptimization, OPTIMIZATION, submitOptimization } from "../support/optimizations.ts";
import { backtestDays } from "../support/walk_forward.ts";

const { start_date, end_date } = OPTIMIZATION;
const DATES = { start_date, end_date };

/** Each trial of such a space is the backtest with its settings. */
export async function varyExecution(user: TestClient): Promise<void> {
  const space = {
    fast: { values: [5, 10] },
    "execution.commission": { values: [0, 0.001] },
    "execution.delay": { values: [0, 1] },
  };
  const common = { timeframe: "1h", slow: 20, execution: { slippage: { bps: 1 }, spread: 0.0001 } };
  const varied = await finishOptimization(user, await submitOptimization(user, { space, parameters: common }));
  expect([varied.at("/optimization/status"), varied.at("/optimization/trials/done")]).toEqual(["completed", 8]);
  const path = `/api/optimizations/${varied.at("/optimization/id")}`;
  for (const trial of (await user.get(`${path}/trials`)).list("/trials").map(Object)) {
    const { fast, "execution.commission": commission, "execution.delay": delay } = trial.parameters;
    const execution = { ...common.execution, commission, delay };
    const { metrics } = await backtestDays(user, { parameters: { ...common, fast, execution }, ...DATES });
    expect([trial.parameters, trial.metrics]).toEqual([trial.parameters, metrics]);
  }
  const made = await user.send("POST", `${path}/trials/8/backtest`);
  expect(made.status).toBe(202);
  expect(made.at("/backtest/parameters")).toMatchObject({
    fast: 10,
    execution: { delay: 1, commission: { rate: 0.001 }, slippage: { bps: 1 } },
  });
  const refusals: readonly (readonly [object, string])[] = [
    [{ space: { "execution.comission": { values: [0] } } }, "execution.commission"],
    [{ space: { "execution.commission": { values: [0.6] } } }, "must be at most 0.5"],
    [{ space, walk_forward: { train_days: 14, test_days: 7, carry: true } }, "one account has one execution"],
  ];
  for (const [change, message] of refusals) {
    const refused = await user.send("POST", "/api/optimizations", { optimization: { ...OPTIMIZATION, ...change } });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(message)]);
  }
}
