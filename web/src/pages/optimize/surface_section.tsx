import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, describeError, type Metric, type Optimization } from "../../api.ts";
import { Choice } from "../../parts/choice.tsx";
import { findMetric, formatMetricValue, useMetrics } from "../../parts/metric_value.ts";
import { HeatMap } from "./heat_map.tsx";
import { RunTrial } from "./run_trial.tsx";

const REDUCTIONS = ["best", "median", "mean", "worst"] as const;
const NONE = "nothing";

/** A metric over any one or two of the parameters; a chosen cell says its trial, which can be run. */
export function SurfaceSection({ optimization }: { readonly optimization: Optimization }) {
  const { id, space, markets, objective, direction, points } = optimization;
  // A batch over many markets has no other axis.
  const names = [...Object.keys(space), ...(markets === null ? [] : ["market"])];
  const [x, setX] = useState(names[0] ?? "");
  const [y, setY] = useState((markets !== null && names.length > 1 ? "market" : names[1]) ?? NONE);
  const [metric, setMetric] = useState<Metric["name"]>(objective);
  const [reduce, setReduce] = useState<(typeof REDUCTIONS)[number]>("best");
  const [chosen, setChosen] = useState<readonly [x: number, y: number] | null>(null);
  const definitions = useMetrics();
  const numeric = definitions.filter(({ format }) => format !== "date");
  const shown = findMetric(numeric, metric);
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
  const cell = surface !== undefined && chosen !== null ? readCell(surface, chosen) : null;
  return (
    <>
      <div className="mb-2 flex flex-wrap items-center gap-3">
        <h2 className="mr-auto text-lg font-semibold">Heat map</h2>
        <Choice label="Across" values={names} value={x} onChange={setX} />
        <Choice label="Up" values={[NONE, ...names]} value={y} onChange={setY} />
        <Choice
          label="Of"
          values={numeric.map(({ name }) => name)}
          labelOf={(name) => findMetric(numeric, name).label}
          value={metric}
          onChange={setMetric}
        />
        <Choice label="Cell" values={REDUCTIONS} value={reduce} onChange={setReduce} />
      </div>
      {error !== null && <p role="alert" className="text-danger">{describeError(error)}</p>}
      {surface !== undefined && (
        <HeatMap
          surface={surface}
          name={shown.label}
          format={(value) => formatMetricValue(shown, value)}
          chosen={chosen}
          choose={setChosen}
        />
      )}
      <p className="mt-2 flex min-h-8 flex-wrap items-center gap-3 text-sm" role="status">
        {cell === null ? <span className="text-muted">Choose a cell by pointer or with the arrow keys.</span> : (
          <>
            <span>{cell.place}: {cell.value === null ? "no trial" : formatMetricValue(shown, cell.value)}</span>
            {cell.best !== null && <RunTrial id={id} number={cell.best} />}
          </>
        )}
      </p>
    </>
  );
}

function readCell(
  { x, y, values, best }: Parameters<typeof HeatMap>[0]["surface"],
  [column, row]: readonly [number, number],
) {
  const place = [
    `${x.parameter} ${x.values[column]}`,
    ...(y === null ? [] : [`${y.parameter} ${y.values[row]}`]),
  ].join(", ");
  return { place, value: values[row]?.[column] ?? null, best: best[row]?.[column] ?? null };
}
