/** The walk-forward part of an optimization as clients read it. */
import { z } from "zod";
import type { Optimization, OptimizationWindow, WindowRun } from "../../db/optimizations.ts";
import { testStartOf } from "../../research/walk_forward.ts";
import { placesAt, pointAt, type Space } from "../../research/space.ts";

const figureSchema = z.number().nullable();
const runSchema = z.object({
  objective: figureSchema,
  total_return: figureSchema,
  annual_return: figureSchema,
  /** Share of the candles with a position. */
  exposure: figureSchema,
});

export const walkForwardSchema = z.object({
  train_days: z.int(),
  test_days: z.int(),
  step_days: z.int(),
  purge_days: z.int(),
  anchored: z.boolean(),
  carry: z.boolean(),
});

/** Ends of dates are exclusive. */
export const windowSchema = z.object({
  train_start: z.string(),
  train_end: z.string(),
  test_start: z.string(),
  test_end: z.string(),
  /** The best of the training so far; null where none has the objective. */
  parameters: z.record(z.string(), z.union([z.number(), z.string(), z.boolean()])).nullable(),
  in_sample: runSchema.nullable(),
  out_of_sample: runSchema.nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
}).meta({ id: "OptimizationWindow" });

export const outOfSampleSchema = z.object({
  windows: z.int(),
  days: z.int(),
  final_equity: z.number(),
  total_return: z.number(),
  annual_return: figureSchema,
  annual_volatility: figureSchema,
  sharpe: figureSchema,
  /** Null of results from before these. */
  sharpe_low: figureSchema,
  sharpe_high: figureSchema,
  sortino: figureSchema,
  max_drawdown: z.number(),
  /** One account kept its position between the tests. */
  carried: z.boolean(),
  exposure: figureSchema,
  in_sample_exposure: figureSchema,
  /** How often the best point of a window was at most a step away from that of the window before; null of fewer than two. */
  stability: figureSchema,
  in_sample_annual_return: figureSchema,
  efficiency: figureSchema,
  undefined_figures: z.record(z.string(), z.string()),
  /** A date is null in results from before there were any. */
  equity: z.array(z.object({ day: z.int(), date: z.string().nullable(), equity: z.number() })),
}).meta({ id: "OutOfSample" });

export function showWindows({ walkForward, windows, outOfSample, space }: Optimization) {
  if (walkForward === null) return { walk_forward: null, windows: null, out_of_sample: null };
  const { trainDays, testDays, stepDays, purgeDays = 0, anchored, carry = false } = walkForward;
  return {
    walk_forward: {
      train_days: trainDays,
      test_days: testDays,
      step_days: stepDays,
      purge_days: purgeDays,
      anchored,
      carry,
    },
    windows: windows.map((window) => showWindow(space, window)),
    out_of_sample: outOfSample === null ? null : {
      ...{ carried: false, exposure: null, in_sample_exposure: null, sharpe_low: null, sharpe_high: null },
      ...outOfSample,
      stability: measureStability(space, windows),
      undefined_figures: { ...outOfSample.undefined_figures },
      equity: outOfSample.equity.map(({ day, date = null, equity }) => ({ day, date, equity })),
    },
  };
}

/** The share of windows whose best point is at most one step from that of the window before, on each axis. */
function measureStability(space: Space, windows: readonly OptimizationWindow[]): number | null {
  const places = windows.flatMap(({ best }) => best === null ? [] : [placesAt(space, best.point)]);
  const near = places.slice(1).filter((each, i) => each.every((at, axis) => Math.abs(at - places[i]![axis]!) <= 1));
  return places.length < 2 ? null : near.length / (places.length - 1);
}

function showWindow(
  space: Space,
  window: OptimizationWindow,
): z.infer<typeof windowSchema> {
  const { trainStart, trainEnd, testEnd, best, train, test, error } = window;
  return {
    train_start: trainStart,
    train_end: trainEnd,
    test_start: testStartOf(window),
    test_end: testEnd,
    parameters: best === null ? null : { ...pointAt(space, best.point) },
    in_sample: showRun(train),
    out_of_sample: showRun(test),
    error,
  };
}

function showRun(run: WindowRun | null): z.infer<typeof runSchema> | null {
  if (run === null) return null;
  return {
    objective: run.objective,
    total_return: run.totalReturn,
    annual_return: run.annualReturn,
    exposure: run.exposure ?? null,
  };
}
