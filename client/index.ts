/** The typed client of Hindcast. */
import {
  createTRPCClient,
  httpBatchLink,
  httpSubscriptionLink,
  splitLink,
  type TRPCClient,
  TRPCClientError,
} from "@trpc/client";
import type { inferRouterError, inferRouterInputs, inferRouterOutputs } from "@trpc/server";
import { EventSource } from "eventsource";
import type { AppRouter } from "../routers/app.ts";

export type { AppRouter };
/** The inputs of all procedures: `Inputs["backtests"]["create"]`. */
export type Inputs = inferRouterInputs<AppRouter>;
/** The answers of all procedures: `Outputs["backtests"]["get"]`. */
export type Outputs = inferRouterOutputs<AppRouter>;
/** A submission. */
export type BacktestRequest = Inputs["backtests"]["create"]["backtest"];
/** A record, with its result once it is completed. */
export type Backtest = Outputs["backtests"]["get"]["backtest"];
/** A backtest's trade. */
export type Trade = Outputs["backtests"]["trades"]["trades"][number];
/** A refusal: `data` has `httpStatus`, `appCode`, `issues` and `request_id`. */
export type HindcastError = TRPCClientError<AppRouter>;
/** The code of a refusal, such as `BACKTEST_NOT_FOUND`. */
export type ErrorCode = inferRouterError<AppRouter>["data"]["appCode"];

/** Where the service is, and who calls it. */
export interface HindcastOptions {
  /** The service's address, such as `http://127.0.0.1:8000`. */
  readonly url: string;
  /** A token from `POST /api/tokens`. Without one, a browser sends its session's cookie. */
  readonly token?: string;
}

/** How to wait for a backtest. */
export interface WaitOptions {
  /** Ends the wait with its reason. The backtest goes on. */
  readonly signal?: AbortSignal;
  /** Receives the record now, after each change, and at the end. */
  readonly onProgress?: (backtest: Backtest) => void;
}

/** A service, seen from one caller. */
export interface Hindcast {
  /** Every procedure, such as `api.backtests.create.mutate({ backtest })`. Calls of one moment share a request. */
  readonly api: TRPCClient<AppRouter>;
  /**
   * Follows a backtest to its end, through lost connections and restarts of the service.
   *
   * @returns The final record: completed, failed or cancelled.
   * @throws HindcastError where the service refuses, as for a deleted backtest; the signal's reason once it is aborted.
   */
  waitFor(backtest: { readonly id: string }, options?: WaitOptions): Promise<Backtest>;
}

// The service's limit.
const BATCH_CALLS_MAX = 100;
// Proxies refuse longer ones.
const URL_LENGTH_MAX = 4_000;

/**
 * A typed client.
 *
 * @throws TypeError where the URL is none.
 * @example
 * ```ts
 * const { api, waitFor } = createHindcast({ url: "http://127.0.0.1:8000", token });
 * const { backtest } = await api.backtests.create.mutate({ backtest: request });
 * const { status, result } = await waitFor(backtest);
 * ```
 */
export function createHindcast({ url, token }: HindcastOptions): Hindcast {
  const trpcUrl = new URL("trpc", url.endsWith("/") ? url : `${url}/`).href;
  const send: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    return fetch(input, { ...init, headers, credentials: token === undefined ? "include" : "omit" });
  };
  const api = createTRPCClient<AppRouter>({
    links: [splitLink({
      condition: ({ type }) => type === "subscription",
      // The browsers' own EventSource sends no token, and Node has none.
      true: httpSubscriptionLink({ url: trpcUrl, EventSource, eventSourceOptions: { fetch: send } }),
      false: httpBatchLink({
        url: trpcUrl,
        maxItems: BATCH_CALLS_MAX,
        maxURLLength: URL_LENGTH_MAX,
        fetch: (input, init) => send(input, { ...init, signal: init?.signal ?? null }),
      }),
    })],
  });
  return { api, waitFor: (backtest, options = {}) => follow(api, backtest.id, options) };
}

/**
 * The pages of a list, one after the other.
 *
 * @param read Reads the page of a cursor; the first page has none.
 * @example
 * ```ts
 * for await (const { trades } of allPages((page) => api.backtests.trades.query({ id, limit: 200, ...page }))) {
 *   print(trades);
 * }
 * ```
 */
export async function* allPages<Page extends { readonly next_cursor: string | null }>(
  read: (page: { cursor?: string }) => Promise<Page>,
): AsyncGenerator<Page, void, undefined> {
  let page = await read({});
  yield page;
  while (page.next_cursor !== null) {
    page = await read({ cursor: page.next_cursor });
    yield page;
  }
}

/** True for errors of calls. They have no `data` where the service gave no answer, as for a lost connection. */
export function isHindcastError(error: unknown): error is HindcastError {
  return error instanceof TRPCClientError;
}

function follow(api: TRPCClient<AppRouter>, id: string, { signal, onProgress }: WaitOptions): Promise<Backtest> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    let last: Backtest | undefined;
    const subscription = api.backtests.onEvent.subscribe({ id }, {
      onData: (backtest) => {
        last = backtest;
        onProgress?.(backtest);
      },
      onError: (error) => settle(() => reject(error)),
      onComplete: () =>
        settle(() => {
          if (last !== undefined) resolve(last);
          else reject(new Error(`Cannot follow the backtest ${id}: the stream has no record; try again`));
        }),
    });
    const leave = () => settle(() => reject(signal?.reason));
    const settle = (end: () => void) => {
      signal?.removeEventListener("abort", leave);
      end();
      // After the end: it calls onComplete.
      subscription.unsubscribe();
    };
    signal?.addEventListener("abort", leave);
  });
}
