import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api, describeError, type Optimization, type ScanRanking } from "../../api.ts";
import { formatCount, formatPercent } from "../../parts/format.ts";
import { findMetric, formatMetricValue, type ShownMetric, useMetrics } from "../../parts/metric_value.ts";
import { MetricName } from "../run/metric_name.tsx";
import { ROW_CLASS, Table } from "../../parts/table.tsx";
import { settingLabel } from "./setting_axes.ts";
import { RunTrial } from "./run_trial.tsx";

const POINTS_MAX = 50;

/** The points of a scan by the median over its markets, and its markets by the point that is first. */
export function ScanRankingSection({ optimization }: { readonly optimization: Optimization }) {
  const { id, objective, points, space, markets } = optimization;
  const definitions = useMetrics();
  const metric = findMetric(definitions, objective);
  const defined = definitions.find(({ name }) => name === objective);
  // Each answer of trials that are done is another key, so that the ranking grows with them.
  const { data, error } = useQuery({
    ...api.optimizations.ranking.queryOptions({ id, points: POINTS_MAX }),
    queryHash: `ranking ${id} ${points.done}`,
    placeholderData: keepPreviousData,
  });
  const names = Object.keys(space);
  const leftOut = markets?.left_out ?? [];
  return (
    <>
      <h2 className="mb-1 text-lg font-semibold">Over {formatCount(markets?.count)} markets</h2>
      <p className="mb-3 text-sm text-muted">
        Points by the median of {defined === undefined ? metric.label : <MetricName metric={defined} />}{" "}
        over the markets; a market where it is undefined counts as the worst.
        {leftOut.length > 0 && ` Left out, since no candles are held: ${leftOut.join(", ")}.`}
      </p>
      {error !== null && <p role="alert" className="text-danger">{describeError(error)}</p>}
      {data !== undefined && (
        <div className="flex flex-col gap-4">
          <Points ranking={data.ranking} names={names} metric={metric} />
          <Markets id={id} ranking={data.ranking} names={names} metric={metric} />
        </div>
      )}
    </>
  );
}

interface Ranked {
  readonly ranking: ScanRanking;
  readonly names: readonly string[];
  readonly metric: ShownMetric;
}

function Points({ ranking, names, metric }: Ranked) {
  return (
    <Table
      label="Points by the median over the markets"
      columns={[
        { label: "Place", isText: true },
        ...names.map((name) => ({ label: settingLabel(name), width: "7rem" })),
        {
          label: "Median",
          width: "7rem",
          meaning: `The middle ${metric.label} of the point's trials, one for each market.`,
        },
        { label: "Worst", width: "7rem", meaning: `The ${metric.label} of the market where the point did worst.` },
        { label: "Best", width: "7rem", meaning: `The ${metric.label} of the market where the point did best.` },
        {
          label: "Earned in",
          width: "8rem",
          meaning: "The share of the markets in which the point's net return is above 0.",
        },
        { label: "Markets", width: "6rem", meaning: "The markets on which the point has been tried and did not fail." },
      ]}
      minWidth={`${39 + 7 * names.length}rem`}
      empty="No trial is done yet."
    >
      {ranking.points.map(({ parameters, median, worst, best, earned, markets }, place) => (
        <tr key={JSON.stringify(parameters)} className={ROW_CLASS}>
          <td className="px-3 text-left text-muted">{place + 1}</td>
          {names.map((name) => <td key={name} className="truncate px-3">{String(parameters[name])}</td>)}
          <td className="px-3 font-medium">{formatMetricValue(metric, median)}</td>
          <td className="px-3">{formatMetricValue(metric, worst)}</td>
          <td className="px-3">{formatMetricValue(metric, best)}</td>
          <td className="px-3">{formatPercent(earned)}</td>
          <td className="px-3">{formatCount(markets)}</td>
        </tr>
      ))}
    </Table>
  );
}

function Markets({ id, ranking, names, metric }: Ranked & { readonly id: string }) {
  const hasPoints = names.length > 0;
  return (
    <Table
      label="Markets by the best point"
      columns={[
        { label: "Market", isText: true },
        {
          label: hasPoints ? "At the first point" : metric.label,
          width: "10rem",
          meaning: `The ${metric.label} of this market${
            hasPoints ? " with the settings in the first place above" : ""
          }.`,
        },
        ...(hasPoints
          ? [
            {
              label: "Its own best",
              width: "8rem",
              meaning: `The best ${metric.label} of this market with any settings.`,
            },
            { label: "With", width: "14rem", meaning: "The settings of its own best." },
          ]
          : []),
        { label: "Trials", width: "6rem" },
        { label: "Failed", width: "6rem" },
        { label: "As a run", width: "7rem" },
      ]}
      minWidth={hasPoints ? "63rem" : "42rem"}
    >
      {ranking.markets.map(({ market, at_best_point: atBest, own_best: own, trials, failed }) => (
        <tr key={market} className={ROW_CLASS}>
          <td className="truncate px-3 text-left font-medium">{market}</td>
          <td className="px-3">{formatMetricValue(metric, atBest?.value ?? null)}</td>
          {hasPoints && (
            <>
              <td className="px-3">{formatMetricValue(metric, own?.value ?? null)}</td>
              <td className="truncate px-3 text-muted">
                {own === null
                  ? ""
                  : Object.entries(own.parameters).map(([name, value]) => `${settingLabel(name)} ${value}`).join(", ")}
              </td>
            </>
          )}
          <td className="px-3">{formatCount(trials)}</td>
          <td className="px-3">{formatCount(failed)}</td>
          <td className="px-3">{atBest !== null && <RunTrial id={id} number={atBest.number} />}</td>
        </tr>
      ))}
    </Table>
  );
}
