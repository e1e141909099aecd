import { useQuery } from "@tanstack/react-query";
import { api } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { Choice } from "../../parts/choice.tsx";
import { isFiltered, RUN_SORTS, RUN_STATUSES, type RunsChange, type RunSort, type RunsSearch } from "./runs_search.ts";

const ALL = "all";

/** The filters of the list, each of which offers the values that the user's runs have. */
export function Filters({ search, put }: {
  readonly search: RunsSearch;
  readonly put: (change: RunsChange) => void;
}) {
  const { data } = useQuery(api.backtests.filterValues.queryOptions());
  const { status = ALL, strategy = ALL, symbol = ALL, tag = ALL, starred = false, grouped = false, sort = "created" } =
    search;
  return (
    <div
      className="grid grid-cols-2 items-center gap-x-4 gap-y-2 sm:flex sm:flex-wrap"
      role="group"
      aria-label="Filters"
    >
      <Choice
        label="Status"
        values={[ALL, ...RUN_STATUSES]}
        value={status}
        onChange={(value) => put({ status: value === ALL ? undefined : value })}
      />
      {([
        ["Strategy", "strategy", strategy, data?.strategies],
        ["Symbol", "symbol", symbol, data?.symbols],
        ["Tag", "tag", tag, data?.tags],
      ] as const).map(([label, key, value, known]) => (
        <Choice
          key={key}
          label={label}
          values={[ALL, ...new Set([...(value === ALL ? [] : [value]), ...(known ?? [])])]}
          value={value}
          onChange={(chosen) => put({ [key]: chosen === ALL ? undefined : chosen })}
        />
      ))}
      <label className="flex items-center gap-1.5 text-sm text-muted">
        <input
          type="checkbox"
          checked={starred}
          onChange={({ target }) => put({ starred: target.checked || undefined })}
          className="size-4 accent-accent"
        />
        Starred
      </label>
      <label className="flex items-center gap-1.5 text-sm text-muted">
        <input
          type="checkbox"
          checked={grouped}
          onChange={({ target }) => put({ grouped: target.checked || undefined })}
          className="size-4 accent-accent"
        />
        Group
      </label>
      <div className="sm:hidden">
        <Choice<RunSort>
          label="Sort"
          values={RUN_SORTS}
          value={sort}
          onChange={(value) => put({ sort: value === "created" ? undefined : value, order: undefined })}
        />
      </div>
      {isFiltered(search) && (
        <Button
          kind="quiet"
          className="h-7!"
          onClick={() =>
            put({
              ...{ search: undefined, status: undefined, strategy: undefined },
              ...{ symbol: undefined, tag: undefined, starred: undefined },
            })}
        >
          Clear filters
        </Button>
      )}
    </div>
  );
}
