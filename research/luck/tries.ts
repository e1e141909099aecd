import { writePercent, writeRatio } from "./figures.ts";

/** A run and the tries that it is one of. */
export interface Tried {
  readonly runs: number;
  /** Trials of optimizations. */
  readonly trials: number;
  /** Absent: over one market. Runs over many with one account are counted by their benchmark, whichever markets they have. */
  readonly where?: "on this market" | "on these markets" | "with this benchmark";
  readonly sharpe: number | null;
  /** The deflated Sharpe ratio: of a single try, the probability that the true one is above 0. */
  readonly deflated: number | { readonly reason: string };
  /** Tries of other strategies or under other names there, and the deflated Sharpe ratio among all of them. */
  readonly others: { readonly count: number; readonly deflated: Tried["deflated"] };
}

/** The probability from which on luck alone does not explain a result: the usual level of a test. */
const SURE = 0.95;

/** The sentence about how much of a run is luck. It names nothing that a person chose, so that any reader may have it. */
export function describeTries({ runs, trials, where = "on this market", sharpe, deflated, others }: Tried): string {
  const all = runs + trials;
  const subject = `this strategy ${where}`;
  const own = all <= 1
    ? `The first try of ${subject}`
    : `One of ${show(all)} tries of ${subject} (${count(runs, "run")}${
      trials === 0 ? "" : `, ${count(trials, "trial")} of optimizations`
    })`;
  const head = others.count === 0
    ? `${own}.`
    : `${own}, beside ${show(others.count)} of other strategies or under other names.`;
  if (typeof deflated !== "number") return `${head} Too little to tell whether it is luck: ${deflated.reason}.`;
  if (sharpe !== null && sharpe <= 0) {
    return `${head} Its Sharpe ratio of ${writeRatio(sharpe)} is not above 0: there is no skill to tell from luck.`;
  }
  const rival = all <= 1 ? "0" : "that of the best of so many without skill";
  const behind = sharpe === null ? "it" : `its ${writeRatio(sharpe)}`;
  const share = `the true Sharpe ratio behind ${behind} is above ${rival} with a probability of ${
    writeProbability(deflated)
  }`;
  if (deflated >= SURE && typeof others.deflated === "number" && others.deflated < SURE) {
    return `${head} Luck is not excluded: ${share}, but among all of these tries that probability is ` +
      `${writeProbability(others.deflated)}. More tries lower it.`;
  }
  return deflated >= SURE
    ? `${head} Luck alone does not explain it: ${share}. Confirm it on days that no try has seen.`
    : `${head} Treat it as luck: ${share}, and ${100 * SURE}% is usual. More tries lower it.`;
}

/** A share that is below the level does not look as if it reached it, and none is certain. */
function writeProbability(share: number): string {
  return writePercent(Math.min(share, share < SURE ? SURE - 0.0001 : 0.9999));
}

function count(number: number, noun: string): string {
  return `${show(number)} ${noun}${number === 1 ? "" : "s"}`;
}

function show(number: number): string {
  return number.toLocaleString("en-US");
}
