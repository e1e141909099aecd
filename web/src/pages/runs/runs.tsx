import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect, useEffectEvent, useState } from "react";
import { api, type BacktestSummary, client, describeError, pagesOf, readAnew } from "../../api.ts";
import { buttonClass } from "../../parts/button.tsx";
import { MoreButton } from "../../parts/more_button.tsx";
import { SearchBox } from "../../parts/search_box.tsx";
import { useListChanges } from "../../parts/use_list_changes.ts";
import { Filters } from "./filters.tsx";
import { FirstRun } from "./first_run.tsx";
import { isFiltered, readRunsSearch, type RunsChange, type RunsSearch, toRequest, TRY_TAG } from "./runs_search.ts";
import { ChosenRuns } from "./chosen_runs.tsx";
import { RunsTable } from "./runs_table.tsx";

const PAGE = 100;
const LIVE_MS = 1_000;
const NEWEST_MS = 2_000;
const SEARCH_LENGTH_MAX = 100;
const route = getRouteApi("/signed-in/runs");

/** The user's runs with their progress; the address keeps the search, the filters and the order. */
export function RunsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const list = useRuns(search);
  const { data, error } = list;
  const runs = data?.pages.flatMap(({ backtests }) => backtests) ?? [];
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const tries = useTries();
  useChangingList();
  const put = (change: RunsChange) =>
    void navigate({ search: (before) => readRunsSearch({ ...before, ...change }), replace: true, resetScroll: false });
  const isFirst = data !== undefined && runs.length === 0 && !isFiltered(search);
  if (isFirst && tries.has === false) return <FirstRun />;
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
      {tries.has && search.tag !== TRY_TAG && (
        <p className="text-sm text-muted">
          {search.tries
            ? "Changes that you tried and did not keep are in the list, with the tag try. "
            : "Changes that you tried and did not keep are left out. They count among your tries. "}
          <button
            type="button"
            className="text-accent underline"
            onClick={() => put({ tries: !search.tries || undefined })}
          >
            {search.tries ? "Leave them out" : "Show them"}
          </button>
        </p>
      )}
      <ChosenRuns runs={runs.filter(({ id }) => chosen.has(id))} clear={() => setChosen(new Set())} />
      {error !== null && <p role="alert" className="text-danger">{describeError(error)}</p>}
      <RunsTable
        {...{ runs, search, put, chosen }}
        choose={(id) => setChosen((before) => before.symmetricDifference(new Set([id])))}
        // The list is empty if both answers are.
        isLoading={list.isPending || (isFirst && tries.isPending)}
        isStale={list.isPlaceholderData}
      />
      <MoreButton pages={list} label="Load more runs" isAuto />
    </div>
  );
}

function useRuns(search: RunsSearch) {
  return useInfiniteQuery({
    ...pagesOf(
      [...api.backtests.summaries.pathKey(), search],
      (cursor) => client.backtests.summaries.query({ limit: PAGE, ...toRequest(search), ...cursor }),
    ),
    refetchInterval: ({ state }) => state.data?.pages.some((page) => page.backtests.some(isUnderWay)) ? LIVE_MS : false,
    placeholderData: (before) => before,
  });
}

/** Reads the list again when a program, or another browser, has changed it. */
function useChangingList(): void {
  const read = () => {
    for (const { pathKey } of [api.backtests.summaries, api.backtests.filterValues]) void readAnew(pathKey());
  };
  const isFollowed = useListChanges(read);
  const { data } = useQuery({
    queryKey: ["newest run"],
    queryFn: () => client.backtests.summaries.query({ limit: 1 }),
    refetchInterval: isFollowed ? false : NEWEST_MS,
    select: ({ backtests: [newest] }) => newest?.id ?? null,
  });
  const refresh = useEffectEvent(read);
  useEffect(() => {
    if (data !== undefined) refresh();
  }, [data]);
}

/** Says whether there are changes that were tried and not kept. */
function useTries() {
  const { data, isPending } = useQuery(api.backtests.filterValues.queryOptions());
  return { has: data?.tags.includes(TRY_TAG), isPending };
}

function isUnderWay({ status }: BacktestSummary): boolean {
  return status === "queued" || status === "running";
}
