import { isMetricName, METRIC_DEFINITIONS } from "../../engine/metrics/definitions.ts";
import { writePercent, writeRatio } from "./figures.ts";
import { LEVEL } from "./reality_check.ts";

/** Less than this is too little to judge, whatever the figures. */
export const DAYS_MIN = 60;
export const TRADES_MIN = 20;

export const VERDICTS = ["beyond_luck", "luck", "too_little"] as const;

/** The conclusion that a careful person draws about the best trial. */
export type Verdict = typeof VERDICTS[number];

/** The facts that a verdict rests on. */
interface Evidence {
  readonly objective: string;
  readonly trials: number;
  readonly days: number;
  /** Closed trades of the best trial. */
  readonly trades: number;
  readonly best: number | null;
  readonly expected_best: number | null;
  readonly p_value: number | null;
  /** The number of searches that a guided one counts as. */
  readonly searches: number;
}

/** The verdict of a check. */
export function judge({ days, trades, p_value: p }: Pick<Evidence, "days" | "trades" | "p_value">): Verdict {
  if (days < DAYS_MIN || trades < TRADES_MIN || p === null) return "too_little";
  return p <= LEVEL ? "beyond_luck" : "luck";
}

/** The verdict in words. @param benchmark The check against holding the benchmark; null where there is none. */
export function describeLuck(evidence: Evidence, benchmark: Pick<Evidence, "p_value"> | null): string {
  const verdict = judge(evidence);
  if (verdict === "too_little") return describeTooLittle(evidence);
  const conclusion = verdict === "luck" ? "Treat the best trial as luck" : "Luck alone does not explain the best trial";
  return `${conclusion}: ${describeNoGain(evidence)}. ${describeBenchmark(benchmark?.p_value ?? null)}`;
}

/** The reason in words why no trial has the objective. @param trades Of all trials. @param reason That of most of them. */
export function describeNoBest(
  { objective, trials, trades, reason }: {
    readonly objective: string;
    readonly trials: number;
    readonly trades: number;
    readonly reason: string | undefined;
  },
): string {
  const none = trades === 0
    ? `none of the ${count(trials, "trial")} made a trade`
    : `none of the ${count(trials, "trial")} has a value of ${NAMES[objective] ?? objective}`;
  return `Too little to tell: ${none}${reason === undefined ? "" : ` (${reason})`}.`;
}

function describeTooLittle({ days, trades, p_value: p }: Evidence): string {
  if (p === null) return "Too little to tell: the best trial has no daily returns that can be judged.";
  return `Too little to tell: the best trial has ${count(trades, "closed trade")} on ${
    count(days, "day")
  }, and a judgement needs ` +
    `at least ${TRADES_MIN} trades and ${DAYS_MIN} days.`;
}

function describeNoGain({ objective, trials, searches, best, expected_best: expected, p_value: p }: Evidence): string {
  const name = NAMES[objective] ?? objective;
  const show = (value: number | null) =>
    value === null || !Number.isFinite(value) ? "unknown" : formatObjective(objective, value);
  const all = trials.toLocaleString("en-US");
  const rival = trials === 1
    ? "a trial"
    : searches > 1
    ? `the best of a guided search of ${all} trials`
    : `the best of these ${all} trials`;
  return `without any skill, ${rival} would reach its ${name} of ${show(best)} in ${
    writePercent(p ?? 1)
  } of all cases, and ` +
    `${show(expected)} in half of them`;
}

function describeBenchmark(p: number | null): string {
  if (p === null) return "It was not compared with holding the benchmark.";
  if (p <= LEVEL) return `It also beats holding the benchmark by more than luck explains (${writePercent(p)}).`;
  return `It is not shown to be better than holding the benchmark: luck alone gives such a lead in ${
    writePercent(p)
  } of all cases.`;
}

const NAMES: Readonly<Record<string, string>> = {
  total_return: "net return",
  final_equity: "net return",
  annual_return: "annual return",
  cagr: "annual return",
  annual_volatility: "annual volatility",
  sharpe: "Sharpe ratio",
  sortino: "Sortino ratio",
  omega: "omega ratio",
  max_drawdown: "drawdown",
  calmar: "Calmar ratio",
  recovery_factor: "recovery factor",
};

function formatObjective(objective: string, value: number): string {
  // Final equity is judged by the return that leads to it.
  const isFraction = objective === "final_equity" ||
    (isMetricName(objective) && METRIC_DEFINITIONS[objective].unit.startsWith("fraction"));
  return isFraction ? writePercent(value) : writeRatio(value);
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
