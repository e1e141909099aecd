import { expect } from "@std/expect";
import { estimateSharpe, expectedBest, probabilisticSharpe } from "../../research/sharpe.ts";
import { type Answer, TestClient } from "./client.ts";

const STARTED = 202;

/**
 * Checks what a completed backtest says of the tries that it is one of, and that nothing else says it.
 *
 * @param expected The tries; the trial whose settings the backtest has is among them.
 * @param independent As how many independent ones they count.
 */
export async function checkRunTrials(
  user: TestClient,
  backtest: Answer,
  expected: { readonly backtests: number; readonly optimization_trials: number },
  independent: number,
): Promise<void> {
  const path = `/api/backtests/${backtest.at("/backtest/id")}`;
  const returns = (await user.get(`${path}/returns?period=daily`)).list("/returns").map((each) => Object(each).return);
  const estimate = estimateSharpe(Float64Array.from(returns), 0);
  if ("reason" in estimate) throw new Error(estimate.reason);
  // Ratios without skill over as many days vary by chance alone.
  const threshold = expectedBest(independent, 1 / (returns.length - 1));
  expect((await user.get(path)).at("/backtest/trials")).toEqual({
    ...expected,
    // The run is one of the trials, whose returns were compared.
    independent_tries: independent,
    assumed_tries: 0,
    other_tries: 0,
    deflated_sharpe: expect.closeTo(Number(probabilisticSharpe(estimate, threshold)), 8),
    deflated_sharpe_among_all: expect.closeTo(Number(probabilisticSharpe(estimate, threshold)), 8),
    undefined_figures: {},
    conclusion: expect.stringMatching(/^(One of|The first try) /),
  });
  // Neither on the way to a result nor in lists, nor in a report that others may see.
  const others = ["/events", "/report", "?wait=1"].map((rest) => path + rest);
  for (const other of [...others, "/api/backtests", "/api/backtests?view=summary"]) {
    const response = await fetch(user.url + other, { headers: { cookie: user.cookie } });
    const text = await response.text();
    expect([other, response.ok || response.status === 503, text.includes("optimization_trials")]).toEqual([
      other,
      true,
      false,
    ]);
  }
  await checkOwn(user, backtest);
}

/** Somebody else's run of the same settings is their first. */
async function checkOwn({ url }: TestClient, backtest: Answer): Promise<void> {
  const other = new TestClient(url);
  await other.signUp();
  const { symbol, exchange, strategy, start_date, end_date, initial_balance, parameters } = Object(
    backtest.at("/backtest"),
  );
  const request = { symbol, exchange, strategy, start_date, end_date, initial_balance, parameters };
  const started = await other.send("POST", "/api/backtests", { backtest: request });
  expect([started.status, started.at("/backtest/trials")]).toEqual([STARTED, undefined]);
  const own = await other.finish(started.at("/backtest/id"));
  expect(own.at("/backtest/trials")).toEqual({
    backtests: 1,
    optimization_trials: 0,
    independent_tries: 1,
    assumed_tries: 0,
    other_tries: 0,
    deflated_sharpe: expect.closeTo(Number(own.at("/backtest/result/metrics/probabilistic_sharpe")), 12),
    deflated_sharpe_among_all: expect.closeTo(Number(own.at("/backtest/result/metrics/probabilistic_sharpe")), 12),
    undefined_figures: {},
    conclusion: expect.stringMatching(/^(One of|The first try) /),
  });
}
