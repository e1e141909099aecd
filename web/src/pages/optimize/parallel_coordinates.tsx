import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api, describeError, type Optimization, type Trial } from "../../api.ts";
import { linear } from "../../parts/scale.ts";
import { formatMetricValue, numberOf, type ShownMetric, useMetric } from "../../parts/metric_value.ts";
import { settingLabel } from "./setting_axes.ts";
import { useFrame } from "../run/overview/drawing.tsx";

const [HEIGHT, SIDE, TOP, BOTTOM] = [304, 44, 27, 18];
// More lines hide each other.
const TRIALS = 200;
const TINTS = 8;

/** A line for each of the best trials through its parameters to its objective: good regions are where bright lines meet. */
export function ParallelCoordinates({ optimization }: { readonly optimization: Optimization }) {
  const { id, objective, direction, points } = optimization;
  const { width } = useFrame();
  const metric = useMetric()(objective);
  const { label } = metric;
  const order = direction === "max" ? "desc" as const : "asc" as const;
  const { data, error } = useQuery({
    ...api.optimizations.trials.queryOptions({ id, limit: TRIALS, sort: objective, order }),
    queryHash: `parallel ${id} ${points.done}`,
    placeholderData: keepPreviousData,
  });
  const drawn = useMemo(() => draw(optimization, data?.trials ?? [], metric, width), [
    optimization,
    data,
    label,
    width,
  ]);
  return (
    <>
      <h2 className="mb-2 text-lg font-semibold">The best {Math.min(TRIALS, data?.trials.length ?? 0)} trials</h2>
      {error !== null && <p role="alert" className="text-danger">{describeError(error)}</p>}
      <svg
        viewBox={`0 0 ${width} ${HEIGHT}`}
        role="img"
        aria-label={`Parameters of the best trials, a line for each, to ${label}`}
        className="w-full fill-muted text-[10px]"
      >
        {drawn.groups.map(({ tint, path }) => (
          <path
            key={tint}
            d={path}
            className="fill-none"
            strokeWidth={tint === TINTS ? 1.6 : 1}
            style={{
              stroke: `color-mix(in oklab, var(--accent) ${10 + Math.round(tint / TINTS * 90)}%, var(--surface))`,
            }}
          />
        ))}
        {drawn.axes.map(({ name, x, low, high }) => (
          <g key={name}>
            <line x1={x} x2={x} y1={TOP} y2={HEIGHT - BOTTOM} className="stroke-strong-line" />
            <text x={x} y={10} textAnchor="middle" className="fill-text">{name}</text>
            <text x={x} y={TOP - 4} textAnchor="middle">{high}</text>
            <text x={x} y={HEIGHT - 6} textAnchor="middle">{low}</text>
          </g>
        ))}
      </svg>
    </>
  );
}

interface Column {
  readonly name: string;
  readonly low: string;
  readonly high: string;
  /** From 0 to 1. */
  readonly placeOf: (trial: Trial) => number;
}

function draw(
  { space, objective, direction }: Optimization,
  trials: readonly Trial[],
  metric: ShownMetric,
  width: number,
) {
  const scored = trials.flatMap((trial) => {
    const value = trial.metrics === null ? null : numberOf(trial.metrics, objective);
    return value === null ? [] : [{ trial, value }];
  });
  const [low, high] = [scored.at(-1)?.value ?? 0, scored[0]?.value ?? 0].sort((a, b) => a - b) as [number, number];
  const rank = linear([low, high], direction === "max" ? [0, 1] : [1, 0]);
  const last: Column = {
    name: metric.label,
    low: formatMetricValue(metric, low),
    high: formatMetricValue(metric, high),
    placeOf: (trial) =>
      linear([low, high], [0, 1])(trial.metrics === null ? low : numberOf(trial.metrics, objective) ?? low),
  };
  const columns = [...Object.entries(space).map(([name, axis]) => toColumn(name, axis)), last];
  const x = linear([0, columns.length - 1], [SIDE, width - SIDE]);
  const y = linear([0, 1], [HEIGHT - BOTTOM, TOP]);
  const groups = Map.groupBy(scored, ({ value }) => Math.round(rank(value) * TINTS));
  return {
    axes: columns.map(({ name, low: from, high: to }, i) => ({
      name: settingLabel(name),
      x: x(i),
      low: from,
      high: to,
    })),
    // The best lie on top.
    groups: [...groups].sort(([a], [b]) => a - b).map(([tint, members]) => ({
      tint,
      path: members.map(({ trial }) =>
        `M${columns.map(({ placeOf }, i) => `${x(i).toFixed(1)} ${y(placeOf(trial)).toFixed(1)}`).join("L")}`
      ).join(""),
    })),
  };
}

function toColumn(name: string, axis: Optimization["space"][string]): Column {
  if ("values" in axis) {
    const place = linear([0, axis.values.length - 1], [0, 1]);
    return {
      name,
      low: String(axis.values[0]),
      high: String(axis.values.at(-1)),
      placeOf: ({ parameters }) => place(axis.values.indexOf(parameters[name]!)),
    };
  }
  const place = linear([axis.min, axis.max], [0, 1]);
  return {
    name,
    low: String(axis.min),
    high: String(axis.max),
    placeOf: ({ parameters }) => place(Number(parameters[name])),
  };
}
