import { formatPercent } from "../../../parts/format.ts";
import { chooseTicks, linear } from "../../../parts/scale.ts";
import type { StressRow } from "./stress_words.ts";

const ROW_PX = 30;
const NAME_PX = 15;
const BAR_PX = 11;
const WIDTH = 420;
const TOP = 6;
const BOTTOM = 22;
// Half of a text, which a phone shows larger.
const EDGE = 30;
const TITLE = "Net return with each change";

/** The net return of each row as a bar from zero, with a line at that of the run itself. */
export function StressBars({ rows }: { readonly rows: readonly StressRow[] }) {
  const shown = rows.filter(({ figures }) => figures?.total_return !== null && figures !== null);
  const values = shown.map(({ figures }) => figures?.total_return ?? 0);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const x = linear([low, high === low ? low + 1 : high], [EDGE, WIDTH - EDGE]);
  const bottom = TOP + shown.length * ROW_PX;
  const [asRun] = values;
  return (
    <section>
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
        {shown.map(({ name }, i) => {
          const value = values[i] ?? 0;
          return (
            <g key={name}>
              <text x={4} y={TOP + i * ROW_PX + NAME_PX - 3} className="fill-text">{name}</text>
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
        {asRun !== undefined && (
          <line x1={x(asRun)} x2={x(asRun)} y1={TOP} y2={bottom} strokeDasharray="3 3" className="stroke-text" />
        )}
      </svg>
      <p className="text-xs text-muted">The dashed line is the run itself.</p>
    </section>
  );
}
