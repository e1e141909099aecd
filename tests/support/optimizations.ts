import { expect } from "@std/expect";
import type { Answer, TestClient } from "./client.ts";

/** An optimization of 12 points over a month of the sample: in three of them, the averages cannot cross. */
export const OPTIMIZATION = {
  symbol: "DEMO",
  exchange: "SAMPLE",
  strategy: "SMA Cross",
  start_date: "2024-01-01",
  end_date: "2024-02-01",
  initial_balance: 1000,
  parameters: { timeframe: "1h", execution: { commission: 0.0005 } },
  space: { fast: { min: 5, max: 20, step: 5 }, slow: { values: [10, 20, 40] } },
};

/** Submits an optimization. @returns Its id. */
export async function submitOptimization(user: TestClient, change: object = {}): Promise<string> {
  const answer = await user.send("POST", "/api/optimizations", { optimization: { ...OPTIMIZATION, ...change } });
  expect([answer.status, answer.at("/error")]).toEqual([202, undefined]);
  expect(answer.headers.get("location")).toBe(`/api/optimizations/${answer.at("/optimization/id")}`);
  return String(answer.at("/optimization/id"));
}

/** The optimization once it has ended. */
export function finishOptimization(user: TestClient, id: string): Promise<Answer> {
  return user.poll(`/api/optimizations/${id}`, "/optimization/status");
}
