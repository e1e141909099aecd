import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { api, type BacktestSummary, client, describeError, pagesOf } from "../../api.ts";
import { buttonClass } from "../../parts/button.tsx";
import { MoreButton } from "../../parts/more_button.tsx";
import { SearchBox } from "../../parts/search_box.tsx";
import { Filters } from "./filters.tsx";
import { FirstRun } from "./first_run.tsx";
import { isFiltered, readRunsSearch, type RunsChange, type RunsSearch } from "./runs_search.ts";
import { RunsTable } from "./runs_table.tsx";

const PAGE = 100;
const LIVE_MS = 1_000;
const SEARCH_LENGTH_MAX = 100;
const route = getRouteApi("/signed-in/runs");

/** The user's runs with their progress; the address keeps the search, the filters and the order. */
export function RunsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const list = useRuns(search);
  const { data, error } = list;
  const runs = data?.pages.flatMap(({ backtests }) => backtests) ?? [];
  const put = (change: RunsChange) =>
    void navigate({ search: (before) => readRunsSearch({ ...before, ...change }), replace: true, resetScroll: false });
  if (data !== undefined && runs.length === 0 && !isFiltered(search)) return <FirstRun />;
  return (
    <div className="flex flex-col gap-3">
      <header className="flex flex-wrap items-center gap-3">
        <h1 className="mr-auto text-xl font-semibold">Runs</h1>
        <SearchBox
          label="Search the runs by name, strategy, symbol or notes"
          value={search.search ?? ""}
          maxLength={SEARCH_LENGTH_MAX}
          onChange={(text) => put({ search: text })}
          className="max-sm:order-last max-sm:w-full"
        />
        <Link to="/runs/new" className={buttonClass("primary")}>New run</Link>
      </header>
      <Filters search={search} put={put} />
      {error !== null && <p role="alert" className="text-danger">{describeError(error)}</p>}
      <RunsTable runs={runs} search={search} put={put} isLoading={list.isPending} isStale={list.isPlaceholderData} />
      <MoreButton pages={list} label="Load more runs" isAuto />
    </div>
  );
}

function useRuns(search: RunsSearch) {
  return useInfiniteQuery({
    ...pagesOf(
      [...api.backtests.summaries.pathKey(), search],
      (cursor) => client.backtests.summaries.query({ limit: PAGE, ...search, ...cursor }),
    ),
    refetchInterval: ({ state }) => state.data?.pages.some((page) => page.backtests.some(isUnderWay)) ? LIVE_MS : false,
    placeholderData: (before) => before,
  });
}

function isUnderWay({ status }: BacktestSummary): boolean {
  return status === "queued" || status === "running";
}
