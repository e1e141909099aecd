import type { MonteCarlo, MonteCarloSample } from "../../../api.ts";
import { formatCount, formatPercent } from "../../../parts/format.ts";

export const METHOD_NAMES: Readonly<Record<MonteCarlo["method"], string>> = {
  trades: "Trades in another order",
  returns: "Days in blocks",
  candles: "Candles in blocks",
};

export const METHOD_HINTS: Readonly<Record<MonteCarlo["method"], string>> = {
  trades: "Shuffles the closed trades, and draws as many with replacement.",
  returns: "Draws blocks of days that followed each other.",
  candles: "Draws blocks of candles, and runs the strategy again on them.",
};

/** The name of a sample, the unit of its curves, and when its drawdowns are measured. */
export const SAMPLE_NAMES: Readonly<
  Record<MonteCarloSample["sampling"], readonly [name: string, unit: string, measured: string]>
> = {
  shuffled: ["The same trades in another order", "Trades", "after each trade"],
  resampled: ["As many trades, drawn with replacement", "Trades", "after each trade"],
  stationary_blocks: ["Days, drawn in blocks", "Days", "daily"],
  candle_blocks: ["The strategy on candles drawn in blocks", "Candles", "at each close"],
};

/** The conclusions of a careful reader. */
export function describeSample(
  { sampling, figures, probability_of_loss: loss, probability_of_ruin: ruin }: MonteCarloSample,
  ruinDrawdown: number,
): string {
  const { final_equity: final, max_drawdown: drawdown } = figures;
  // The paths that count.
  const { paths } = final;
  const [, , measured] = SAMPLE_NAMES[sampling];
  const ruined = `${formatPercent(ruin)} lose ${formatPercent(ruinDrawdown)} of their peak or more at some time`;
  const deeper = drawdown.percentile === null
    ? ""
    : ` Its drawdown of ${formatPercent(drawdown.real)}, measured ${measured}, is deeper than on ${
      formatPercent(drawdown.percentile)
    } of them.`;
  if (sampling === "shuffled") {
    return `All ${
      formatCount(paths)
    } paths end where the real run does, because their trades are the same; only the way ` +
      `differs. ${ruined}.${deeper.replace("Its", "The real run's")}`;
  }
  const place = final.percentile === null ? "" : ` The real run ends above ${formatPercent(final.percentile)} of them.`;
  return `Of ${formatCount(paths)} paths, ${formatPercent(loss)} end with a loss, and ${ruined}.${place}${deeper}`;
}
