import { useState } from "react";
import type { Optimization } from "../../api.ts";
import { Choice } from "../../parts/choice.tsx";
import { chooseTicks, linear } from "../../parts/scale.ts";
import { formatMetricValue, useMetric } from "../../parts/metric_value.ts";
import { Drawing, Keys, useFrame } from "../run/overview/drawing.tsx";

type Windows = NonNullable<Optimization["windows"]>;
type Run = Windows[number]["in_sample"];

const TICKS_MAX = 5;
// Of a window's width, for its two bars together.
const BARS_PART = 0.7;

/** Each window's figure in its training and in its test, side by side. */
export function WindowBars({ windows, objective }: {
  readonly windows: Windows;
  readonly objective: Optimization["objective"];
}) {
  const frame = useFrame();
  const metric = useMetric();
  const labelOf = (name: string) => metric(name).label;
  const [figure, setFigure] = useState<Optimization["objective"]>(objective);
  const isAnnual = figure === "annual_return";
  const read = (run: Run) => (isAnnual ? run?.annual_return : run?.objective) ?? null;
  const format = (value: number | null) => formatMetricValue(metric(figure), value);
  const pairs = windows.map(({ in_sample, out_of_sample }) => [read(in_sample), read(out_of_sample)] as const);
  const known = pairs.flat().filter((value) => value !== null);
  const [low, high] = [Math.min(0, ...known), Math.max(0, ...known)];
  const width = (frame.width - frame.left - frame.right) / windows.length;
  const y = linear([low, high], [frame.height - frame.bottom, frame.top]);
  const every = Math.ceil(windows.length / TICKS_MAX);
  const both = pairs.filter(([inside, outside]) => inside !== null && outside !== null);
  const below = both.filter(([inside, outside]) => Number(outside) < Number(inside));
  return (
    <div>
      {objective !== "annual_return" && (
        <div className="mb-1 flex sm:float-right">
          <Choice
            label="Of"
            values={[objective, "annual_return"]}
            labelOf={labelOf}
            value={figure}
            onChange={setFigure}
          />
        </div>
      )}
      <Drawing
        title="In sample against out of sample"
        description={`${
          labelOf(figure)
        } of each window: in ${below.length} of ${both.length} it is lower out of sample`}
        xLabel="Start of the test"
        xTicks={windows.flatMap(({ test_start }, i) =>
          i % every === 0 ? [[frame.left + (i + 0.5) * width, test_start] as const] : []
        )}
        yTicks={chooseTicks(low, high, 5).map((value) => [y(value), format(value).replace(/\.00%$/, "%")])}
      >
        {windows.map(({ test_start, test_end }, i) => (
          <g key={test_start}>
            <title>
              {`${test_start} to ${test_end}: ${format(pairs[i]![0])} in sample, ${format(pairs[i]![1])} out of sample`}
            </title>
            {pairs[i]!.map((value, side) =>
              value !== null && (
                <rect
                  key={side}
                  x={frame.left + (i + 0.5) * width + (side - 1) * width * BARS_PART / 2}
                  width={width * BARS_PART / 2}
                  y={Math.min(y(0), y(value))}
                  height={Math.max(1, Math.abs(y(value) - y(0)))}
                  className={side === 0 ? "fill-strong-line" : "fill-accent"}
                />
              )
            )}
          </g>
        ))}
        <line x1={frame.left} x2={frame.width - frame.right} y1={y(0)} y2={y(0)} className="stroke-muted" />
      </Drawing>
      <Keys looks={{ "In sample": "bg-strong-line h-3", "Out of sample": "bg-accent h-3" }} />
    </div>
  );
}
