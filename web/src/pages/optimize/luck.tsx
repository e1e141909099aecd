import type { Optimization } from "../../api.ts";
import { formatCount, formatPercent, formatRatio } from "../../parts/format.ts";
import { Interval } from "../../parts/interval.tsx";
import { Tip } from "../../parts/tip.tsx";
import { LuckDrawing } from "./luck_drawing.tsx";

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
    meaning:
      "How often the best trial of one half of the days is no better than the median in the other half. Near-equal good trials make it large, too.",
    format: formatPercent,
  },
  {
    name: "loss_probability",
    label: "Loss out of sample",
    meaning: "How often the best trial of one half of the days loses money in the other half.",
    format: formatPercent,
  },
  {
    name: "degradation_slope",
    label: "Slope of degradation",
    meaning:
      "How the objective in one half of the days follows from that in the other: 1 is no degradation, 0 and below mean that a better look told nothing.",
    format: formatRatio,
  },
  {
    name: "median_rank",
    label: "Median rank out of sample",
    meaning: "The rank of the best trial of one half of the days in the other half, from 0 to 1, which is best.",
    format: formatRatio,
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
    meaning: "Days until the Sharpe ratio is above what luck would give, with a confidence of 95%.",
    format: formatCount,
  },
];

const VERDICTS = {
  beyond_luck: ["Beyond luck", "bg-gain/15 text-gain"],
  luck: ["May be luck", "bg-warn/15 text-warn"],
  too_little: ["Too little to tell", "bg-sunken text-muted"],
} as const satisfies Record<NonNullable<Optimization["luck"]>["verdict"], readonly [string, string]>;

/** How much of the best trial is luck: one sentence, the best trial among the best without skill, and further figures. */
export function Luck({ overfitting, luck, best }: Pick<Optimization, "luck" | "best"> & {
  readonly overfitting: Overfitting;
}) {
  const { trials, trials_considered: considered, conclusion } = overfitting;
  return (
    <>
      <div className="mb-1 flex flex-wrap items-center gap-3">
        <h2 className="text-lg font-semibold">How much is luck</h2>
        {luck !== null && (
          <span className={`rounded-full px-2 py-0.5 text-xs font-medium ${VERDICTS[luck.verdict][1]}`}>
            {VERDICTS[luck.verdict][0]}
          </span>
        )}
      </div>
      <p>{conclusion}</p>
      {luck !== null && (
        <div className="mt-3 grid gap-x-6 gap-y-4 lg:grid-cols-2">
          <LuckDrawing title="Against no gain at all" objective={luck.objective} check={luck} />
          {luck.against_benchmark !== null && (
            <LuckDrawing
              title="Against holding the benchmark"
              objective={luck.objective}
              check={luck.against_benchmark}
            />
          )}
        </div>
      )}
      {luck !== null && luck.searches > 1 && (
        <p className="mt-3 max-w-prose text-sm">
          {`The search was guided by its results. It counts as ${
            formatRatio(luck.searches)
          } searches, because on other days it would have settled elsewhere.`}
        </p>
      )}
      {luck !== null && luck.tested_paths !== null && <TestedPaths paths={luck.tested_paths.paths} />}
      <Figures overfitting={overfitting} best={best[0]} />
      {considered < trials && (
        <p className="mt-2 text-xs text-muted">
          {formatCount(considered)}{" "}
          trials were compared with each other: half of them the best, the others evenly chosen.
        </p>
      )}
    </>
  );
}

/** The accounts of cross-validation, in a sentence. */
function TestedPaths({ paths }: Pick<NonNullable<NonNullable<Optimization["luck"]>["tested_paths"]>, "paths">) {
  const returns = paths.map((path) => path.total_return).sort((a, b) => a - b);
  const lost = returns.filter((each) => each < 0).length;
  return (
    <p className="mt-3 max-w-prose text-sm">
      {`Chosen by other days and tested on these, ${formatCount(returns.length)} accounts through all days return ${
        formatPercent(returns[0] ?? null)
      } to ${formatPercent(returns.at(-1) ?? null)}, in the middle ${
        formatPercent(returns[returns.length >> 1] ?? null)
      }; ${lost === 0 ? "none" : formatCount(lost)} of them ${lost === 1 ? "loses" : "lose"} money.`}
    </p>
  );
}

function Figures({ overfitting, best }: {
  readonly overfitting: Overfitting;
  readonly best: Optimization["best"][number] | undefined;
}) {
  const { trials, independent_trials: independent } = overfitting;
  return (
    <details className="mt-4">
      <summary className="cursor-pointer text-sm text-muted">Further figures</summary>
      <dl className="mt-3 grid grid-cols-2 gap-x-6 gap-y-2 sm:grid-cols-4">
        {FIGURES.map(({ name, label, meaning, format }) => {
          const reason = overfitting.undefined_figures[name];
          return (
            <div key={name}>
              <dt className="text-xs text-muted">
                <Tip text={reason === undefined ? meaning : `${meaning} No value here: ${reason}`}>{label}</Tip>
              </dt>
              <dd className="font-medium">
                {format(overfitting[name])}
                {name === "sharpe" && <Interval low={best?.sharpe_low} high={best?.sharpe_high} />}
              </dd>
            </div>
          );
        })}
        <div>
          <dt className="text-xs text-muted">Independent trials</dt>
          <dd className="font-medium">{formatCount(independent)} of {formatCount(trials)}</dd>
        </div>
      </dl>
    </details>
  );
}
