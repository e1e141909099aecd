import type { Portfolio } from "../../../api.ts";
import { formatPercent, formatRatio } from "../../../parts/format.ts";
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
    ["Markets held, mean", formatRatio(holdings?.mean)],
    ["Largest weight", formatPercent(holdings?.largest_weight)],
    ["Herfindahl index", formatRatio(holdings?.herfindahl)],
    ["Net exposure, mean", formatPercent(exposure.net)],
    ["Gross exposure, mean", formatPercent(exposure.gross)],
  ];
  return (
    <div className="flex flex-col gap-6">
      <dl className="flex flex-wrap gap-x-8 gap-y-2">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt className="text-xs text-muted">{name}</dt>
            <dd className="font-semibold">{value}</dd>
          </div>
        ))}
      </dl>
      <div className="grid gap-6 lg:grid-cols-2 print:grid-cols-2">
        <Weights portfolio={portfolio} />
        <Profits portfolio={portfolio} />
      </div>
      <Contributions portfolio={portfolio} showTrades={showTrades} />
      <Correlations portfolio={portfolio} />
    </div>
  );
}
