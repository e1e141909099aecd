import type { StressTest } from "../../../api.ts";
import { formatCount, formatPercent, formatRatio, toneClass, writeTimes } from "../../../parts/format.ts";
import { ROW_CLASS, Table, WIDE_ONLY } from "../../../parts/table.tsx";
import { describeStress, GROUP_NAMES, REGIME_NAMES, type StressRow } from "./stress_words.ts";
import { chooseTicks, linear } from "../../../parts/scale.ts";

type Figures = NonNullable<StressRow["figures"]>;

const COLUMNS = [
  { label: "Change", isText: true, width: "17rem", onPhone: "max-sm:w-40!" },
  { label: "Net return" },
  { label: "Sharpe" },
  { label: "Max drawdown", onPhone: WIDE_ONLY },
  { label: "Trades", onPhone: WIDE_ONLY },
] as const;
const REGIME_COLUMNS = [{ ...COLUMNS[0], label: "Days" }, ...COLUMNS.slice(1)] as const;

// A cell over hidden columns would make room for them.
const PHONE_COLUMNS = 3;

const ROW_PX = 30;
const NAME_PX = 15;

const BAR_PX = 11;
const WIDTH = 420;

const TOP = 6;
const BOTTOM = 22;

// Half of a text, which a phone shows larger.
const EDGE = 30;
const TITLE = "Net return with each change";

/** The result of a stress test: a sentence, a picture, and the tables. */
export function StressTables({ result }: { readonly result: NonNullable<StressTest["result"]> }) {
  const { rows, regimes, break_even_cost: cost, notes } = result;
  return (
    <>
      <p className="max-w-prose text-sm">
        {describeStress(result)}
        {cost !== null && ` The profit is gone at ${formatPercent(cost)} more cost of each fill.`}
      </p>
      {notes.map((note) => <p key={note} className="text-sm text-muted">{writeTimes(note)}.</p>)}
      <div className="@container">
        <div className="grid items-start gap-4 @min-[70rem]:grid-cols-[2fr_3fr]">
          <StressBars rows={rows} />
          <Table label="Stress test" columns={COLUMNS} minWidth="38rem">
            {rows.map(({ group, name, figures, error }, i) => (
              <Row
                key={name}
                heading={rows[i - 1]?.group === group ? null : GROUP_NAMES[group]}
                {...{ name, figures }}
                problem={error?.message ?? null}
              />
            ))}
          </Table>
        </div>
      </div>
      <h2 className="text-sm font-semibold">By regime</h2>
      <Table label="By regime" columns={REGIME_COLUMNS} minWidth="38rem">
        {regimes.map(({ group, name, days, figures }, i) => (
          <Row
            key={`${group} ${name}`}
            heading={regimes[i - 1]?.group === group ? null : REGIME_NAMES[group]}
            name={`${name} (${formatCount(days)})`}
            figures={figures}
            problem={null}
          />
        ))}
      </Table>
    </>
  );
}

function Row({ heading, name, figures, problem }: {
  readonly heading: string | null;
  readonly name: string;
  readonly figures: Figures | null;
  readonly problem: string | null;
}) {
  return (
    <>
      {heading !== null && (
        <tr className="bg-sunken/50">
          <th scope="colgroup" colSpan={PHONE_COLUMNS} className="px-3 py-1 text-left text-xs font-medium text-muted">
            {heading}
          </th>
          <td colSpan={COLUMNS.length - PHONE_COLUMNS} className={WIDE_ONLY} />
        </tr>
      )}
      <tr className={ROW_CLASS}>
        <th scope="row" className="px-3 py-1 text-left font-normal">{name}</th>
        {figures === null ? <td colSpan={PHONE_COLUMNS - 1} className="px-3 text-left text-danger">{problem}</td> : (
          <>
            <td className={`px-3 ${toneClass(figures.total_return)}`}>{formatPercent(figures.total_return, true)}</td>
            <td className="px-3">{formatRatio(figures.sharpe)}</td>
            <td className={`px-3 ${WIDE_ONLY}`}>{formatPercent(figures.max_drawdown)}</td>
            <td className={`px-3 ${WIDE_ONLY}`}>{formatCount(figures.trades)}</td>
          </>
        )}
      </tr>
    </>
  );
}

/** The net return of each row as a bar from zero, with a line at that of the run itself. */
function StressBars({ rows }: { readonly rows: readonly StressRow[] }) {
  const shown = rows.filter(({ figures }) => figures?.total_return !== null && figures !== null);
  const values = shown.map(({ figures }) => figures?.total_return ?? 0);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const x = linear([low, high === low ? low + 1 : high], [EDGE, WIDTH - EDGE]);
  const bottom = TOP + shown.length * ROW_PX;
  const [asRun] = values;
  return (
    <section className="max-w-xl">
      <h2 className="mb-1 text-sm font-semibold">{TITLE}</h2>
      <svg
        viewBox={`0 0 ${WIDTH} ${bottom + BOTTOM}`}
        role="img"
        aria-label={`${TITLE}, from ${formatPercent(Math.min(...values))} to ${
          formatPercent(Math.max(...values))
        }; the run itself: ${formatPercent(asRun ?? null)}`}
        className="w-full fill-muted text-[10px] max-sm:text-[14px]"
      >
        {chooseTicks(low, high, 4).map((value) => (
          <g key={value}>
            <line x1={x(value)} x2={x(value)} y1={TOP} y2={bottom} className="stroke-line" />
            <text x={x(value)} y={bottom + 14} textAnchor="middle">{formatPercent(value)}</text>
          </g>
        ))}
        {asRun !== undefined && (
          <line x1={x(asRun)} x2={x(asRun)} y1={TOP} y2={bottom} strokeDasharray="3 3" className="stroke-text" />
        )}
        {shown.map(({ name }, i) => {
          const value = values[i] ?? 0;
          return (
            <g key={name}>
              <text
                x={4}
                y={TOP + i * ROW_PX + NAME_PX - 3}
                className="fill-text stroke-surface stroke-4 [paint-order:stroke]"
              >
                {name}
              </text>
              <rect
                x={Math.min(x(0), x(value))}
                width={Math.max(1, Math.abs(x(value) - x(0)))}
                y={TOP + i * ROW_PX + NAME_PX}
                height={BAR_PX}
                className={value > 0 ? "fill-gain" : "fill-loss"}
              >
                <title>{`${name}: ${formatPercent(value)}`}</title>
              </rect>
            </g>
          );
        })}
      </svg>
      <p className="text-xs text-muted">The dashed line is the run itself.</p>
    </section>
  );
}
