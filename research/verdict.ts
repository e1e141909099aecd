import { CONFIDENCE } from "./sharpe.ts";

/** Splits that may fail before the way of choosing counts as luck: trials of pure noise fail in 16 % of them and more. */
const OVERFITTING_MAX = 0.1;

/** The figures that a conclusion rests on. Sharpe ratios are per year. */
export interface Evidence {
  readonly independent_trials: number;
  readonly sharpe: number | null;
  readonly expected_best_sharpe: number | null;
  readonly deflated_sharpe: number | null;
  readonly overfitting_probability: number | null;
}

/** True if the deflated Sharpe ratio does not exclude luck. */
export function isLuckBySharpe(deflatedSharpe: number): boolean {
  return deflatedSharpe < CONFIDENCE;
}

/** True if the probability of overfitting does not exclude luck. */
export function isLuckBySplits(overfittingProbability: number): boolean {
  return overfittingProbability >= OVERFITTING_MAX;
}

/** A careful person's conclusion about the best trial, in one sentence. */
export function describeOverfitting(evidence: Evidence): string {
  const { sharpe, deflated_sharpe: deflated, overfitting_probability: probability } = evidence;
  if (deflated === null || sharpe === null) {
    return "Nothing can be concluded about luck, because the best trial has no Sharpe ratio that can be judged.";
  }
  const bySharpe = isLuckBySharpe(deflated);
  const bySplits = probability === null ? null : isLuckBySplits(probability);
  const facts = describeFacts(evidence, deflated, sharpe);
  if (bySharpe && bySplits !== false) return `Treat the best trial as luck: ${facts}.`;
  if (!bySharpe && bySplits !== true) return `Luck alone does not explain the best trial: ${facts}.`;
  const doubt = bySharpe ? "its Sharpe ratio may be luck" : "the way of choosing it does not hold up";
  return `Doubt the best trial, because ${doubt}: ${facts}.`;
}

function describeFacts(evidence: Evidence, deflated: number, sharpe: number): string {
  const { independent_trials: independent, expected_best_sharpe: expected, overfitting_probability } = evidence;
  const count = Math.round(independent);
  const rival = count <= 1
    ? "a trial without skill would have a Sharpe ratio of about 0"
    : `the best of about ${count} independent trials without skill would have a Sharpe ratio of about ${
      (expected ?? 0).toFixed(2)
    }`;
  const own = `this one has ${sharpe.toFixed(2)}, which is truly above that with a probability of ${percent(deflated)}`;
  if (overfitting_probability === null) return `${rival}, and ${own}`;
  const splits = `the best of one half of the days was no better than the median in the other half in ${
    percent(overfitting_probability)
  } of the splits`;
  return `${rival}, ${own}, and ${splits}`;
}

/** Nothing but a count of none is certain. */
function percent(share: number): string {
  if (share > 0.99) return "more than 99 %";
  return share > 0 && share < 0.01 ? "less than 1 %" : `${Math.round(share * 100)} %`;
}
