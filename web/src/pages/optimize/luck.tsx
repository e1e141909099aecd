import type { Optimization } from "../../api.ts";
import { formatCount, formatPercent, formatRatio } from "../../parts/format.ts";
import { Tip } from "../../parts/tip.tsx";

type Overfitting = NonNullable<Optimization["overfitting"]>;
type Figure = {
  [Name in keyof Overfitting]: null extends Overfitting[Name] ? Name : never;
}[keyof Overfitting];

interface Shown {
  readonly name: Figure;
  readonly label: string;
  readonly meaning: string;
  readonly format: (value: number | null) => string;
}

const FIGURES: readonly Shown[] = [
  {
    name: "sharpe",
    label: "Sharpe of the best",
    meaning: "The Sharpe ratio of the best trial.",
    format: formatRatio,
  },
  {
    name: "expected_best_sharpe",
    label: "Expected by luck",
    meaning: "The Sharpe ratio that the best of so many trials would reach if none of them had any edge.",
    format: formatRatio,
  },
  {
    name: "haircut_sharpe",
    label: "Sharpe after the haircut",
    meaning: "The Sharpe ratio that is as improbable in one trial as the best one's is among all of them.",
    format: formatRatio,
  },
  {
    name: "deflated_sharpe",
    label: "Deflated Sharpe",
    meaning: "The probability that the best trial's true Sharpe ratio is above what luck alone would give.",
    format: formatPercent,
  },
  {
    name: "overfitting_probability",
    label: "Probability of overfitting",
    meaning: "How often the best trial of one half of the days is no better than the median in the other half.",
    format: formatPercent,
  },
  {
    name: "plateau",
    label: "Plateau",
    meaning:
      "The median of the best trial's neighbours over its own value: near 1 it stands on a plateau, near 0 it is a lone peak.",
    format: formatRatio,
  },
  {
    name: "minimum_track_record_days",
    label: "Least track record, days",
    meaning: "Days until the Sharpe ratio is above what luck would give, with a confidence of 95 %.",
    format: formatCount,
  },
];

/** How much of the best trial is luck: one sentence, and the figures that it is drawn from. */
export function Luck({ overfitting }: { readonly overfitting: Overfitting }) {
  const { trials, trials_considered: considered, independent_trials: independent, conclusion } = overfitting;
  return (
    <>
      <h2 className="mb-1 text-lg font-semibold">How much is luck</h2>
      <p>{conclusion}</p>
      <dl className="mt-3 grid grid-cols-2 gap-x-6 gap-y-2 sm:grid-cols-4">
        {FIGURES.map(({ name, label, meaning, format }) => {
          const reason = overfitting.undefined_figures[name];
          return (
            <div key={name}>
              <dt className="text-xs text-muted">
                <Tip text={reason === undefined ? meaning : `${meaning} No value here: ${reason}`}>{label}</Tip>
              </dt>
              <dd className="font-medium">{format(overfitting[name])}</dd>
            </div>
          );
        })}
        <div>
          <dt className="text-xs text-muted">Independent trials</dt>
          <dd className="font-medium">{formatCount(independent)} of {formatCount(trials)}</dd>
        </div>
      </dl>
      {considered < trials && (
        <p className="mt-2 text-xs text-muted">
          {formatCount(considered)} trials, evenly chosen, were compared with each other.
        </p>
      )}
    </>
  );
}
