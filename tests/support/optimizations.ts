import { expect } from "@std/expect";
import type { Db } from "../../db/client.ts";
import { insertOptimization, type NewOptimization } from "../../db/optimizations.ts";
import { resolveExecution } from "../../engine/execution.ts";
import { parseSpace } from "../../research/parse_space.ts";
import { countPoints } from "../../research/space.ts";
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

/** The record of a submitted sma-cross of 10,000 points over three months of hours of the sample. @returns Its id. */
export async function addOptimization(db: Db, ownerId: string, more: Partial<NewOptimization> = {}): Promise<string> {
  const axes = { fast: { min: 1, max: 100, step: 1 }, slow: { min: 101, max: 200, step: 1 } };
  const { value: space } = parseSpace(axes, { type: "object" });
  if (space === undefined) throw new Error("Cannot parse the space");
  const own = { direction: "both", takeProfitLevel: 0, stopLossLevel: 0 };
  const { id } = await insertOptimization(db, {
    ownerId,
    symbol: "DEMO",
    exchange: "SAMPLE",
    strategy: "SMA Cross",
    strategySlug: "sma-cross",
    strategyVersion: "1",
    startDate: "2024-02-01",
    endDate: "2024-05-01",
    initialBalance: 10_000,
    parameters: { ...own, timeframe: "1h", execution: resolveExecution({}, null) },
    space,
    constraints: [],
    method: "grid",
    objective: "sharpe",
    direction: "max",
    trialsMax: 10_000,
    seed: 0,
    walkForward: null,
    spacePoints: countPoints(space),
    ...more,
  });
  return id;
}
