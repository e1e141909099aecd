import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, client, describeError, type Optimization, pagesOf, type Trial } from "../../api.ts";
import { MoreButton } from "../../parts/more_button.tsx";
import { ROW_CLASS, Table, type TableColumn } from "../../parts/table.tsx";
import { findMetric, formatMetricValue, numberOf, type ShownMetric, useMetrics } from "../../parts/metric_value.ts";
import { useReadOnly } from "../../parts/read_only.ts";
import { Interval } from "../../parts/interval.tsx";
import { hasEnded } from "../../parts/use_backtest.ts";
import { meaningOf } from "../run/metric_name.tsx";
import { RunTrial } from "./run_trial.tsx";
import { settingLabel } from "./setting_axes.ts";

const PAGE = 50;
const MAIN = ["total_return", "sharpe", "max_drawdown", "trades", "win_rate", "profit_factor"] as const;

type Sort = Optimization["objective"] | "number";

/** All trials, the best first until another order is chosen; those so far, while it runs. */
export function TrialTable({ optimization }: { readonly optimization: Optimization }) {
  const { id, space, markets, objective, direction, points } = optimization;
  const isUnderWay = !hasEnded(optimization);
  const [sort, setSort] = useState<{ readonly by: Sort; readonly isDown: boolean }>({
    by: objective,
    isDown: direction === "max",
  });
  const definitions = useMetrics();
  const metricOf = (name: string) => findMetric(definitions, name);
  const isReadOnly = useReadOnly();
  const order = sort.isDown ? "desc" as const : "asc" as const;
  const list = useInfiniteQuery({
    ...pagesOf(
      [...api.optimizations.trials.pathKey(), id, sort, points.done],
      (cursor) => client.optimizations.trials.query({ id, limit: PAGE, sort: sort.by, order, ...cursor }),
    ),
    placeholderData: (before) => before,
  });
  const trials = list.data?.pages.flatMap((page) => page.trials) ?? [];
  const metrics = [...new Set<Optimization["objective"]>([objective, ...MAIN])];
  const names = Object.keys(space);
  const sortBy = (by: Sort) => ({
    isDown: sort.by === by ? sort.isDown : undefined,
    onSort: () => setSort({ by, isDown: sort.by === by ? !sort.isDown : true }),
  });
  const columns: readonly TableColumn[] = [
    { label: "Trial", isText: true, width: "4rem", sort: sortBy("number") },
    ...(markets === null ? [] : [{ label: "Market", isText: true, width: "10rem" } as const]),
    ...names.map((name) => ({ label: settingLabel(name) })),
    ...metrics.map((metric) => ({
      label: metricOf(metric).label,
      meaning: meaningOf(definitions, metric),
      width: "8rem",
      sort: sortBy(metric),
    })),
    ...(isReadOnly ? [] : [{ label: "As a run", width: "7rem" }]),
  ];
  return (
    <>
      <h2 className="mb-2 text-lg font-semibold">{isUnderWay ? "Trials so far" : "All trials"}</h2>
      {list.error !== null && <p role="alert" className="text-danger">{describeError(list.error)}</p>}
      <Table
        label="All trials"
        columns={columns}
        minWidth={`${(markets === null ? 11 : 21) + widthOf(names) + 8 * metrics.length}rem`}
        isLoading={list.isPending}
        isStale={list.isPlaceholderData && !isUnderWay}
      >
        {trials.map((trial) => (
          <TrialRow
            key={trial.number}
            id={id}
            trial={trial}
            names={names}
            hasMarket={markets !== null}
            metrics={metrics.map(metricOf)}
          />
        ))}
      </Table>
      {!isUnderWay && (
        <div className="mt-2 flex justify-center">
          <MoreButton pages={list} label="Load more trials" />
        </div>
      )}
    </>
  );
}

/** The least width of columns that have these headings, in rem. */
function widthOf(names: readonly string[]): number {
  return names.map((name) => Math.min(9, Math.max(4.5, 1.5 + 0.55 * settingLabel(name).length)))
    .reduce((sum, width) => sum + width, 0);
}

function TrialRow({ id, trial, names, hasMarket, metrics }: {
  readonly id: string;
  readonly trial: Trial;
  readonly names: readonly string[];
  readonly hasMarket: boolean;
  readonly metrics: readonly ShownMetric[];
}) {
  const { number, parameters, error } = trial;
  const isReadOnly = useReadOnly();
  return (
    <tr className={ROW_CLASS}>
      <td className="px-3 text-left text-muted">{number}</td>
      {hasMarket && <td className="truncate px-3 text-left">{trial.market}</td>}
      {names.map((name) => <td key={name} className="truncate px-3">{String(parameters[name])}</td>)}
      {trial.metrics === null
        ? (
          <td colSpan={metrics.length} className="truncate px-3 text-left text-danger" title={error?.message}>
            {error?.message}
          </td>
        )
        : metrics.map((metric) => (
          <td
            key={metric.name}
            className="truncate px-3"
            title={trial.undefined_metrics[metric.name]}
          >
            {formatMetricValue(metric, numberOf(trial.metrics!, metric.name))}
            {metric.name === "sharpe" && <Interval low={trial.metrics?.sharpe_low} high={trial.metrics?.sharpe_high} />}
          </td>
        ))}
      {!isReadOnly && (
        <td className="px-3">
          <RunTrial id={id} number={number} />
        </td>
      )}
    </tr>
  );
}
