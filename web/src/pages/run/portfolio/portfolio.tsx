import type { Portfolio } from "../../../api.ts";
import { formatPercent, formatRatio } from "../../../parts/format.ts";
import { Tip } from "../../../parts/tip.tsx";
import { Contributions } from "./contributions.tsx";
import { Correlations } from "./correlations.tsx";
import { Profits } from "./profits.tsx";
import { Weights } from "./weights.tsx";

/** A run over many markets: where the money was, what each market gave, and how they moved together. */
export function PortfolioView({ portfolio, showTrades }: {
  readonly portfolio: Portfolio;
  readonly showTrades?: ((instrument: string) => void) | undefined;
}) {
  const { holdings, exposure } = portfolio;
  const facts = [
    [
      "Markets held, mean",
      formatRatio(holdings?.mean),
      "The mean number of markets with a position, over the closes with any.",
    ],
    [
      "Largest weight",
      formatPercent(holdings?.largest_weight),
      "The largest part of the equity that a single market ever had.",
    ],
    [
      "Herfindahl index",
      formatRatio(holdings?.herfindahl),
      "The mean sum of the squared parts of the markets in all positions: 1 is one market alone, 0.1 is ten equal ones.",
    ],
    [
      "Net exposure, mean",
      formatPercent(exposure.net),
      "The value of long positions less that of short ones as a part of the equity: the mean over all closes.",
    ],
    [
      "Gross exposure, mean",
      formatPercent(exposure.gross),
      "The value of long and short positions together as a part of the equity: the mean over all closes.",
    ],
  ] as const;
  return (
    <div className="@container flex flex-col gap-6">
      <dl className="flex flex-wrap gap-x-8 gap-y-2">
        {facts.map(([name, value, meaning]) => (
          <div key={name}>
            <dt className="text-xs text-muted">
              <Tip text={meaning}>{name}</Tip>
            </dt>
            <dd className="font-semibold">{value}</dd>
          </div>
        ))}
      </dl>
      <div className="grid gap-6 lg:grid-cols-2 lg:@max-[64rem]:[&_svg]:text-[13px] print:grid-cols-2">
        <Weights portfolio={portfolio} />
        <Profits portfolio={portfolio} />
      </div>
      <Contributions portfolio={portfolio} showTrades={showTrades} />
      <Correlations portfolio={portfolio} />
    </div>
  );
}
