/** The typed client: the one place where the console speaks to the service. */
import { infiniteQueryOptions, QueryCache, QueryClient } from "@tanstack/react-query";
import { createTRPCClient, TRPCClientError, type TRPCLink } from "@trpc/client";
import type { inferRouterInputs, inferRouterOutputs } from "@trpc/server";
import { createTRPCOptionsProxy } from "@trpc/tanstack-react-query";
import { observable } from "@trpc/server/observable";
import type { AppRouter } from "../../routers/app.ts";
import { type Issue, RestError } from "./call_rest.ts";
import { noticeEndOfSession } from "./session_end.ts";

type Outputs = inferRouterOutputs<AppRouter>;
export type BacktestRequest = inferRouterInputs<AppRouter>["backtests"]["create"]["backtest"];
export type OptimizationRequest = inferRouterInputs<AppRouter>["optimizations"]["create"]["optimization"];
export type StrategyRequest = inferRouterInputs<AppRouter>["strategies"]["create"]["strategy"];
export type Backtest = Outputs["backtests"]["get"]["backtest"];
export type BacktestSummary = Outputs["backtests"]["summaries"]["backtests"][number];
export type BacktestResult = NonNullable<Backtest["result"]>;
/** The tables of a run over many markets. */
export type Portfolio = NonNullable<BacktestResult["portfolio"]>;
export type Universe = Outputs["universes"]["get"]["universe"];
export type Member = Outputs["universes"]["members"]["members"][number];
export type Strategy = Outputs["strategies"]["list"]["strategies"][number];
export type StrategySummary = Outputs["strategies"]["summaries"]["strategies"][number];
export type Instrument = Outputs["marketData"]["instruments"]["instruments"][number];
export type Gap = Outputs["marketData"]["gaps"]["gaps"][number];
export type Tick = Outputs["marketData"]["ticks"]["ticks"][number];
export type UserQuotas = Outputs["users"]["quotas"]["quotas"];
export type IngestedInstrument = Outputs["ingestion"]["instruments"]["instruments"][number];
export type IngestionRun = Outputs["ingestion"]["runs"]["runs"][number];
export type IngestionEvent = Outputs["ingestion"]["events"]["events"][number];
export type Comparison = Outputs["backtests"]["compare"];
export type Order = Outputs["backtests"]["orders"]["orders"][number];
/** Bars of a run; all columns have a value per bar. */
export type ChartData = Outputs["backtests"]["chart"];
/** The plots of a run's strategy, in the bars of its chart. */
export type PlotData = Outputs["backtests"]["series"];
/** Entries and exits in a stretch of time. */
export type Fills = Outputs["backtests"]["fills"];
/** Trades in columns. */
export type TradeTable = Fills["trades"];
/** Candles that are longer than a run's own. */
export type CoarseCandles = Outputs["backtests"]["candles"];
export type TradeSpread = Outputs["backtests"]["tradeSpread"];
/** A trade, by its row in a table. */
export interface TradeAt {
  readonly table: TradeTable;
  readonly i: number;
}
export type MonteCarlo = Outputs["monteCarlo"]["get"]["monte_carlo"];
export type MonteCarloSample = NonNullable<MonteCarlo["result"]>["samples"][number];
export type StressTest = Outputs["stressTests"]["get"]["stress_test"];
export type Token = Outputs["tokens"]["list"]["tokens"][number];
export type TokenRequest = inferRouterInputs<AppRouter>["tokens"]["create"]["token"];
export type Optimization = Outputs["optimizations"]["get"]["optimization"];
export type Trial = Outputs["optimizations"]["trials"]["trials"][number];
export type Surface = Outputs["optimizations"]["surface"]["surface"];
export type ScanRanking = Outputs["optimizations"]["ranking"]["ranking"];
export type Metric = Outputs["backtests"]["metrics"]["metrics"][number];
export type Report = Outputs["backtests"]["report"];
/** The answer to an opened link. */
export type Shared = Outputs["shares"]["open"];
export type Share = Outputs["shares"]["list"]["shares"][number];

const RETRIES_MAX = 3;

/** A page without a service, such as a report, has what its query cache holds and no more. */
const refuse: TRPCLink<AppRouter> = () => () =>
  observable((observer) => observer.error(new TRPCClientError("Cannot load more: this page has its own data alone")));
let transport = refuse;

/** Chooses how calls reach the service, before the first one. */
export function setTransport(link: TRPCLink<AppRouter>): void {
  transport = link;
}

/** Calls procedures directly; `api` is for components. */
export const client = createTRPCClient<AppRouter>({
  links: [(runtime) => {
    let send: ReturnType<typeof transport> | undefined;
    return (call) => (send ??= transport(runtime))(call);
  }],
});

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: (error) => noticeEndOfSession(codeOf(error)) }),
  defaultOptions: {
    queries: {
      networkMode: "always",
      staleTime: 10_000,
      // A refusal stays one. A lost connection is repaired by its own watch.
      retry: (failures, error) => failures < RETRIES_MAX && (statusOf(error) ?? 0) >= 500,
    },
    mutations: { networkMode: "always", onError: (error) => noticeEndOfSession(codeOf(error)) },
  },
});

/**
 * Reads what pages show anew after a change. A first answer that is on its way may be from before the change, so another one follows.
 *
 * @param queryKey Begins with it.
 */
export async function readAnew(queryKey: readonly unknown[]): Promise<void> {
  const first = queryClient.getQueryCache().findAll({
    queryKey,
    fetchStatus: "fetching",
    predicate: ({ state }) => state.data === undefined,
  });
  await Promise.allSettled(first.map(({ promise }) => promise));
  await queryClient.invalidateQueries({ queryKey });
}

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
  if (error instanceof RestError) return error.message;
  if (statusOf(error) === 0) return "The service cannot be reached. This page tries again by itself.";
  return error instanceof Error ? error.message : String(error);
}

function firstPage(): string | null {
  return null;
}

/** The status of a refused call; 0 where no answer came, undefined for an error that is no call's. */
export function statusOf(error: unknown): number | undefined {
  if (!(error instanceof TRPCClientError)) return undefined;
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
