import type { TestClient } from "./client.ts";
import { OPTIMIZATION } from "./optimizations.ts";

/** A backtest of the optimizations' strategy, or another, over some dates, once it has ended: its metrics and its equity by day. */
export async function backtestDays(
  user: TestClient,
  { parameters, ...change }: { parameters: object; start_date: string; end_date: string; strategy?: string },
) {
  const { space: _space, parameters: fixed, ...request } = OPTIMIZATION;
  const answer = await user.send("POST", "/api/backtests", {
    backtest: { ...request, ...change, parameters: { ...fixed, ...parameters } },
  });
  const id = String(answer.at("/backtest/id"));
  const ended = await user.finish(id);
  const equity = (await user.get(`/api/backtests/${id}/equity?points=10000`)).list("/equity").map(Object);
  const byDay = new Map<string, number>(equity.map((point) => [point.timestamp.slice(0, 10), point.equity]));
  return { metrics: Object(ended.at("/backtest/result/metrics")), days: [...byDay.values()] };
}

/** The figures of days that one account trades one after the other, the plain way. */
export function naiveAccount(windows: readonly (readonly number[])[], initial: number) {
  const equity = [initial];
  for (const days of windows) {
    const before = equity.at(-1)!;
    for (const each of days) equity.push(before * each / initial);
  }
  const returns = equity.slice(1).map((each, i) => each / equity[i]! - 1);
  const average = returns.reduce((a, b) => a + b) / returns.length;
  const variance = returns.reduce((sum, each) => sum + (each - average) ** 2, 0) / (returns.length - 1);
  const falls = equity.map((each, i) => 1 - each / Math.max(...equity.slice(0, i + 1)));
  const growth = equity.at(-1)! / initial;
  return {
    equity,
    total_return: growth - 1,
    annual_return: growth ** (365 / returns.length) - 1,
    sharpe: average / Math.sqrt(variance) * Math.sqrt(365),
    max_drawdown: Math.max(...falls),
  };
}
