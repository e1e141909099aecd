import { Link, linkOptions } from "@tanstack/react-router";
import { useMemo } from "react";
import type { BacktestSummary } from "../../api.ts";
import { formatCount, formatPercent, formatRatio, formatTime, toneClass, toWords } from "../../parts/format.ts";
import { LinkRow, RowLink } from "../../parts/link_row.tsx";
import { Sparkline } from "../../parts/sparkline.tsx";
import { StarButton } from "../../parts/star_button.tsx";
import { StatusBadge } from "../../parts/status_badge.tsx";
import { Table, type TableColumn, TALL_ROW_CLASS, WIDE_ONLY } from "../../parts/table.tsx";
import type { RunsChange, RunSort, RunsSearch } from "./runs_search.ts";
import { settingsBelow, settingsThatDiffer } from "./settings_that_differ.ts";

const COLUMNS: readonly (TableColumn & { readonly by?: RunSort })[] = [
  { label: "Choose", isText: true, width: "4.5rem", onPhone: WIDE_ONLY },
  { label: "Star", isText: true, width: "3rem" },
  { label: "Run", isText: true },
  { label: "Status", isText: true, width: "8.5rem", onPhone: WIDE_ONLY },
  { label: "Market", isText: true, width: "11rem", onPhone: WIDE_ONLY },
  { label: "Range", isText: true, width: "7.5rem", onPhone: WIDE_ONLY },
  { label: "Equity", isText: true, width: "7.5rem", onPhone: "max-sm:w-20!" },
  { label: "Return", by: "return", width: "6.5rem", onPhone: "max-sm:w-24!" },
  { label: "Sharpe", by: "sharpe", width: "5.5rem", onPhone: WIDE_ONLY },
  { label: "Drawdown", by: "drawdown", width: "6.5rem", onPhone: WIDE_ONLY },
  { label: "Trades", width: "5.5rem", onPhone: WIDE_ONLY },
  { label: "Made (UTC)", by: "created", width: "8rem", onPhone: WIDE_ONLY },
];

// Longer symbols are cut on a phone.
const PHONE_SYMBOL = 10;

/** A row for each run, sorted by the column that its heading names; a click or Enter opens it. */
export function RunsTable({ runs, chosen, choose, search, put, isLoading, isStale }: {
  readonly runs: readonly BacktestSummary[];
  /** The ids of chosen runs. */
  readonly chosen: ReadonlySet<string>;
  /** Chooses one, or takes it back. */
  readonly choose: (id: string) => void;
  readonly search: RunsSearch;
  readonly put: (change: RunsChange) => void;
  readonly isLoading: boolean;
  readonly isStale: boolean;
}) {
  const { sort = "created", order } = search;
  const differing = useMemo(() => settingsThatDiffer(runs), [runs]);
  const columns = COLUMNS.map(({ by, ...column }) => {
    if (by === undefined) return column;
    const isDown = by === sort ? order !== "asc" : undefined;
    return { ...column, sort: { isDown, onSort: () => put({ sort: by, order: isDown ? "asc" : "desc" }) } };
  });
  return (
    <Table
      label="Runs"
      columns={columns}
      minWidth="72rem"
      rowClass={TALL_ROW_CLASS}
      isLoading={isLoading}
      isStale={isStale}
      empty="No run fits this search."
    >
      {groupRuns(runs, search).flatMap(({ title, members }) => [
        ...(title === null ? [] : [<GroupRow key={title} title={title} count={members.length} />]),
        ...members.map((run) => (
          <RunRow
            key={run.id}
            run={run}
            settings={differing.get(run.id) ?? ""}
            isChosen={chosen.has(run.id)}
            onChoose={() => choose(run.id)}
          />
        )),
      ])}
    </Table>
  );
}

/** Runs under their strategy and market, each group where its first one stands. */
function groupRuns(runs: readonly BacktestSummary[], { grouped }: RunsSearch) {
  if (!grouped) return [{ title: null, members: runs }];
  const groups = Map.groupBy(runs, ({ strategy, symbol, exchange }) => `${strategy} on ${symbol}, ${exchange}`);
  return [...groups].map(([title, members]) => ({ title, members }));
}

function GroupRow({ title, count }: { readonly title: string; readonly count: number }) {
  return (
    <tr className="border-b border-line bg-sunken">
      <th scope="rowgroup" colSpan={COLUMNS.length} className="px-3 py-1.5 text-left text-sm font-semibold">
        {title} <span className="font-normal text-muted">({formatCount(count)})</span>
      </th>
    </tr>
  );
}

