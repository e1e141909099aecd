import type { MonteCarloSample } from "../../../api.ts";
import { formatCount, formatMoney, formatPercent, formatRatio } from "../../../parts/format.ts";
import { ROW_CLASS, Table } from "../../../parts/table.tsx";
import { FanChart } from "./fan_chart.tsx";
import { describeSample, SAMPLE_NAMES } from "./path_words.ts";

type FigureName = keyof MonteCarloSample["figures"];
type Format = (value: number | null | undefined) => string;

const FIGURES: readonly (readonly [name: FigureName, label: string, format: Format])[] = [
  ["final_equity", "Final equity", formatMoney],
  ["max_drawdown", "Max drawdown", formatPercent],
  ["sharpe", "Sharpe", formatRatio],
  ["losing_streak", "Losing streak", formatCount],
];
const COLUMNS = [
  { label: "Figure", isText: true, width: "8rem" },
  { label: "Real run" },
  { label: "Paths below" },
  { label: "5%" },
  { label: "25%" },
  { label: "50%" },
  { label: "75%" },
  { label: "95%" },
] as const;

/** One way to make paths: what it says in words, its curves, and the quantiles of its figures. */
export function PathSample({ sample, ruinDrawdown }: {
  readonly sample: MonteCarloSample;
  readonly ruinDrawdown: number;
}) {
  const [name] = SAMPLE_NAMES[sample.sampling];
  return (
    <div className="flex flex-col gap-2">
      <h3 className="text-sm font-semibold">{name}</h3>
      <p className="max-w-prose text-sm">{describeSample(sample, ruinDrawdown)}</p>
      <div className="grid items-start gap-4 xl:grid-cols-[2fr_3fr]">
        <FanChart sample={sample} />
        <Table label={`Quantiles: ${name}`} columns={COLUMNS} minWidth="43rem">
          {FIGURES.map(([figure, label, format]) => <Row key={figure} {...{ sample, figure, label, format }} />)}
        </Table>
      </div>
    </div>
  );
}

function Row({ sample, figure, label, format }: {
  readonly sample: MonteCarloSample;
  readonly figure: FigureName;
  readonly label: string;
  readonly format: Format;
}) {
  const { real, percentile, quantiles } = sample.figures[figure];
  const { p05, p25, p50, p75, p95 } = quantiles ?? {};
  return (
    <tr className={ROW_CLASS}>
      <th scope="row" className="px-3 text-left font-normal">{label}</th>
      <td className="px-3 font-medium">{format(real)}</td>
      <td className="px-3">{formatPercent(percentile)}</td>
      {Object.entries({ p05, p25, p50, p75, p95 }).map(([name, value]) => (
        <td key={name} className="px-3">{format(value)}</td>
      ))}
    </tr>
  );
}
