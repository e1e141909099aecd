/** How much of an optimization's best trial is luck, as clients read it. */
import { z } from "zod";
import type { Optimization } from "../../db/optimizations.ts";
import { GROUPS } from "../../research/luck/tested_paths.ts";
import { VERDICTS } from "../../research/luck/verdict.ts";

const figureSchema = z.number().nullable();
const reasonsSchema = z.record(z.string(), z.string());

export const overfittingSchema = z.object({
  trials: z.int(),
  trials_considered: z.int(),
  independent_trials: z.number(),
  sharpe: figureSchema,
  probabilistic_sharpe: figureSchema,
  expected_best_sharpe: figureSchema,
  deflated_sharpe: figureSchema,
  overfitting_probability: figureSchema,
  /** Null of optimizations from before this figure. */
  loss_probability: figureSchema,
  degradation_slope: figureSchema,
  median_rank: figureSchema,
  minimum_track_record_days: figureSchema,
  haircut_sharpe: figureSchema,
  plateau: figureSchema,
  undefined_figures: reasonsSchema,
  conclusion: z.string(),
}).meta({ id: "Overfitting" });

const checkShape = {
  /** The best trial's objective, from its daily returns. */
  best: figureSchema,
  /** The median of the best of the same trials without skill. */
  expected_best: figureSchema,
  p_value: figureSchema,
  spa_p_value: figureSchema,
  /** Trials that pass by themselves at 5 %, and the numbers of the best ten. */
  survivors: z.object({ count: z.int(), best: z.array(z.int()) }).nullable(),
  /** Of the best of the same trials without skill: how often it lies in each of equal bars. */
  distribution: z.object({ from: z.number(), to: z.number(), counts: z.array(z.int()) }).nullable(),
  searches: z.number().default(1).describe(
    "As how many searches a guided one counts, since it could have settled elsewhere; 1 of other methods, and of optimizations from before this.",
  ),
  verdict: z.enum(VERDICTS),
};

export const luckSchema = z.object({
  objective: z.string(),
  days: z.int(),
  trades: z.int(),
  trials: z.int(),
  trials_considered: z.int(),
  resamples: z.int(),
  block_days: z.int(),
  ...checkShape,
  against_benchmark: z.object(checkShape).meta({ id: "LuckCheck" }).nullable(),
  tested_paths: z.object({
    groups: z.int().default(GROUPS.default).describe("Equal parts of the days, of which each choice leaves out two."),
    embargo_days: z.int().describe("Trading days that are left out of each choice, on either side of what is tested."),
    paths: z.array(
      z.object({
        total_return: z.number().describe("Growth over all days, less 1."),
        sharpe: z.number().nullable().describe("Per year; null where no return differs."),
        max_drawdown: z.number().describe("The deepest fall from a peak, as a fraction: after each day."),
      }).meta({ id: "TestedPath" }),
    ).describe("An account each."),
  }).nullable().default(null).describe(
    "Accounts through all days, nine unless `groups` says otherwise, each part of which was traded by the best trial of the other days; null of fewer than two trials or 10 days for each part, where the embargo leaves a choice without days, and of optimizations from before this.",
  ),
  conclusion: z.string(),
}).meta({ id: "Luck" });

const OLDER = { loss_probability: null, degradation_slope: null, median_rank: null };

/** Both views of the luck of an optimization; null until it has completed. */
export function showLuck({ overfitting, luck }: Optimization) {
  return {
    overfitting: overfitting === null
      ? null
      : { ...OLDER, ...overfitting, undefined_figures: { ...overfitting.undefined_figures } },
    luck: luck === null ? null : luckSchema.parse(luck),
  };
}
