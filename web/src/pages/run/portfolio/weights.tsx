import { useMemo } from "react";
import type { Portfolio } from "../../../api.ts";
import { formatDate, formatPercent } from "../../../parts/format.ts";
import { chooseDates, chooseTicks, linear } from "../../../parts/scale.ts";
import { Drawing, useFrame } from "../overview/drawing.tsx";

// More areas could not be told apart.
const AREAS_MAX = 9;
// The golden angle: neighbours have hues far apart.
const HUE_STEP = 137.5;
const DATE_PX = 56;

/** The weight of each market over time as stacked areas: long positions above zero, short ones below. */
export function Weights({ portfolio }: { readonly portfolio: Portfolio }) {
  const frame = useFrame();
  const drawn = useMemo(() => drawAreas(portfolio, frame), [portfolio, frame]);
  if (drawn === null) return null;
  const { areas, low, high, y, dates, largest } = drawn;
  return (
    <div>
      <Drawing
        title="Weights over time"
        description={`Parts of the equity in ${areas.length} areas, from ${formatPercent(low)} to ${
          formatPercent(high)
        } in sum. The largest on average is ${largest}.`}
        xLabel="Date (UTC)"
        xTicks={dates}
        yTicks={chooseTicks(low, high, 5).map((value) => [y(value), formatPercent(value)])}
      >
        {areas.map(({ name, path, color }) => (
          <path key={name} d={path} style={{ fill: color }} className="stroke-surface" strokeWidth="0.5">
            <title>{name}</title>
          </path>
        ))}
      </Drawing>
      <ul aria-label="Markets, from the axis outwards" className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
        {areas.map(({ name, color }) => (
          <li key={name} className="flex items-center gap-1.5">
            <span aria-hidden="true" className="inline-block size-2.5" style={{ backgroundColor: color }} />
            {name}
          </li>
        ))}
      </ul>
    </div>
  );
}

function drawAreas({ contributions, weights }: Portfolio, frame: ReturnType<typeof useFrame>) {
  const times = weights.timestamps.map((each) => Date.parse(each));
  if (times.length < 2 || weights.rows.length === 0) return null;
  const sums = new Map<number, number>();
  for (const [, market, weight] of weights.rows) sums.set(market, (sums.get(market) ?? 0) + Math.abs(weight));
  const ranked = [...sums].sort(([, a], [, b]) => b - a).map(([market]) => market);
  const own = ranked.slice(0, ranked.length > AREAS_MAX + 1 ? AREAS_MAX : AREAS_MAX + 1);
  const names = own.map((market) => contributions[market]!.instrument);
  if (own.length < ranked.length) names.push(`${ranked.length - own.length} others`);
  const columns = names.map(() => ({ above: new Float64Array(times.length), below: new Float64Array(times.length) }));
  const columnOf = new Map(ranked.map((market, i) => [market, Math.min(i, names.length - 1)]));
  for (const [moment, market, weight] of weights.rows) {
    const column = columns[columnOf.get(market)!]!;
    (weight > 0 ? column.above : column.below)[moment]! += weight;
  }
  const total = (pick: "above" | "below") =>
    times.map((_, t) => columns.reduce((sum, column) => sum + column[pick][t]!, 0));
  const [low, high] = [Math.min(0, ...total("below")), Math.max(0, ...total("above"))];
  const x = linear([times[0]!, times.at(-1)!], [frame.left, frame.width - frame.right]);
  const y = linear([low, high], [frame.height - frame.bottom, frame.top]);
  const bases = { above: new Float64Array(times.length), below: new Float64Array(times.length) };
  const stack = (column: (typeof columns)[number], pick: "above" | "below") => {
    const base = bases[pick];
    if (column[pick].every((weight) => weight === 0)) return "";
    const inner = times.map((time, t) => `${x(time).toFixed(1)} ${y(base[t]!).toFixed(1)}`);
    for (let t = 0; t < times.length; t++) base[t]! += column[pick][t]!;
    const outer = times.map((time, t) => `${x(time).toFixed(1)} ${y(base[t]!).toFixed(1)}`);
    return `M${outer.join("L")}L${inner.reverse().join("L")}Z`;
  };
  const areas = columns.map((column, i) => ({
    name: names[i]!,
    path: stack(column, "above") + stack(column, "below"),
    color: i < own.length ? `oklch(from var(--accent) l c calc(h + ${i * HUE_STEP}))` : "var(--muted)",
  }));
  const dates = chooseDates(Date.parse(formatDate(times[0]!)), times.at(-1)!, 6).filter((date) => date >= times[0]!)
    .map((date) => [x(date), formatDate(date)] as const)
    // A date at the edge would be cut.
    .filter(([place]) => place <= frame.width - frame.right - DATE_PX / 2);
  return { areas, low, high, y, dates, largest: names[0]! };
}
