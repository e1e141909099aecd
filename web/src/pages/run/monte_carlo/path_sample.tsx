import type { MonteCarloSample } from "../../../api.ts";
import { formatCount, formatMoney, formatPercent, formatRatio } from "../../../parts/format.ts";
import { ROW_CLASS, Table, WIDE_ONLY } from "../../../parts/table.tsx";
import { describeSample, SAMPLE_NAMES } from "./path_words.ts";
import { chooseTicks, linear } from "../../../parts/scale.ts";
import { Drawing, Keys, useFrame } from "../overview/drawing.tsx";

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
  const [name, , measured] = SAMPLE_NAMES[sample.sampling];
  return (
    <div className="@container flex flex-col gap-2">
      <h3 className="text-sm font-semibold">{name}</h3>
      <p className="max-w-prose text-sm">{describeSample(sample, ruinDrawdown)}</p>
      <div className="grid items-start gap-4 @min-[70rem]:grid-cols-[2fr_3fr]">
        <FanChart sample={sample} />
        <Table label={`Quantiles: ${name}`} columns={COLUMNS} minWidth="43rem">
          {FIGURES.map(([figure, label, format]) => (
            <Row
              key={figure}
              {...{ sample, figure, label, format }}
              note={figure === "max_drawdown" ? measured : undefined}
            />
          ))}
        </Table>
      </div>
    </div>
  );
}

function Row({ sample, figure, label, format, note }: {
  readonly sample: MonteCarloSample;
  readonly figure: FigureName;
  readonly label: string;
  readonly format: Format;
  readonly note: string | undefined;
}) {
  const { real, percentile, quantiles } = sample.figures[figure];
  const { p05, p25, p50, p75, p95 } = quantiles ?? {};
  return (
    <tr className={ROW_CLASS}>
      <th scope="row" className={`${CELL_CLASS} text-left font-normal`}>
        {label}
        {note !== undefined && <span className="block text-2xs text-muted">{note}</span>}
      </th>
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

/** The real run's equity above the range of the paths: half of them in the dark band, nine tenths in both. */
function FanChart({ sample: { sampling, curves } }: { readonly sample: MonteCarloSample }) {
  const frame = useFrame();
  const [, unit] = SAMPLE_NAMES[sampling];
  const { positions, real, p05, p25, p50, p75, p95 } = curves;
  const last = positions.at(-1) ?? 0;
  const low = Math.min(...p05, ...real);
  const high = Math.max(...p95, ...real);
  const x = linear([0, last], [frame.left, frame.width - frame.right]);
  const y = linear([low, high], [frame.height - frame.bottom, frame.top]);
  const points = (curve: readonly number[]) =>
    curve.map((value, i) => `${x(positions[i] ?? 0).toFixed(1)},${y(value).toFixed(1)}`);
  const band = (below: readonly number[], above: readonly number[]) =>
    [...points(above), ...points(below).toReversed()].join(" ");
  return (
    <div className="max-w-xl">
      <Drawing
        title="Equity of the paths"
        description={`After ${formatCount(last)} ${unit.toLowerCase()}, nine of ten paths have between ${
          formatMoney(p05.at(-1))
        } and ${formatMoney(p95.at(-1))}, and half have less than ${formatMoney(p50.at(-1))}. The real run has ${
          formatMoney(real.at(-1))
        }.`}
        xLabel={unit}
        xTicks={chooseTicks(0, last, 6).filter(Number.isInteger).map((value) => [x(value), formatCount(value)])}
        yTicks={chooseTicks(low, high, 5).map((value) => [y(value), formatCount(value)])}
      >
        <polygon points={band(p05, p95)} className="fill-accent/15" />
        <polygon points={band(p25, p75)} className="fill-accent/30" />
        <polyline points={points(p50).join(" ")} className="fill-none stroke-accent" strokeWidth={1.5} />
        <polyline points={points(real).join(" ")} className="fill-none stroke-text" strokeWidth={1.5} />
      </Drawing>
      <Keys
        looks={{
          "Real run": "bg-text h-0.5",
          "Median of the paths": "bg-accent h-0.5",
          "25% to 75%": "bg-accent/45 h-3",
          "5% to 95%": "bg-accent/15 h-3",
        }}
      />
    </div>
  );
}
