import { Link, useNavigate } from "@tanstack/react-router";
import type { BacktestSummary } from "../../api.ts";
import { formatCount, formatPercent, formatRatio, formatTime, toneClass } from "../../parts/format.ts";
import { StatusBadge } from "../../parts/status_badge.tsx";

const HEADINGS = [
  "Status",
  "Strategy",
  "Symbol",
  "Time",
  "Range",
  "Return",
  "Sharpe",
  "Drawdown",
  "Trades",
  "Made (UTC)",
];
const TEXTS: ReadonlySet<string> = new Set(["Status", "Strategy", "Symbol", "Time", "Range"]);
const PLACEHOLDERS = 8;

/** A row for each run; a click or Enter opens it. */
export function RunsTable(
  { runs, isLoading }: { readonly runs: readonly BacktestSummary[]; readonly isLoading: boolean },
) {
  return (
    <div
      className="overflow-x-auto rounded-lg border border-line bg-surface"
      tabIndex={0}
      role="region"
      aria-label="Runs"
    >
      <table className="w-full min-w-[64rem] table-fixed text-right text-sm">
        <colgroup>
          <col className="w-32" />
          <col />
          <col className="w-52" />
          <col className="w-14" />
          <col className="w-48" />
          <col className="w-26" />
          <col className="w-20" />
          <col className="w-24" />
          <col className="w-20" />
          <col className="w-36" />
        </colgroup>
        <thead className="text-xs text-muted">
          <tr>
            {HEADINGS.map((heading) => (
              <th
                key={heading}
                scope="col"
                className={`border-b border-line px-3 py-2 font-medium ${TEXTS.has(heading) ? "text-left" : ""}`}
              >
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {isLoading
            ? Array.from({ length: PLACEHOLDERS }, (_, i) => (
              <tr key={i} className="h-9 border-b border-line/60">
                <td colSpan={HEADINGS.length} className="px-3">
                  <div className="h-3 w-full rounded bg-sunken" />
                </td>
              </tr>
            ))
            : runs.map((run) => <RunRow key={run.id} run={run} />)}
        </tbody>
      </table>
    </div>
  );
}

function RunRow({ run }: { readonly run: BacktestSummary }) {
  const navigate = useNavigate();
  const { id, strategy, symbol, exchange, timeframe, start_date, end_date, metrics, created_at } = run;
  const open = () => void navigate({ to: "/runs/$id", params: { id } });
  return (
    <tr
      data-row
      tabIndex={-1}
      onClick={open}
      onKeyDown={(event) => event.key === "Enter" && event.target === event.currentTarget && open()}
      className="h-9 cursor-pointer border-b border-line/60 last:border-0 hover:bg-sunken focus:bg-sunken"
    >
      <td className="px-3 text-left">
        <StatusBadge {...run} />
      </td>
      <td className="px-3 text-left">
        <Link
          to="/runs/$id"
          params={{ id }}
          onClick={(event) => event.stopPropagation()}
          className="block truncate font-medium hover:underline"
          title={strategy}
        >
          {strategy}
        </Link>
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
    </tr>
  );
}
