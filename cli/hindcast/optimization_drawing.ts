import type { Outputs } from "../../client/index.ts";
import { METRIC_DEFINITIONS } from "../../engine/metrics/definitions.ts";
import { drawRows, formatMetric, formatShare } from "../drawing.ts";
import { drawHeatMap } from "../heat_map.ts";
import { wrap } from "../terminal.ts";
import { type Caller, calling } from "./caller.ts";
import type { Output } from "./command.ts";
import { describeMarkets } from "./run_drawing.ts";

/** A record, as the service answers it. */
export type Optimization = Outputs["optimizations"]["get"]["optimization"];

const TEXT_COLUMNS = 100;
// Points and markets of a scan that are shown.
const RANKED_MAX = 10;

/** An optimization as a person reads it: its best points, a map over two parameters, and how much of it is luck. */
export async function drawOptimization(caller: Caller, optimization: Optimization, output: Output): Promise<string> {
  const { paint, columns } = output;
  const { id, strategy, start_date: start, end_date: end, status, trials, objective, best, luck, overfitting, tries } =
    optimization;
  const names = Object.keys(best[0]?.parameters ?? {});
  const isScan = optimization.markets !== null;
  const rows = best.map(({ number, market = "", objective: value, parameters }) => [
    String(number),
    ...(isScan ? [market] : []),
    formatMetric(objective, value),
    ...names.map((name) => String(parameters[name])),
  ]);
  const { label } = METRIC_DEFINITIONS[objective];
  const conclusion = luck?.conclusion ?? overfitting?.conclusion;
  const said = [
    ...(conclusion === undefined ? [] : [`How much of it is luck: ${conclusion}`]),
    ...(tries === null || tries === undefined ? [] : [`The best trial among all your tries: ${tries.conclusion}`]),
  ];
  const speed = trials.per_second === null ? "" : `, ${Math.round(trials.per_second)} a second`;
  return [
    `${paint("bold", optimization.name ?? strategy)}  ${describeScan(optimization)}, ${start} to ${end}`,
    `${id}  ${status}, ${trials.done.toLocaleString("en-US")} trials${speed}`,
    ...(rows.length === 0 ? [] : [
      "",
      drawRows(
        [
          " Trial",
          ...(isScan ? [" Market"] : []),
          ` ${label}`,
          ...names.map((name) => ` ${name}`),
        ],
        rows,
        output,
      ),
    ]),
    ...await drawRanking(caller, optimization, output),
    ...await drawSurface(caller, optimization, output),
    ...said.flatMap((text) => ["", ...wrap(text, Math.min(columns, TEXT_COLUMNS))]),
  ].join("\n");
}

/** The market of an optimization, or how many they are. */
export function describeScan(optimization: Optimization): string {
  const { markets } = optimization;
  return markets === null ? describeMarkets(optimization) : markets.universe ?? `${markets.count} markets`;
}

/** The best points of a scan by the median over its markets, and its markets by the best of them. */
async function drawRanking(caller: Caller, { id, markets, objective }: Optimization, output: Output) {
  if (markets === null) return [];
  const { ranking } = await calling(caller, caller.api.optimizations.ranking.query({ id, points: RANKED_MAX }));
  const show = (value: number | null) => value === null ? "" : formatMetric(objective, value);
  const names = Object.keys(ranking.points[0]?.parameters ?? {});
  const points = ranking.points.map(({ median, worst, best, earned, parameters }) => [
    ...[show(median), show(worst), show(best), formatShare(earned)],
    ...names.map((name) => String(parameters[name])),
  ]);
  const shown = ranking.markets.slice(0, RANKED_MAX).map(({ market, at_best_point: at, own_best: own }) => [
    ...[market, show(at?.value ?? null), show(own?.value ?? null)],
  ]);
  const { label } = METRIC_DEFINITIONS[objective];
  const heads = [" Median", " Worst", " Best", " Earned in", ...names.map((name) => ` ${name}`)];
  return [
    ...["", output.paint("bold", `Points by the median ${label} over ${markets.count} markets`)],
    drawRows(heads, points, output),
    ...["", output.paint("bold", "Markets by the first of these points")],
    drawRows([" Market", " At the point", " Its own best"], shown, output),
  ];
}

/** The objective over the two parameters of a space; nothing where there are more. */
async function drawSurface(caller: Caller, optimization: Optimization, { paint, columns }: Output): Promise<string[]> {
  const [x, y, ...others] = Object.keys(optimization.space);
  if (optimization.status !== "completed" || x === undefined || y === undefined || others.length > 0) return [];
  const { id, objective } = optimization;
  const { surface } = await calling(caller, caller.api.optimizations.surface.query({ id, x, y }));
  const title = `${METRIC_DEFINITIONS[objective].label}, the fuller the higher, red below zero`;
  return ["", paint("bold", title), drawHeatMap(surface, paint, columns)];
}
