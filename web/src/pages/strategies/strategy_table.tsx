import { Link, useNavigate } from "@tanstack/react-router";
import type { StrategySummary } from "../../api.ts";
import { formatDate } from "../../parts/format.ts";
import { describeRuntime, VisibilityBadge } from "./strategy_words.tsx";

const HEADINGS = ["Name", "Description", "Runs as", "Visibility", "Version", "Changed"] as const;
const PLACEHOLDERS = 10;

/** Strategies, a row each, which opens the strategy. */
export function StrategyTable({ strategies, isLoading, isStale }: {
  readonly strategies: readonly StrategySummary[];
  readonly isLoading: boolean;
  /** These are the rows of an earlier search. */
  readonly isStale: boolean;
}) {
  return (
    <div
      className={`overflow-x-auto rounded-lg border border-line bg-surface ${isStale ? "opacity-70" : ""}`}
      tabIndex={0}
      role="region"
      aria-label="Strategies"
    >
      <table className="w-full sm:min-w-[60rem] table-fixed text-left text-sm">
        <colgroup>
          <col className="w-36 sm:w-64" />
          <col />
          <col className="w-44 max-sm:hidden" />
          <col className="w-24 max-sm:hidden" />
          <col className="w-20 max-sm:hidden" />
          <col className="w-28 max-sm:hidden" />
        </colgroup>
        <thead className="text-xs text-muted">
          <tr>
            {HEADINGS.map((heading, i) => (
              <th
                key={heading}
                scope="col"
                className={`border-b border-line px-3 py-2 font-medium ${i > 1 ? "max-sm:hidden" : ""}`}
              >
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {isLoading
            ? Array.from({ length: PLACEHOLDERS }, (_, i) => (
              <tr key={i} className="h-12 border-b border-line/60">
                <td colSpan={HEADINGS.length} className="px-3">
                  <div className="h-3 w-full rounded bg-sunken" />
                </td>
              </tr>
            ))
            : strategies.map((each) => <Row key={each.slug} strategy={each} />)}
        </tbody>
      </table>
    </div>
  );
}

function Row({ strategy }: { readonly strategy: StrategySummary }) {
  const navigate = useNavigate();
  const { slug, name, description, latest_version: version, updated_at: changed } = strategy;
  const open = () => void navigate({ to: "/strategies/$slug", params: { slug } });
  return (
    <tr
      data-row
      tabIndex={-1}
      onClick={open}
      onKeyDown={(event) => event.key === "Enter" && event.target === event.currentTarget && open()}
      className="h-12 cursor-pointer border-b border-line/60 align-top last:border-0 hover:bg-sunken focus:bg-sunken"
    >
      <td className="px-3 py-1.5">
        <Link
          to="/strategies/$slug"
          params={{ slug }}
          onClick={(event) => event.stopPropagation()}
          className="block truncate font-medium hover:underline"
          title={name}
        >
          {name}
        </Link>
        <span className="block truncate text-xs text-muted" title={slug}>{slug}</span>
      </td>
      <td className="px-3 py-1.5 text-muted">
        <span className="line-clamp-2 break-words">{description}</span>
      </td>
      <td className="truncate px-3 py-1.5 max-sm:hidden" title={describeRuntime(strategy)}>
        {describeRuntime(strategy)}
      </td>
      <td className="px-3 py-1.5 max-sm:hidden">
        <VisibilityBadge strategy={strategy} />
      </td>
      <td className="truncate px-3 py-1.5 max-sm:hidden" title={version}>{version}</td>
      <td className="px-3 py-1.5 whitespace-nowrap text-muted max-sm:hidden">{formatDate(changed)}</td>
    </tr>
  );
}
