import { useMemo } from "react";
import type { Portfolio } from "../../../api.ts";
import { formatPercent, formatTickPercent } from "../../../parts/format.ts";
import { chooseTicks, linear } from "../../../parts/scale.ts";
import { Drawing, useFrame } from "../overview/drawing.tsx";
import { MarketKeys } from "./market_keys.tsx";
import { chooseMarkets, dateTicks } from "./market_lines.ts";

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
        yTicks={chooseTicks(low, high, 5).map((value) => [y(value), formatTickPercent(value)])}
      >
        {areas.map(({ name, path, color }) => (
          <path key={name} d={path} style={{ fill: color }} className="stroke-surface" strokeWidth="0.5">
            <title>{name}</title>
          </path>
        ))}
      </Drawing>
      <MarketKeys label="Markets, from the axis outwards" drawn={areas} />
    </div>
  );
}

function drawAreas(portfolio: Portfolio, frame: ReturnType<typeof useFrame>) {
  const { weights } = portfolio;
  const times = weights.timestamps.map((each) => Date.parse(each));
  if (times.length < 2 || weights.rows.length === 0) return null;
  const { drawn, rowOf } = chooseMarkets(portfolio);
  const columns = drawn.map(() => ({ above: new Float64Array(times.length), below: new Float64Array(times.length) }));
  for (const [moment, market, weight] of weights.rows) {
    const column = columns[rowOf(market)!]!;
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
  const areas = columns.map((column, i) => ({ ...drawn[i]!, path: stack(column, "above") + stack(column, "below") }));
  const dates = dateTicks(times, x, frame.width - frame.right);
  return { areas, low, high, y, dates, largest: drawn[0]!.name };
}
