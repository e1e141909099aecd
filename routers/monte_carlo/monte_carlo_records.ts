import { z } from "zod";
import type { MonteCarlo } from "../../db/monte_carlos.ts";
import { FIGURE_NAMES } from "../../research/monte_carlo/paths.ts";
import { MONTE_CARLO_METHODS } from "../../research/monte_carlo/request.ts";
import { SAMPLINGS } from "../../research/monte_carlo/path_sample.ts";
import { recordReader } from "../common/stored_records.ts";
import { showStudyState, STUDY_STATE } from "../runs/run_state.ts";

const quantilesSchema = z.object({
  p05: z.number(),
  p25: z.number(),
  p50: z.number(),
  p75: z.number(),
  p95: z.number(),
});

const figureSchema = z.object({
  real: z.number().nullable(),
  percentile: z.number().nullable(),
  quantiles: quantilesSchema.nullable(),
  paths: z.int(),
});

const curveSchema = z.array(z.number());

const sampleSchema = z.object({
  sampling: z.enum(SAMPLINGS),
  figures: z.record(z.enum(FIGURE_NAMES), figureSchema),
  probability_of_loss: z.number(),
  probability_of_ruin: z.number(),
  curves: z.object({
    positions: z.array(z.int()),
    real: curveSchema,
    p05: curveSchema,
    p25: curveSchema,
    p50: curveSchema,
    p75: curveSchema,
    p95: curveSchema,
  }),
}).meta({ id: "MonteCarloSample" });

/** A Monte Carlo simulation, as every answer has it. */
export const monteCarloSchema = z.object({
  id: z.uuid(),
  backtest_id: z.uuid(),
  method: z.enum(MONTE_CARLO_METHODS),
  runs: z.int(),
  block_days: z.int().nullable(),
  seed: z.int(),
  ruin_drawdown: z.number(),
  ...STUDY_STATE,
  result: z.object({
    samples: z.array(sampleSchema),
    failed_paths: z.array(z.object({ code: z.string(), message: z.string(), paths: z.int() })),
    notes: z.array(z.string()),
    duration_ms: z.number(),
  }).nullable(),
}).meta({ id: "MonteCarlo" });

/** @throws {UnreadableRecord} */
export const toMonteCarlo = recordReader(({ id }) => `Monte Carlo simulation ${id}`, monteCarloSchema, show);

function show(row: MonteCarlo): z.infer<typeof monteCarloSchema> {
  const { result } = row;
  return {
    id: row.id,
    backtest_id: row.backtestId,
    method: row.method,
    runs: row.runs,
    block_days: row.blockDays,
    seed: row.seed,
    ruin_drawdown: row.ruinDrawdown,
    ...showStudyState(row),
    result: result === null ? null : {
      samples: result.samples.map((sample) => ({
        ...sample,
        curves: {
          positions: [...sample.curves.positions],
          real: [...sample.curves.real],
          p05: [...sample.curves.p05],
          p25: [...sample.curves.p25],
          p50: [...sample.curves.p50],
          p75: [...sample.curves.p75],
          p95: [...sample.curves.p95],
        },
      })),
      failed_paths: [...result.failed_paths ?? []],
      notes: [...result.notes],
      duration_ms: result.duration_ms,
    },
  };
}
