import { expect } from "@std/expect";
import { DATABASES } from "../support/database.ts";
import { finishOptimization, submitOptimization } from "../support/optimizations.ts";
import { startTestService } from "../support/service.ts";

for (const kind of DATABASES) {
  Deno.test(`an optimization runs every point of its space once (${kind})`, async (t) => {
    const service = await startTestService(kind);
    const user = await service.user();
    const id = await submitOptimization(user, { constraints: ["fast + 5 != slow"] });
    const ended = await finishOptimization(user, id);

    await t.step("it counts its trials, and the points that are none", () => {
      expect(ended.at("/optimization")).toMatchObject({
        status: "completed",
        progress: 1,
        error: null,
        objective: "sharpe",
        direction: "max",
        space: { fast: { min: 5, max: 20, step: 5 }, slow: { values: [10, 20, 40] } },
        // 5 with 10 and 15 with 20 break the constraint. 10, 15 and 20 with 10, and 20 with 20, cannot cross.
        points: { space: 12, tried: 12, done: 12, constrained: 2, refused: 4 },
        trials: { done: 6, failed: 0 },
      });
    });

    await t.step("its best trials are ranked by the objective", async () => {
      const trials = (await user.get(`/api/optimizations/${id}/trials`)).list("/trials").map(Object);
      const ranked = trials.toSorted((a, b) => b.metrics.sharpe - a.metrics.sharpe);
      expect(trials.map(({ number }) => number)).toEqual([2, 3, 5, 6, 9, 12]);
      expect(ended.at("/optimization/best")).toEqual(
        ranked.map(({ number, parameters, metrics }) => ({ number, parameters, objective: metrics.sharpe })),
      );
    });

    await t.step("it says how much of the best trial is luck", () => {
      // A month has too few days for sixteen blocks.
      expect(ended.at("/optimization/overfitting")).toMatchObject({
        trials: 6,
        trials_considered: 6,
        sharpe: expect.closeTo(Number(ended.at("/optimization/best/0/objective")), 5),
        deflated_sharpe: expect.any(Number),
        overfitting_probability: null,
        undefined_figures: { overfitting_probability: expect.stringContaining("daily returns") },
        conclusion: expect.stringMatching(/luck/),
      });
    });

    await t.step("a trial as a backtest has the same metrics, to the last digit", async () => {
      const [trial] = (await user.get(`/api/optimizations/${id}/trials?limit=1&sort=sharpe`)).list("/trials").map(
        Object,
      );
      const started = await user.send("POST", `/api/optimizations/${id}/trials/${trial.number}/backtest`);
      expect(started.status).toBe(202);
      const backtest = await user.finish(started.at("/backtest/id"));
      expect(backtest.at("/backtest/error")).toBe(null);
      expect(JSON.stringify(backtest.at("/backtest/result/metrics"))).toBe(JSON.stringify(trial.metrics));
      expect(backtest.at("/backtest/result/undefined_metrics")).toEqual(trial.undefined_metrics);
    });
    await service.close();
  });
}