/** @param settings In words, those that tell it from the list's other runs of the strategy. */
function RunRow({ run, settings, isChosen, onChoose }: {
  readonly run: BacktestSummary;
  readonly settings: string;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}) {
  const { id, symbol, exchange, timeframe, start_date, end_date, metrics, sparkline, created_at } = run;
  const [madeOn, madeAt] = formatTime(created_at).split(" ");
  return (
    <LinkRow link={linkOptions({ to: "/runs/$id", params: { id } })} className={TALL_ROW_CLASS}>
      <td className={`px-3 text-left ${WIDE_ONLY}`} onClick={(event) => event.stopPropagation()}>
        <input
          type="checkbox"
          aria-label={`Choose ${run.name ?? run.default_name}`}
          checked={isChosen}
          onChange={onChoose}
          className="block size-4 accent-accent"
        />
      </td>
      <td className="px-2 text-left">
        <StarButton run={run} />
      </td>
      <td className="px-3 text-left">
        <Name run={run} settings={settings} />
      </td>
      <td className={`px-3 text-left ${WIDE_ONLY}`}>
        <StatusBadge {...run} />
        <FailedChecks run={run} />
        {run.stale && <Revised />}
      </td>
      <td className={`px-3 text-left ${WIDE_ONLY}`} title={`${symbol} on ${exchange}`}>
        <span className="block truncate">{symbol}</span>
        <span className="block truncate text-xs text-muted">{exchange} · {timeframe}</span>
      </td>
      <td className={`px-3 text-left text-xs whitespace-nowrap text-muted ${WIDE_ONLY}`}>
        {start_date} –<br />
        {end_date}
      </td>
      <td className="px-3 max-sm:px-1">
        <Sparkline points={sparkline} />
      </td>
      <td className={`px-3 ${toneClass(metrics?.total_return)}`}>{formatPercent(metrics?.total_return, true)}</td>
      <td className={`px-3 ${WIDE_ONLY}`}>{formatRatio(metrics?.sharpe)}</td>
      <td className={`px-3 ${WIDE_ONLY}`}>{formatPercent(metrics?.max_drawdown)}</td>
      <td className={`px-3 ${WIDE_ONLY}`}>{formatCount(metrics?.trades)}</td>
      <td className={`px-3 text-xs whitespace-nowrap text-muted ${WIDE_ONLY}`}>
        {madeOn}
        <br />
        {madeAt}
      </td>
    </LinkRow>
  );
}

/**
 * A run's name; below the strategy where it has a name, the settings that tell it apart, and the tags, which filter the list and find no
 * room on a phone.
 */
function Name({ run, settings }: { readonly run: BacktestSummary; readonly settings: string }) {
  const { id, name, default_name, strategy, tags, symbol, timeframe } = run;
  const below = settingsBelow(run, settings);
  return (
    <>
      <RowLink
        link={linkOptions({ to: "/runs/$id", params: { id } })}
        text={name ?? strategy}
        label={name ?? default_name}
      />
      <div className="flex min-w-0 gap-1.5 text-xs text-muted">
        {name !== null && <span className="max-w-1/2 shrink-0 truncate max-sm:hidden" title={strategy}>{strategy}
        </span>}
        <span className="shrink-0 sm:hidden">{symbol.slice(0, PHONE_SYMBOL)} · {timeframe}</span>
        {run.status !== "completed" && (
          <span className="shrink-0 sm:hidden">
            <StatusBadge {...run} />
          </span>
        )}
        {run.stale && (
          <span className="shrink-0 sm:hidden">
            <Revised />
          </span>
        )}
        {below !== "" && <span className="min-w-0 truncate" title={below}>{below}</span>}
        {tags.length > 0 && <Tags tags={tags} />}
      </div>
    </>
  );
}

/** A warning that a strategy did not pass: not to believe its figures. Refused orders alone are no such thing. */
function FailedChecks({ run: { failed_checks } }: { readonly run: BacktestSummary }) {
  const names = (failed_checks ?? []).filter((name) => name !== "orders").map(toWords);
  if (names.length === 0) return null;
  return (
    <span className="block truncate text-xs text-danger" title={`Failed checks: ${names.join(", ")}`}>
      {names.join(", ")} failed
    </span>
  );
}

function Revised() {
  return (
    <span className="block text-xs text-warn" title="Candles of this run were revised after it">Candles revised</span>
  );
}

function Tags({ tags }: { readonly tags: readonly string[] }) {
  return (
    <ul aria-label="Tags" className={`flex min-w-0 gap-1 overflow-hidden ${WIDE_ONLY}`}>
      {tags.map((tag) => (
        <li key={tag} className="min-w-8">
          <Link
            to="/runs"
            search={{ tag }}
            title={`Only runs tagged ${tag}`}
            onClick={(event) => event.stopPropagation()}
            className="block truncate rounded bg-sunken px-1.5 hover:text-text hover:underline"
          >
            {tag}
          </Link>
        </li>
      ))}
    </ul>
  );
}
