/** The typed client: the one place where the console speaks to the service. */
import { infiniteQueryOptions, QueryCache, QueryClient } from "@tanstack/react-query";
import { createTRPCClient, httpLink, httpSubscriptionLink, splitLink, TRPCClientError } from "@trpc/client";
import type { inferRouterInputs, inferRouterOutputs } from "@trpc/server";
import { createTRPCOptionsProxy } from "@trpc/tanstack-react-query";
import type { AppRouter } from "../../routers/app.ts";

import { onReconnect, watchedFetch } from "./connection.ts";
import type { Issue } from "./call_rest.ts";

type Outputs = inferRouterOutputs<AppRouter>;
export type BacktestRequest = inferRouterInputs<AppRouter>["backtests"]["create"]["backtest"];
export type StrategyRequest = inferRouterInputs<AppRouter>["strategies"]["create"]["strategy"];
export type Backtest = Outputs["backtests"]["get"]["backtest"];
export type BacktestSummary = Outputs["backtests"]["summaries"]["backtests"][number];
export type BacktestResult = NonNullable<Backtest["result"]>;
export type Strategy = Outputs["strategies"]["list"]["strategies"][number];
export type StrategySummary = Outputs["strategies"]["summaries"]["strategies"][number];
export type Instrument = Outputs["marketData"]["instruments"]["instruments"][number];
export type Tick = Outputs["marketData"]["ticks"]["ticks"][number];
export type IngestionRun = Outputs["ingestion"]["runs"]["runs"][number];
export type IngestionEvent = Outputs["ingestion"]["events"]["events"][number];
export type Comparison = Outputs["backtests"]["compare"];
export type Order = Outputs["backtests"]["orders"]["orders"][number];
/** Bars of a run; all columns have a value per bar. */
export type ChartData = Outputs["backtests"]["chart"];
/** Trades in columns. */
export type TradeTable = Outputs["backtests"]["tradeTable"];
export type Token = Outputs["tokens"]["list"]["tokens"][number];
export type TokenRequest = inferRouterInputs<AppRouter>["tokens"]["create"]["token"];
export type Metric = Outputs["backtests"]["metrics"]["metrics"][number];

const URL = "/trpc";
const RETRIES_MAX = 3;

/** Calls procedures directly; `api` is for components. */
export const client = createTRPCClient<AppRouter>({
  links: [splitLink({
    condition: ({ type }) => type === "subscription",
    true: httpSubscriptionLink({ url: URL }),
    false: httpLink({
      url: URL,
      fetch: (input, init) => watchedFetch(input, { ...init, signal: init?.signal ?? null }),
    }),
  })],
});

const signOutListeners = new Set<() => void>();

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noticeEndOfSession }),
  defaultOptions: {
    queries: {
      networkMode: "always",
      staleTime: 10_000,
      // A refusal stays one. A lost connection is repaired by its own watch.
      retry: (failures, error) => failures < RETRIES_MAX && statusOf(error) >= 500,
    },
    mutations: { networkMode: "always", onError: noticeEndOfSession },
  },
});

/** Options for the hooks of @tanstack/react-query: `useQuery(api.backtests.get.queryOptions({ id }))`. */
export const api = createTRPCOptionsProxy<AppRouter>({ client, queryClient });

/**
 * Options of useInfiniteQuery() for a list that comes in pages.
 *
 * @param key Begins with the procedure's `pathKey()`, so that changes can invalidate it.
 * @param read Reads the page of a cursor; the first one has none.
 */
export function pagesOf<Page extends { readonly next_cursor: string | null }>(
  key: readonly unknown[],
  read: (cursor: { cursor?: string }) => Promise<Page>,
) {
  return infiniteQueryOptions({
    queryKey: key,
    queryFn: ({ pageParam }) => read(pageParam === null ? {} : { cursor: pageParam }),
    initialPageParam: firstPage(),
    getNextPageParam: ({ next_cursor }: Page) => next_cursor,
  });
}

onReconnect(() => void queryClient.invalidateQueries());

/** Calls back when an answer says that there is no session any more. */
export function onEndOfSession(callback: () => void): void {
  signOutListeners.add(callback);
}

/** The code of a refusal, such as `BACKTEST_NOT_FOUND`; undefined for other errors. */
export function codeOf(error: unknown): string | undefined {
  const code = dataOf(error)?.["appCode"];
  return typeof code === "string" ? code : undefined;
}

/** The fields that a refusal complains about, by JSON pointer. */
export function issuesOf(error: unknown): readonly Issue[] {
  const issues = dataOf(error)?.["issues"];
  return Array.isArray(issues) ? issues.filter(isIssue) : [];
}

/** A sentence for the user: what could not be done, and what to do. */
export function describeError(error: unknown): string {
  if (statusOf(error) === 0) return "The service cannot be reached. This page tries again by itself.";
  return error instanceof Error ? error.message : String(error);
}

function firstPage(): string | null {
  return null;
}

function noticeEndOfSession(error: unknown): void {
  if (codeOf(error) !== "UNAUTHENTICATED") return;
  for (const callback of signOutListeners) callback();
}

/** 0 where no answer came. */
function statusOf(error: unknown): number {
  const status = dataOf(error)?.["httpStatus"];
  return typeof status === "number" ? status : 0;
}

function dataOf(error: unknown): Record<string, unknown> | undefined {
  if (!(error instanceof TRPCClientError)) return undefined;
  const data: unknown = error.data;
  return typeof data === "object" && data !== null ? Object.fromEntries(Object.entries(data)) : undefined;
}

function isIssue(value: unknown): value is Issue {
  return typeof value === "object" && value !== null && "path" in value && "message" in value;
}
