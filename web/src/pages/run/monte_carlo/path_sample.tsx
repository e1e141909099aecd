import type { MonteCarloSample } from "../../../api.ts";
import { formatCount, formatMoney, formatPercent, formatRatio } from "../../../parts/format.ts";
import { ROW_CLASS, Table, WIDE_ONLY } from "../../../parts/table.tsx";
import { FanChart } from "./fan_chart.tsx";
import { describeSample, SAMPLE_NAMES } from "./path_words.ts";

type FigureName = keyof MonteCarloSample["figures"];
type Format = (value: number | null | undefined) => string;

const LARGE = 10_000;
const FIGURES: readonly (readonly [name: FigureName, label: string, format: Format])[] = [
  // Digits behind the point would not fit beside those of a large account.
  ["final_equity", "Final equity", (value) => (value ?? 0) >= LARGE ? formatCount(value) : formatMoney(value)],
  ["max_drawdown", "Max drawdown", formatPercent],
  ["sharpe", "Sharpe", formatRatio],
  ["losing_streak", "Losing streak", formatCount],
];
const COLUMNS = [
  { label: "Figure", isText: true, width: "8rem", onPhone: "max-sm:w-19!" },
  { label: "Real run" },
  { label: "Paths below", onPhone: WIDE_ONLY },
  { label: "5%" },
  { label: "25%", onPhone: WIDE_ONLY },
  { label: "50%" },
  { label: "75%", onPhone: WIDE_ONLY },
  { label: "95%" },
] as const;
// A phone has room for the ends and the middle; the sentence above names the paths below.
const CELL_CLASS = "px-3 max-sm:px-1 max-sm:text-xs";
const ONLY_WIDE_CLASS = `${CELL_CLASS} ${WIDE_ONLY}`;

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
      <th scope="row" className={`${CELL_CLASS} text-left font-normal`}>{label}</th>
      <td className={`${CELL_CLASS} font-medium`}>{format(real)}</td>
      <td className={ONLY_WIDE_CLASS}>{formatPercent(percentile)}</td>
      <td className={CELL_CLASS}>{format(p05)}</td>
      <td className={ONLY_WIDE_CLASS}>{format(p25)}</td>
      <td className={CELL_CLASS}>{format(p50)}</td>
      <td className={ONLY_WIDE_CLASS}>{format(p75)}</td>
      <td className={CELL_CLASS}>{format(p95)}</td>
    </tr>
  );
}
