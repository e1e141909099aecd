import { expect } from "@std/expect";
import type { TestClient } from "./client.ts";
import { finishOptimization, submitOptimization } from "./optimizations.ts";

/** Optimizes, runs each trial as a backtest, and compares. @returns The trials. */
export async function checkTrials(user: TestClient, change: object): Promise<Record<string, unknown>[]> {
  const id = await submitOptimization(user, change);
  const ended = await finishOptimization(user, id);
  expect([ended.at("/optimization/status"), ended.at("/optimization/error")]).toEqual(["completed", null]);
  const trials = (await user.get(`/api/optimizations/${id}/trials`)).list("/trials").map(Object);
  for (const { number, metrics, undefined_metrics, error } of trials) {
    const started = await user.send("POST", `/api/optimizations/${id}/trials/${number}/backtest`);
    const { status, result, error: failure } = Object(
      (await user.finish(started.at("/backtest/id"))).at("/backtest"),
    );
    expect([number, status, failure?.code]).toEqual([number, error === null ? "completed" : "failed", error?.code]);
    expect(JSON.stringify([result?.metrics ?? null, result?.undefined_metrics ?? {}]))
      .toBe(JSON.stringify([metrics, undefined_metrics]));
  }
  return trials;
}
