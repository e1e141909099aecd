import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, linkOptions } from "@tanstack/react-router";
import { api, client, describeError, type Optimization, pagesOf } from "../../api.ts";
import { buttonClass } from "../../parts/button.tsx";
import { formatCount, formatTime } from "../../parts/format.ts";
import { LinkRow, RowLink } from "../../parts/link_row.tsx";
import { MoreButton } from "../../parts/more_button.tsx";
import { StatusBadge } from "../../parts/status_badge.tsx";
import { Table, type TableColumn, TALL_ROW_CLASS, WIDE_ONLY } from "../../parts/table.tsx";
import { findMetric, formatMetricValue, useMetrics } from "../../parts/metric_value.ts";
import { MetricName } from "../run/metric_name.tsx";
import { settingLabel } from "./setting_axes.ts";
import { hasEnded } from "../../parts/use_backtest.ts";

const PAGE = 50;
const LIVE_MS = 1_000;
const COLUMNS: readonly TableColumn[] = [
  { label: "Optimization", isText: true },
  { label: "Status", isText: true, width: "9rem", onPhone: "max-sm:w-28!" },
  { label: "Market", isText: true, width: "13rem", onPhone: WIDE_ONLY },
  { label: "Trials", width: "7rem", onPhone: WIDE_ONLY },
  { label: "Best", width: "9rem", onPhone: "max-sm:w-24!" },
  { label: "Made (UTC)", width: "9rem", onPhone: WIDE_ONLY },
];

/** The user's optimizations with their progress. */
export function OptimizationsPage() {
  const list = useInfiniteQuery({
    ...pagesOf(
      api.optimizations.list.pathKey(),
      (cursor) => client.optimizations.list.query({ limit: PAGE, ...cursor }),
    ),
    refetchInterval: ({ state }) =>
      state.data?.pages.some((page) => page.optimizations.some((each) => !hasEnded(each))) ? LIVE_MS : false,
  });
  const rows = list.data?.pages.flatMap(({ optimizations }) => optimizations) ?? [];
  return (
    <div className="flex flex-col gap-3">
      <header className="flex flex-wrap items-center gap-3">
        <h1 className="mr-auto text-xl font-semibold">Optimizations</h1>
        <Link to="/optimizations/new" className={buttonClass("primary")}>New optimization</Link>
      </header>
      {list.error !== null && <p role="alert" className="text-danger">{describeError(list.error)}</p>}
      <Table
        label="Optimizations"
        columns={COLUMNS}
        minWidth="56rem"
        rowClass={TALL_ROW_CLASS}
        isLoading={list.isPending}
        empty="An optimization runs a strategy with many parameters, and says how much of the best result is luck."
      >
        {rows.map((row) => <Row key={row.id} row={row} />)}
      </Table>
      <MoreButton pages={list} label="Load more optimizations" isAuto />
    </div>
  );
}

function Row({ row }: { readonly row: Optimization }) {
  const { id, name, strategy, symbol, exchange, parameters, space, trials, best, objective, created_at } = row;
  const definitions = useMetrics();
  const metric = findMetric(definitions, objective);
  const defined = definitions.find((each) => each.name === objective);
  const varied = `${strategy}: ${Object.keys(space).map(settingLabel).join(", ")}`;
  const link = linkOptions({ to: "/optimizations/$id", params: { id } });
  return (
    <LinkRow link={link} className={TALL_ROW_CLASS}>
      <td className="px-3 text-left">
        <RowLink link={link} text={name ?? varied} />
        {name !== null && <span className="block truncate text-xs text-muted" title={varied}>{varied}</span>}
      </td>
      <td className="px-3 text-left">
        <StatusBadge {...row} />
      </td>
      <td className={`px-3 text-left ${WIDE_ONLY}`}>
        <span className="block truncate">{symbol}</span>
        <span className="block truncate text-xs text-muted">{exchange} · {String(parameters["timeframe"])}</span>
      </td>
      <td className={`px-3 ${WIDE_ONLY}`}>{formatCount(trials.done)}</td>
      <td className="px-3">
        {formatMetricValue(metric, best[0]?.objective ?? null)}
        <span className="block truncate text-xs text-muted">
          {defined === undefined ? metric.label : <MetricName metric={defined} />}
        </span>
      </td>
      <td className={`px-3 text-xs whitespace-nowrap text-muted ${WIDE_ONLY}`}>{formatTime(created_at)}</td>
    </LinkRow>
  );
}
