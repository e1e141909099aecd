import { expect } from "@std/expect";
import { DATABASES } from "../support/database.ts";
import { finishOptimization, OPTIMIZATION, submitOptimization } from "../support/optimizations.ts";
import { checkRunTrials } from "../support/run_trials.ts";
import { startTestService } from "../support/service.ts";
import { backtestDays, naiveAccount } from "../support/walk_forward.ts";
import { checkReturns } from "./exported_returns_steps.ts";
import { varyCandles } from "./candle_axes_steps.ts";
import { varyExecution } from "./execution_axes_steps.ts";
import { checkAccount, checkSplits } from "./series_steps.ts";
import { compareLibraryGrid } from "./library_grid_steps.ts";

const WALK = { train_days: 14, test_days: 7, carry: false };

const near = (value: number) => expect.closeTo(value, 8);

function figuresOf({ sharpe, total_return, annual_return, exposure }: Record<string, number>) {
  return { objective: sharpe, total_return, annual_return, exposure };
}

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
        ranked.map(({ number, parameters, metrics: { sharpe, sharpe_low, sharpe_high } }) => {
          return { number, parameters, objective: sharpe, sharpe, sharpe_low, sharpe_high };
        }),
      );
    });

    await t.step("it says how much of the best trial is luck", () => {
      // A month has too few days for sixteen blocks.
      expect(ended.at("/optimization/overfitting")).toMatchObject({
        trials: 6,
        trials_considered: 6,
        sharpe: expect.closeTo(Number(ended.at("/optimization/best/0/objective")), 12),
        deflated_sharpe: expect.any(Number),
        overfitting_probability: null,
        undefined_figures: { overfitting_probability: expect.stringContaining("daily returns") },
        conclusion: expect.stringMatching(/^Too little to tell: /),
      });
      const luck = ended.at("/optimization/luck");
      expect(luck).toMatchObject({
        ...{ objective: "sharpe", days: 31, trials: 6, trials_considered: 6, resamples: 499, block_days: 3 },
        best: expect.closeTo(Number(ended.at("/optimization/best/0/objective")), 12),
        ...{ p_value: expect.any(Number), spa_p_value: expect.any(Number), expected_best: expect.any(Number) },
        ...{ verdict: "too_little", survivors: { count: expect.any(Number) }, conclusion: expect.any(String) },
        against_benchmark: { verdict: "too_little", p_value: expect.any(Number) },
      });
      const { counts } = Object(ended.at("/optimization/luck/distribution"));
      expect(counts.reduce((sum: number, each: number) => sum + each)).toBe(499);
    });

    await t.step(
      "the daily returns of its trials are a table, from which the figures follow",
      () => checkReturns(user, ended),
    );

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
      // So are its daily returns.
      const own = (await user.get(`/api/backtests/${backtest.at("/backtest/id")}/returns?period=daily`)).list(
        "/returns",
      );
      const rows = (await user.get(`/api/optimizations/${id}/returns`)).list("/returns").map(Object);
      const exported = rows.filter(({ number }) => number === trial.number).map((row) => row.return);
      expect(exported).toEqual(own.map((row) => Object(row).return));
      const overfitting = Object(ended.at("/optimization/overfitting"));
      const counts = { backtests: 1, optimization_trials: 6 };
      await checkRunTrials(user, backtest, counts, overfitting.independent_trials);
      // Both places agree.
      const { deflated_sharpe } = Object(
        (await user.get(`/api/backtests/${backtest.at("/backtest/id")}`)).at("/backtest/trials"),
      );
      expect(deflated_sharpe).toBeCloseTo(overfitting.deflated_sharpe, 12);
    });

    await t.step(
      "a guided search tries new points where the trials before were good, and equal seeds the same",
      async () => {
        const change = {
          space: { fast: { min: 1, max: 60, step: 1 }, slow: { min: 2, max: 120, step: 1 } },
          ...{ constraints: ["slow - fast >= 2"], method: "tpe", trials_max: 80, seed: 3 },
        };
        const ids = await Promise.all([submitOptimization(user, change), submitOptimization(user, change)]);
        const [guided, again] = await Promise.all(ids.map((each) => finishOptimization(user, each)));
        expect(guided!.at("/optimization")).toMatchObject({
          status: "completed",
          points: { tried: 80, done: 80, constrained: 0, refused: 0 },
          trials: { done: 80, failed: 0 },
        });
        const trials = (await user.get(`/api/optimizations/${ids[0]}/trials?limit=200`)).list("/trials").map(Object);
        const points = trials.map(({ parameters: { fast, slow } }) => [fast, slow] as const);
        expect(new Set(points.map(String)).size).toBe(80);
        expect(points.every(([fast, slow]) => slow - fast >= 2)).toBe(true);
        const mean = (part: typeof trials) =>
          part.reduce((sum, { metrics }) => sum + (metrics.sharpe ?? 0), 0) / part.length;
        expect(mean(trials.slice(40))).toBeGreaterThan(mean(trials.slice(0, 20)));
        expect(again!.at("/optimization/best")).toEqual(guided!.at("/optimization/best"));
        const few = await finishOptimization(user, await submitOptimization(user, { method: "tpe", trials_max: 50 }));
        expect(few.at("/optimization")).toMatchObject({
          points: { tried: 12, done: 12, constrained: 0, refused: 4 },
          trials: { done: 8, failed: 0 },
        });
      },
    );

    await t.step("the best of each training window trades the test window that follows", async () => {
      const walked = await finishOptimization(user, await submitOptimization(user, { walk_forward: WALK }));
      expect(walked.at("/optimization")).toMatchObject({
        status: "completed",
        progress: 1,
        walk_forward: { ...WALK, step_days: 7, anchored: false },
        // The range's own trials are as without windows.
        points: { tried: 12, done: 12, constrained: 0, refused: 4 },
        trials: { done: 8, failed: 0 },
      });
      const windows = walked.list("/optimization/windows").map(Object);
      expect(windows.map((each) => [each.train_start, each.train_end, each.test_start, each.test_end])).toEqual([
        ["2024-01-01", "2024-01-15", "2024-01-15", "2024-01-22"],
        ["2024-01-08", "2024-01-22", "2024-01-22", "2024-01-29"],
      ]);
      const days: number[][] = [];
      const annual: number[] = [];
      for (
        const { train_start, train_end, test_start, test_end, parameters, in_sample, out_of_sample, error } of windows
      ) {
        const dates = { start_date: train_start, end_date: train_end };
        const alone = await finishOptimization(user, await submitOptimization(user, dates));
        expect([parameters, in_sample.objective]).toEqual([
          alone.at("/optimization/best/0/parameters"),
          alone.at("/optimization/best/0/objective"),
        ]);
        const trained = await backtestDays(user, { parameters, ...dates });
        expect(in_sample).toEqual(figuresOf(trained.metrics));
        const tested = await backtestDays(user, { parameters, start_date: test_start, end_date: test_end });
        expect([out_of_sample, error]).toEqual([figuresOf(tested.metrics), null]);
        days.push(tested.days);
        annual.push(in_sample.annual_return);
      }
      const { equity, ...figures } = naiveAccount(days, 1000);
      const found = Object(walked.at("/optimization/out_of_sample"));
      await checkAccount(user, Object(walked.at("/optimization")));
      expect(found).toMatchObject({ windows: 2, days: 14, carried: false, undefined_figures: {} });
      const exposures = (side: string) => windows.reduce((sum, each) => sum + each[side].exposure / 2, 0);
      expect([found.exposure, found.in_sample_exposure]).toEqual([
        near(exposures("out_of_sample")),
        near(exposures("in_sample")),
      ]);
      expect(found.equity.map(({ day }: { day: number }) => day)).toEqual(equity.map((_, day) => day));
      equity.forEach((each, day) => expect(found.equity[day].equity).toBeCloseTo(each, 8));
      // Day 0 is the day before the first test.
      const january = equity.map((_, day) => `2024-01-${14 + day}`);
      expect(found.equity.map(({ date }: { date: string }) => date)).toEqual(january);
      for (const [name, value] of Object.entries(figures)) expect([name, found[name]]).toEqual([name, near(value)]);
      const inSample = Math.sqrt((1 + annual[0]!) * (1 + annual[1]!)) - 1;
      expect(found.in_sample_annual_return).toEqual(near(inSample));
      expect(found.efficiency).toEqual(near(figures.annual_return / inSample));
    });

    await t.step("where no trial trades, it says so", async () => {
      const still = {
        strategy: "RSI Reversion",
        space: { oversold: { values: [1, 2] } },
        end_date: "2024-01-08",
        parameters: { timeframe: "1h", period: 100 },
      };
      const none = await finishOptimization(user, await submitOptimization(user, still));
      expect(none.at("/optimization")).toMatchObject({ status: "completed", best: [], overfitting: null });
      expect(none.at("/optimization/luck")).toMatchObject({ verdict: "too_little", p_value: null });
      expect(none.at("/optimization/luck/conclusion")).toMatch(
        /^Too little to tell: none of the 2 trials made a trade \(.+\)\.$/,
      );
    });

    await t.step("the days of its tested paths are cut as it says", async () => {
      const change = { end_date: "2024-03-01", tested_paths: { groups: 4, embargo_days: 2 } };
      const cut = await finishOptimization(user, await submitOptimization(user, change));
      expect(cut.at("/optimization/tested_paths")).toEqual({ groups: 4, embargo_days: 2 });
      expect(cut.at("/optimization/luck/tested_paths")).toMatchObject({ groups: 4, embargo_days: 2 });
      expect(cut.list("/optimization/luck/tested_paths/paths").length).toBe(3);
      expect(ended.at("/optimization/tested_paths")).toBeNull();
      const refused = await user.send("POST", "/api/optimizations", {
        optimization: { ...OPTIMIZATION, tested_paths: { groups: 3 } },
      });
      expect([refused.status, refused.at("/error/issues/0/path")]).toEqual([400, "/optimization/tested_paths/groups"]);
    });

    await t.step(
      "settings of execution vary like parameters, and each trial is the backtest with them",
      () => varyExecution(user),
    );

    await t.step("the figures of cross-validation follow from its splits, and 31 days are too few", async () => {
      for (const end_date of ["2024-02-01", "2024-03-15"]) {
        const split = await finishOptimization(user, await submitOptimization(user, { end_date }));
        await checkSplits(user, Object(split.at("/optimization")));
      }
    });

    await t.step("dates and timeframes vary, too, and each trial is the backtest over them", () => varyCandles(user));

    await t.step("with one point, the carried account is that of one continuous run, to the last digit", async () => {
      const space = { fast: { values: [5] }, slow: { values: [20] } };
      const walked = await finishOptimization(
        user,
        await submitOptimization(user, { space, walk_forward: { train_days: 5, purge_days: 2, test_days: 5 } }),
      );
      const windows = walked.list("/optimization/windows").map(Object);
      expect([walked.at("/optimization/walk_forward/carry"), windows.length]).toEqual([true, 4]);
      expect([windows[0].train_end, windows[0].test_start]).toEqual(["2024-01-06", "2024-01-08"]);
      const dates = { start_date: windows[0].test_start, end_date: windows[3].test_end };
      const { metrics, days } = await backtestDays(user, { parameters: { fast: 5, slow: 20 }, ...dates });
      const found = Object(walked.at("/optimization/out_of_sample"));
      expect(JSON.stringify(found.equity.map(({ equity }: { equity: number }) => equity))).toBe(
        JSON.stringify([1000, ...days]),
      );
      for (const name of ["total_return", "annual_return", "annual_volatility", "sharpe", "sortino", "exposure"]) {
        expect([name, found[name]]).toEqual([name, metrics[name]]);
      }
      expect(found).toMatchObject({ windows: 4, carried: true, stability: 1 });
      await checkAccount(user, Object(walked.at("/optimization")));
      const gaps = { train_days: 7, test_days: 5, step_days: 6, carry: true };
      const refused = await user.send("POST", "/api/optimizations", {
        optimization: { ...OPTIMIZATION, walk_forward: gaps },
      });
      expect([refused.status, refused.text]).toEqual([
        400,
        expect.stringContaining("there are days between the tests"),
      ]);
    });

    await t.step("every anchored training begins with the range, and a window without candles says so", async () => {
      const change = { start_date: "2023-12-18", end_date: "2024-01-29", space: { fast: { values: [5, 10] } } };
      const walk = { train_days: 7, test_days: 7, step_days: 21, anchored: true };
      const answer = await finishOptimization(user, await submitOptimization(user, { ...change, walk_forward: walk }));
      const windows = answer.list("/optimization/windows").map(Object);
      expect(windows.map((each) => [each.train_start, each.test_start, each.error?.code ?? null])).toEqual([
        ["2023-12-18", "2023-12-25", "NO_DATA"],
        ["2023-12-18", "2024-01-15", null],
      ]);
      expect(windows[0].out_of_sample).toBe(null);
      expect(answer.at("/optimization/out_of_sample")).toMatchObject({ windows: 1, days: 7 });
    });

    // The database has no part in it.
    if (kind === "PGlite") {
      await t.step("every cell and the best points of backtesting.py's own grids come out the same", async () => {
        await compareLibraryGrid(user);
      });
    }
    await service.close();
  });
}
