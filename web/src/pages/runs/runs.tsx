import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, type BacktestSummary, client, describeError, pagesOf } from "../../api.ts";
import { buttonClass } from "../../parts/button.tsx";
import { Choice } from "../../parts/choice.tsx";
import { MoreButton } from "../../parts/more_button.tsx";
import { SearchBox } from "../../parts/search_box.tsx";
import { FirstRun } from "./first_run.tsx";
import { RunsTable } from "./runs_table.tsx";

const PAGE = 100;
const LIVE_MS = 1_000;
const STATUSES = ["all", "queued", "running", "completed", "failed", "cancelled"] as const;

/** The user's runs, newest first, with their progress. */
export function RunsPage() {
  const [status, setStatus] = useState<(typeof STATUSES)[number]>("all");
  const [search, setSearch] = useState("");
  const filter = status === "all" ? {} : { status };
  const list = useInfiniteQuery({
    ...pagesOf(
      [...api.backtests.summaries.pathKey(), filter],
      (cursor) => client.backtests.summaries.query({ limit: PAGE, ...filter, ...cursor }),
    ),
    refetchInterval: ({ state }) => state.data?.pages.some((page) => page.backtests.some(isUnderWay)) ? LIVE_MS : false,
    placeholderData: (before) => before,
  });
  const { data, error } = list;
  const runs = data?.pages.flatMap(({ backtests }) => backtests) ?? [];
  const shown = runs.filter((run) => mentions(run, search));
  if (data !== undefined && runs.length === 0 && status === "all") return <FirstRun />;
  return (
    <div className="flex flex-col gap-3">
      <header className="flex flex-wrap items-center gap-3">
        <h1 className="mr-auto text-xl font-semibold">Runs</h1>
        <SearchBox
          label="Search the runs by strategy, symbol or exchange"
          value={search}
          onChange={setSearch}
        />
        <Choice label="Status" values={STATUSES} value={status} onChange={setStatus} />
        <Link to="/runs/new" className={buttonClass("primary")}>New run</Link>
      </header>
      {error !== null && <p role="alert" className="text-danger">{describeError(error)}</p>}
      <RunsTable runs={shown} isLoading={data === undefined} />
      {data !== undefined && shown.length === 0 && (
        <p role="status" className="p-8 text-center text-muted">No run fits this search.</p>
      )}
      <MoreButton pages={list} label="Load older runs" />
    </div>
  );
}

function isUnderWay({ status }: BacktestSummary): boolean {
  return status === "queued" || status === "running";
}

function mentions({ strategy, symbol, exchange }: BacktestSummary, search: string): boolean {
  const text = `${strategy} ${symbol} ${exchange}`.toLowerCase();
  return search.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
