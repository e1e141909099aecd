import { linkOptions } from "@tanstack/react-router";
import type { StrategySummary } from "../../api.ts";
import { formatDate } from "../../parts/format.ts";
import { LinkRow, RowLink } from "../../parts/link_row.tsx";
import { Table, type TableColumn, TALL_ROW_CLASS, WIDE_ONLY } from "../../parts/table.tsx";
import { describeRuntime, VisibilityBadge } from "./strategy_words.tsx";

const COLUMNS: readonly TableColumn[] = [
  { label: "Name", isText: true, width: "16rem", onPhone: "max-sm:w-36!" },
  { label: "Description", isText: true },
  { label: "Runs as", isText: true, width: "11rem", onPhone: WIDE_ONLY },
  { label: "Visibility", isText: true, width: "6rem", onPhone: WIDE_ONLY },
  { label: "Version", isText: true, width: "5rem", onPhone: WIDE_ONLY },
  { label: "Changed", isText: true, width: "7rem", onPhone: WIDE_ONLY },
];

/** Strategies, a row each, which opens the strategy. */
export function StrategyTable({ strategies, isLoading, isStale }: {
  readonly strategies: readonly StrategySummary[];
  readonly isLoading: boolean;
  /** These are the rows of an earlier search. */
  readonly isStale: boolean;
}) {
  return (
    <Table
      label="Strategies"
      columns={COLUMNS}
      minWidth="60rem"
      rowClass={TALL_ROW_CLASS}
      isLoading={isLoading}
      isStale={isStale}
    >
      {strategies.map((each) => <Row key={each.slug} strategy={each} />)}
    </Table>
  );
}

function Row({ strategy }: { readonly strategy: StrategySummary }) {
  const { slug, name, description, latest_version: version, updated_at: changed } = strategy;
  const link = linkOptions({ to: "/strategies/$slug", params: { slug } });
  return (
    <LinkRow link={link} className={`${TALL_ROW_CLASS} align-top text-left`}>
      <td className="px-3 py-1.5">
        <RowLink link={link} text={name} />
        <span className="block truncate text-xs text-muted" title={slug}>{slug}</span>
      </td>
      <td className="px-3 py-1.5 text-muted">
        <span className="line-clamp-2 break-words">{description}</span>
      </td>
      <td className={`truncate px-3 py-1.5 ${WIDE_ONLY}`} title={describeRuntime(strategy)}>
        {describeRuntime(strategy)}
      </td>
      <td className={`px-3 py-1.5 ${WIDE_ONLY}`}>
        <VisibilityBadge strategy={strategy} />
      </td>
      <td className={`truncate px-3 py-1.5 ${WIDE_ONLY}`} title={version}>{version}</td>
      <td className={`px-3 py-1.5 whitespace-nowrap text-muted ${WIDE_ONLY}`}>{formatDate(changed)}</td>
    </LinkRow>
  );
}
