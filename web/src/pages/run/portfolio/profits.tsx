import { useMemo } from "react";
import type { Portfolio } from "../../../api.ts";
import { formatCount, formatMoney } from "../../../parts/format.ts";
import { chooseTicks, linear } from "../../../parts/scale.ts";
import { Drawing, useFrame } from "../overview/drawing.tsx";
import { MarketKeys } from "./market_keys.tsx";
import { chooseMarkets, dateTicks, profitLines } from "./market_lines.ts";

const TOTAL = { name: "All markets", color: "var(--text)" } as const;

/** Draws the profit of each market over time, in the colours of the weights, and all of them together. */
export function Profits({ portfolio }: { readonly portfolio: Portfolio }) {
  const frame = useFrame();
  const drawn = useMemo(() => drawLines(portfolio, frame), [portfolio, frame]);
  if (drawn === null) {
    return (
      <section>
        <h2 className="mb-1 text-sm font-semibold">Contributions over time</h2>
        <p className="text-sm text-muted">This result is from before they were kept: run it again to see them.</p>
      </section>
    );
  }
  const { lines, total, low, high, y, dates } = drawn;
  return (
    <div>
      <Drawing
        title="Contributions over time"
        description={`Money that each market has given, net of fees, in ${lines.length} lines, and all together: ${
          formatMoney(total, true)
        } at the end.`}
        xLabel="Date (UTC)"
        xTicks={dates}
        yTicks={chooseTicks(low, high, 8).map((value) => [y(value), formatCount(value)])}
      >
        <line
          x1={frame.left}
          x2={frame.width - frame.right}
          y1={y(0)}
          y2={y(0)}
          strokeDasharray="2 3"
          className="stroke-strong-line"
        />
        {lines.map(({ name, points, color }) => (
          <polyline
            key={name}
            points={points}
            fill="none"
            strokeWidth={name === TOTAL.name ? 2 : 1.25}
            strokeLinejoin="round"
            style={{ stroke: color }}
          >
            <title>{name}</title>
          </polyline>
        ))}
      </Drawing>
      <MarketKeys label="Lines" drawn={lines} />
    </div>
  );
}

function drawLines(portfolio: Portfolio, frame: ReturnType<typeof useFrame>) {
  const profits = profitLines(portfolio);
  if (profits === null) return null;
  const times = portfolio.weights.timestamps.map((each) => Date.parse(each));
  const { drawn, rowOf } = chooseMarkets(portfolio);
  const sums = [...drawn.map(() => new Float64Array(times.length)), new Float64Array(times.length)];
  const all = sums.at(-1)!;
  profits.forEach((line, market) => {
    const row = rowOf(market);
    line.forEach((profit, moment) => {
      all[moment]! += profit;
      // One that was held between two moments alone has no weight, and no line.
      if (row !== undefined) sums[row]![moment]! += profit;
    });
  });
  const low = sums.reduce((least, line) => line.reduce((a, b) => Math.min(a, b), least), 0);
  const high = sums.reduce((most, line) => line.reduce((a, b) => Math.max(a, b), most), 0);
  const x = linear([times[0]!, times.at(-1)!], [frame.left, frame.width - frame.right]);
  const y = linear([low, high], [frame.height - frame.bottom, frame.top]);
  const lines = [...drawn, TOTAL].map((look, i) => ({
    ...look,
    points: times.map((time, t) => `${x(time).toFixed(1)},${y(sums[i]![t]!).toFixed(1)}`).join(" "),
  }));
  return { lines, total: all.at(-1)!, low, high, y, dates: dateTicks(times, x, frame.width - frame.right) };
}
