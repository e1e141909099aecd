/** Tells a model with each result how often it has tried, and how much of the result is left after that. */

interface Tries {
  readonly backtests: number;
  readonly optimization_trials: number;
  readonly deflated_sharpe: number | null;
  readonly undefined_figures: Readonly<Record<string, string>>;
}

// The usual level of a test.
const SURE = 0.95;

/**
 * How many tries a result is one of, and whether luck explains it.
 *
 * @param tries Null for a run without a result.
 * @param where The markets, as the sentence names them.
 */
export function describeTries(
  tries: Tries | null | undefined,
  sharpe: number | null | undefined,
  where = "this market",
): object {
  if (tries === null || tries === undefined) return {};
  const count = tries.backtests + tries.optimization_trials;
  const left = tries.deflated_sharpe;
  const head = `This account has tried this strategy ${count} ${count === 1 ? "time" : "times"} on ${where}.`;
  if (left === null) {
    const reason = tries.undefined_figures.deflated_sharpe ?? "there are too few days";
    return { tries: { count, probability_of_skill: null, says: `${head} Luck is not excluded: ${reason}.` } };
  }
  const share = `${(100 * left).toFixed(0)} %`;
  const says = left >= SURE
    ? `The probability that the Sharpe ratio of ${
      sharpe?.toFixed(2)
    } is more than the best of so many tries without skill is ${share}. ` +
      "Confirm it on data that no try has seen."
    : `Luck is not excluded: the probability that the Sharpe ratio of ${
      sharpe?.toFixed(2)
    } is more than the best of so ` +
      `many tries without skill is ${share}, and 95 % is usual. More tries lower it.`;
  return { tries: { count, probability_of_skill: left, says: `${head} ${says}` } };
}
