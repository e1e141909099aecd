import type { MonteCarloSample } from "../../../api.ts";
import { formatCount, formatMoney } from "../../../parts/format.ts";
import { chooseTicks, linear } from "../../../parts/scale.ts";
import { Drawing, Keys, useFrame } from "../overview/drawing.tsx";
import { SAMPLE_NAMES } from "./path_words.ts";

/** The real run's equity above the range of the paths: half of them in the dark band, nine tenths in both. */
export function FanChart({ sample: { sampling, curves } }: { readonly sample: MonteCarloSample }) {
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
    <div>
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
