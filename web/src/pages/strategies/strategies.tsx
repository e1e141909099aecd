import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { api, client, describeError, pagesOf, type StrategySummary } from "../../api.ts";
import { buttonClass } from "../../parts/button.tsx";
import { Choice } from "../../parts/choice.tsx";
import { MoreButton } from "../../parts/more_button.tsx";
import { SearchBox } from "../../parts/search_box.tsx";
import { AddStrategy } from "./add_strategy.tsx";
import { STRATEGY_KINDS, type StrategyKind } from "./strategies_search.ts";
import { StrategyTable } from "./strategy_table.tsx";

const PAGE = 100;
const route = getRouteApi("/signed-in/strategies");

/** The catalogue: built-in strategies, the user's own, and those that others made public. */
export function StrategiesPage() {
  const { kind = "all", add, from } = route.useSearch();
  const navigate = route.useNavigate();
  const [search, setSearch] = useState("");
  const { rows, error, isLoading, isStale, pages } = useCatalogue(kind, search);
  return (
    <div className="flex flex-col gap-3">
      <header className="flex flex-wrap items-center gap-3">
        <h1 className="mr-auto text-xl font-semibold">Strategies</h1>
        <SearchBox
          label="Search the strategies by name, slug or description"
          value={search}
          onChange={setSearch}
        />
        <Choice
          label="Show"
          values={STRATEGY_KINDS}
          value={kind}
          onChange={(value) =>
            void navigate({
              search: ({ add, from }) => ({
                ...(add && { add }),
                ...(from && { from }),
                ...(value === "all" ? {} : { kind: value }),
              }),
              replace: true,
            })}
        />
        {add === undefined && (
          <Link to="/strategies" search={{ add: "script" }} className={buttonClass("primary")}>Add a strategy</Link>
        )}
      </header>
      {add !== undefined && <AddStrategy way={add} from={from} />}
      {error !== null && <p role="alert" className="text-danger">{describeError(error)}</p>}
      {(isLoading || rows.length > 0) && <StrategyTable strategies={rows} isLoading={isLoading} isStale={isStale} />}
      {!isLoading && error === null && rows.length === 0 && <Empty kind={kind} search={search} />}
      <MoreButton pages={pages} label="Load more" isAuto />
    </div>
  );
}

function useCatalogue(kind: StrategyKind, search: string) {
  const source = kind === "all" ? undefined : kind === "built in" ? "builtin" as const : "registry" as const;
  const filters = { ...(search === "" ? {} : { search: search.slice(0, 100) }), ...(source && { source }) };
  const query = useInfiniteQuery({
    ...pagesOf(
      [...api.strategies.summaries.pathKey(), "pages", filters],
      (cursor) => client.strategies.summaries.query({ limit: PAGE, ...filters, ...cursor }),
    ),
    placeholderData: (before) => before,
  });
  const { data, error, hasNextPage, isFetchingNextPage, isPlaceholderData, fetchNextPage } = query;
  const rows = (data?.pages.flatMap(({ strategies }) => strategies) ?? []).filter((each) => isOf(each, kind));
  // The service does not know whose strategies are wanted, so a page may have none of them.
  const needsMore = hasNextPage && !isFetchingNextPage && error === null && rows.length === 0;
  useEffect(() => {
    if (needsMore) void fetchNextPage();
  }, [needsMore, fetchNextPage]);
  return {
    rows,
    error,
    isLoading: (data === undefined && error === null) || needsMore || (rows.length === 0 && isFetchingNextPage),
    isStale: isPlaceholderData,
    pages: { hasNextPage: hasNextPage && rows.length > 0, isFetchingNextPage, fetchNextPage },
  };
}

function isOf({ source, is_owner }: StrategySummary, kind: StrategyKind): boolean {
  if (kind === "all") return true;
  if (kind === "built in") return source === "builtin";
  return source === "registry" && is_owner === (kind === "yours");
}

function Empty({ kind, search }: { readonly kind: StrategyKind; readonly search: string }) {
  const text = search !== ""
    ? "No strategy fits this search."
    : kind === "yours"
    ? "You have registered no strategy yet. Add a script, a WebAssembly module or a remote endpoint."
    : "No other user has made a strategy public.";
  return <p role="status" className="rounded-lg border border-line bg-surface p-12 text-center text-muted">{text}</p>;
}
