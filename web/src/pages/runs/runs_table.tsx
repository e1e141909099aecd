import { linkOptions } from "@tanstack/react-router";
import type { BacktestSummary } from "../../api.ts";
import { formatCount, formatPercent, formatRatio, formatTime, toneClass } from "../../parts/format.ts";
import { LinkRow, RowLink } from "../../parts/link_row.tsx";
import { StatusBadge } from "../../parts/status_badge.tsx";
import { ROW_CLASS, Table, type TableColumn } from "../../parts/table.tsx";

const COLUMNS: readonly TableColumn[] = [
  { label: "Status", isText: true, width: "8rem" },
  { label: "Strategy", isText: true },
  { label: "Symbol", isText: true, width: "13rem" },
  { label: "Time", isText: true, width: "3.5rem" },
  { label: "Range", isText: true, width: "12rem" },
  { label: "Return", width: "6.5rem" },
  { label: "Sharpe", width: "5rem" },
  { label: "Drawdown", width: "6rem" },
  { label: "Trades", width: "5rem" },
  { label: "Made (UTC)", width: "9rem" },
];

/** A row for each run; a click or Enter opens it. */
export function RunsTable(
  { runs, isLoading }: { readonly runs: readonly BacktestSummary[]; readonly isLoading: boolean },
) {
  return (
    <Table label="Runs" columns={COLUMNS} minWidth="64rem" isLoading={isLoading}>
      {runs.map((run) => <RunRow key={run.id} run={run} />)}
    </Table>
  );
}

function RunRow({ run }: { readonly run: BacktestSummary }) {
  const { id, strategy, symbol, exchange, timeframe, start_date, end_date, metrics, created_at } = run;
  const link = linkOptions({ to: "/runs/$id", params: { id } });
  return (
    <LinkRow link={link} className={ROW_CLASS}>
      <td className="px-3 text-left">
        <StatusBadge {...run} />
      </td>
      <td className="px-3 text-left">
        <RowLink link={link} text={strategy} />
      </td>
      <td className="truncate px-3 text-left" title={`${symbol} on ${exchange}`}>
        {symbol} <span className="text-muted">{exchange}</span>
      </td>
      <td className="px-3 text-left">{timeframe}</td>
      <td className="px-3 text-left whitespace-nowrap text-muted">{start_date} – {end_date}</td>
      <td className={`px-3 ${toneClass(metrics?.total_return)}`}>{formatPercent(metrics?.total_return, true)}</td>
      <td className="px-3">{formatRatio(metrics?.sharpe)}</td>
      <td className="px-3">{formatPercent(metrics?.max_drawdown)}</td>
      <td className="px-3">{formatCount(metrics?.trades)}</td>
      <td className="px-3 whitespace-nowrap text-muted">{formatTime(created_at)}</td>
    </LinkRow>
  );
}
