import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "@tanstack/react-router";
import { api, describeError, type Metric, type Optimization, type Surface } from "../../api.ts";
import { buttonClass } from "../../parts/button.tsx";
import { Choice } from "../../parts/choice.tsx";
import { findMetric, formatMetricValue, useMetrics } from "../../parts/metric_value.ts";
import { formatCount } from "../../parts/format.ts";
import { useReadOnly } from "../../parts/read_only.ts";
import { Tip } from "../../parts/tip.tsx";
import { meaningOf } from "../run/metric_name.tsx";
import { type Brush, HeatMap, rangesOf } from "./heat_map.tsx";
import { describeRegion } from "./region.ts";
import { settingLabel } from "./setting_axes.ts";
import { RunTrial } from "./run_trial.tsx";

const REDUCTIONS = ["best", "median", "mean", "worst"] as const;
const NONE = "nothing";
const MARKET = "market";

/** A metric over any one or two of the parameters; a chosen cell says its trial, which can be run. */
export function SurfaceSection({ optimization }: { readonly optimization: Optimization }) {
  const { id, space, markets, objective, direction, points } = optimization;
  // A batch over many markets has no other axis.
  const names = [...Object.keys(space), ...(markets === null ? [] : [MARKET])];
  const [x, setX] = useState(names[0] ?? "");
  const [y, setY] = useState((markets !== null && names.length > 1 ? MARKET : names[1]) ?? NONE);
  const [metric, setMetric] = useState<Metric["name"]>(objective);
  const [reduce, setReduce] = useState<(typeof REDUCTIONS)[number]>("best");
  const [brush, setBrush] = useState<Brush | null>(null);
  const definitions = useMetrics();
  const numeric = definitions.filter(({ format }) => format !== "date");
  const shown = findMetric(numeric, metric);
  const meaning = meaningOf(numeric, metric);
  const [best, worst] = direction === "max" ? ["max", "min"] as const : ["min", "max"] as const;
  // Each answer of trials that are done is another key, so that the map grows with them.
  const { data, error } = useQuery({
    ...api.optimizations.surface.queryOptions({
      id,
      x,
      ...(y === NONE || y === x ? {} : { y }),
      metric: numeric.some(({ name }) => name === metric) ? metric as typeof objective : objective,
      reduce: reduce === "best" ? best : reduce === "worst" ? worst : reduce,
    }),
    queryHash: `surface ${id} ${x} ${y} ${metric} ${reduce} ${points.done}`,
    placeholderData: keepPreviousData,
  });
  const surface = data?.surface;
  return (
    <>
      <div className="mb-2 flex flex-wrap items-center gap-3">
        <h2 className="mr-auto text-lg font-semibold">Heat map</h2>
        {([["Across", names, x, setX], ["Up", [NONE, ...names], y, setY]] as const).map((
          [label, values, value, set],
        ) => (
          <Choice
            key={label}
            label={label}
            values={values}
            labelOf={settingLabel}
            value={value}
            onChange={(name) => {
              set(name);
              setBrush(null);
            }}
          />
        ))}
        <Choice
          label="Of"
          values={numeric.map(({ name }) => name)}
          labelOf={(name) => findMetric(numeric, name).label}
          value={metric}
          onChange={setMetric}
        />
        {meaning !== undefined && <Tip text={meaning}>Definition</Tip>}
        <Choice label="Cell" values={REDUCTIONS} value={reduce} onChange={setReduce} />
      </div>
      {error !== null && <p role="alert" className="text-danger">{describeError(error)}</p>}
      {surface !== undefined && (
        <HeatMap
          surface={surface}
          name={shown.label}
          format={(value) => formatMetricValue(shown, value)}
          brush={brush}
          choose={setBrush}
        />
      )}
      {surface !== undefined && (
        <Chosen
          optimization={optimization}
          surface={surface}
          brush={brush}
          format={(value) => formatMetricValue(shown, value)}
        />
      )}
    </>
  );
}

/** The chosen cell with its trial, or the chosen region, which can be the space of another optimization. */
function Chosen({ optimization, surface, brush, format }: {
  readonly optimization: Optimization;
  readonly surface: Surface;
  readonly brush: Brush | null;
  readonly format: (value: number | null) => string;
}) {
  const isReadOnly = useReadOnly();
  const { id, markets } = optimization;
  // The record does not list the markets of a scan that were listed one after another.
  const canRepeat = !isReadOnly && (markets === null || markets.universe !== null);
  const chosen = brush === null ? null : readBrush(surface, brush);
  return (
    <div className="mt-2 flex min-h-8 flex-wrap items-center gap-3 text-sm" role="status">
      <p>
        {chosen === null
          ? (
            <span className="text-muted">
              Choose a cell by pointer or with the arrow keys, a region by dragging or with Shift.
            </span>
          )
          : chosen.cells > 1
          ? `${describeRegion(chosen.region)}: ${formatCount(chosen.cells)} cells`
          : `${chosen.place}: ${chosen.value === null ? "no trial" : format(chosen.value)}`}
      </p>
      {chosen !== null && chosen.cells === 1 && chosen.best !== null && <RunTrial id={id} number={chosen.best} />}
      {chosen !== null && chosen.cells > 1 && canRepeat && (
        <Link
          to="/optimizations/new"
          search={{ optimization: id, region: chosen.region }}
          className={buttonClass()}
        >
          Optimize this region
        </Link>
      )}
    </div>
  );
}

function readBrush({ x, y, values, best }: Surface, brush: Brush) {
  const [[left, right], [bottom, top]] = rangesOf(brush);
  const [column, row] = brush.head;
  const sides = [{ axis: x, from: left, to: right }, ...(y === null ? [] : [{ axis: y, from: bottom, to: top }])];
  return {
    region: Object.fromEntries(
      // Each market counts: a region of them keeps them all.
      sides.filter(({ axis }) => axis.parameter !== MARKET).map(({ axis, from, to }) =>
        [axis.parameter, [axis.values[from]!, axis.values[to]!] as const] as const
      ),
    ),
    cells: (right - left + 1) * (top - bottom + 1),
    place: sides.map(({ axis }, side) => `${settingLabel(axis.parameter)} ${axis.values[side === 0 ? column : row]}`)
      .join(", "),
    value: values[row]?.[column] ?? null,
    best: best[row]?.[column] ?? null,
  };
}
