import type { Portfolio } from "../../../api.ts";
import { formatRatio } from "../../../parts/format.ts";
import { Tip } from "../../../parts/tip.tsx";

// A name of this many letters has room beside a row.
const NAME_LETTERS = 7;
const LABELS_MAX = 24;
const GAP = 0.03;
// A figure in a cell can be read up to here.
const FIGURES_MAX = 14;
// From this tint on, a text has the colour of the surface.
const DARK = 0.5;
const TINT_PERCENT_MAX = 85;

/** The correlations of the markets' daily returns, a tinted cell for each pair; the strongest pairs stand below in words. */
export function Correlations({ portfolio: { contributions, correlation } }: { readonly portfolio: Portfolio }) {
  const names = correlation.instruments.map((market) => contributions[market]!.instrument);
  const count = names.length;
  if (count < 2) return null;
  const pairs = correlation.values.flatMap((row, a) =>
    row.slice(0, a).flatMap((value, b) => value === null ? [] : [{ value, names: `${names[b]} and ${names[a]}` }])
  ).sort((one, two) => one.value - two.value);
  const [lowest, highest] = [pairs[0], pairs.at(-1)];
  const margin = count > LABELS_MAX ? 0 : 0.22 * count;
  const fontSize = Math.min(0.5, 0.033 * count);
  return (
    <section className="min-w-0">
      <h2 className="mb-1 text-sm font-semibold">
        <Tip text="How closely two markets' daily returns move together: 1 always alike, 0 without connection, -1 always opposite.">
          Correlation of daily returns
        </Tip>
      </h2>
      <svg
        viewBox={`${-margin} ${-margin} ${count + margin} ${count + margin}`}
        role="img"
        aria-label={`Correlations of ${count} markets. ${describe(lowest, highest)}`}
        className="max-h-[30rem] w-full max-w-[34rem]"
      >
        {correlation.values.map((row, a) =>
          row.map((value, b) => (
            <rect
              key={b}
              x={b + GAP}
              y={a + GAP}
              width={1 - 2 * GAP}
              height={1 - 2 * GAP}
              style={{ fill: colorOf(value) }}
            >
              <title>{`${names[a]} and ${names[b]}: ${formatRatio(value)}`}</title>
            </rect>
          ))
        )}
        {margin > 0 && names.map((name, a) => (
          <text
            key={name}
            x={-0.01 * count}
            y={a + 0.5}
            dominantBaseline="central"
            textAnchor="end"
            className="fill-muted"
            fontSize={fontSize}
          >
            {shorten(name)}
          </text>
        ))}
        {margin > 0 && names.map((name, b) => (
          <text
            key={name}
            transform={`translate(${b + 0.5} ${-0.015 * count}) rotate(-90)`}
            dominantBaseline="central"
            className="fill-muted"
            fontSize={fontSize}
          >
            {shorten(name)}
          </text>
        ))}
        {count <= FIGURES_MAX && correlation.values.map((row, a) =>
          row.map((value, b) =>
            value !== null && (
              <text
                key={`${a} ${b}`}
                x={b + 0.5}
                y={a + 0.5}
                dominantBaseline="central"
                textAnchor="middle"
                pointerEvents="none"
                className={Math.abs(value) > DARK ? "fill-surface" : "fill-text"}
                fontSize={Math.min(0.28, fontSize)}
              >
                {formatRatio(value)}
              </text>
            )
          )
        )}
      </svg>
      <p className="mt-1 text-xs text-muted">{describe(lowest, highest)}</p>
    </section>
  );
}

interface Pair {
  readonly value: number;
  readonly names: string;
}

function describe(lowest: Pair | undefined, highest: Pair | undefined): string {
  if (lowest === undefined || highest === undefined) return "No two markets have enough days in common.";
  const say = ({ value, names }: Pair) => `${formatRatio(value)} between ${names}`;
  return lowest === highest ? `It is ${say(lowest)}.` : `Highest: ${say(highest)}. Lowest: ${say(lowest)}.`;
}

function colorOf(value: number | null): string {
  if (value === null) return "var(--sunken)";
  const tint = 6 + Math.abs(value) * (TINT_PERCENT_MAX - 6);
  return `color-mix(in oklab, var(--${value < 0 ? "loss" : "accent"}) ${tint.toFixed(0)}%, var(--surface))`;
}

function shorten(instrument: string): string {
  const symbol = instrument.slice(0, instrument.lastIndexOf("@"));
  return symbol.length > NAME_LETTERS ? `${symbol.slice(0, NAME_LETTERS - 1)}…` : symbol;
}
