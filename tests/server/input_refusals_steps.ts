import { expect } from "@std/expect";
import type { TestClient } from "../support/client.ts";
import { inline, INPUTS, READER, REQUEST, run } from "../support/input_runs.ts";

/** Requests for inputs that nobody has. */
export async function refusals(user: TestClient): Promise<void> {
  const rows: readonly (readonly [inputs: unknown, path: string, message: RegExp])[] = [
    [{ vix: { symbol: "SPQ", exchange: "ARCA" } }, "/vix/symbol", /not SPQ of ARCA: did you mean SPY\?/],
    [{ vix: { exchange: "LAV" } }, "/vix/exchange", /not AAA of LAV: did you mean LAB\?/],
    [{ daily: { timeframe: "1dd" } }, "/daily/timeframe", /must be one of .* not "1dd"/],
    [{ daily: {} }, "/daily", /needs a timeframe, a symbol or an exchange/],
    [{ daily: { timeframes: "1d" } }, "/daily/timeframes", /timeframe/],
    [{ "my day": { timeframe: "1d" } }, "", /must have names of letters, .* not "my day"/],
    [
      Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`in${n}`, { timeframe: "1d" }])),
      "",
      /must name at most 16 inputs, not 17/,
    ],
    [[{ timeframe: "1d" }], "", /./],
    ["daily", "", /./],
    [{ daily: { timeframe: 1 } }, "/daily/timeframe", /./],
  ];
  for (const [inputs, path, message] of rows) {
    const backtest = { ...REQUEST, strategy: "mine", parameters: { timeframe: "1h", inputs, runtime: inline(READER) } };
    const answer = await user.send("POST", "/api/backtests", { backtest });
    const issue = Object(answer.list("/error/issues")[0]);
    expect([inputs, answer.status, issue.path]).toEqual([inputs, 400, `/backtest/parameters/inputs${path}`]);
    expect(issue.message).toMatch(message);
  }
  // A year of minutes is more than a run may read, whatever its own candles.
  const backtest = {
    ...REQUEST,
    ...{ strategy: "mine", start_date: "2010-01-01", end_date: "2024-02-01" },
    parameters: { timeframe: "1d", inputs: { fine: { timeframe: "1m" } }, runtime: inline(READER) },
  };
  const answer = await user.send("POST", "/api/backtests", { backtest });
  expect([answer.status, answer.at("/error/code")]).toEqual([400, "RANGE_TOO_LARGE"]);
  expect(answer.at("/error/message")).toMatch(/with \d+ of inputs/);
}

/** Runs whose strategy reads what is not there. */
export async function missing(user: TestClient): Promise<void> {
  const source = "strategy(() => ({ decide(i, { inputs }) { plot('x', inputs.weekly.close[i]); } }));";
  const record = await run(user, { inputs: { daily: { timeframe: "1d" } }, runtime: inline(source) });
  expect(record.error).toMatchObject({
    code: "STRATEGY_FAILED",
    message: expect.stringContaining("the run has no input weekly: it has daily; parameters.inputs names them"),
  });
  const none = await run(user, { inputs: { months: { timeframe: "1m" } }, runtime: inline(source) });
  expect(none.error).toMatchObject({
    code: "NO_DATA",
    message: expect.stringContaining("Cannot load the input months"),
  });
}

/** Strategies and studies without inputs. */
export async function refusedKinds(user: TestClient): Promise<void> {
  const inputs = { daily: { timeframe: "1d" } };
  const builtin = await user.send("POST", "/api/backtests", {
    backtest: { ...REQUEST, parameters: { timeframe: "1h", inputs } },
  });
  expect([builtin.status, builtin.at("/error/message")]).toEqual([
    400,
    expect.stringMatching(/a built-in strategy reads/),
  ]);
  const record = await run(user, { inputs: INPUTS, runtime: inline(READER) });
  const paths = await user.send("POST", "/api/monte-carlo", {
    monte_carlo: { backtest_id: record.id, method: "candles", runs: 10 },
  });
  expect([paths.status, paths.text]).toEqual([400, expect.stringMatching(/do not move with a path of candles/)]);
}
