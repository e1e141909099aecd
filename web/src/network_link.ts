import { httpLink, httpSubscriptionLink, splitLink } from "@trpc/client";
import type { AppRouter } from "../../routers/app.ts";
import { watchedFetch } from "./connection.ts";

const URL = "/trpc";

/** Sends calls to the service that served the page. */
export const networkLink = splitLink<AppRouter>({
  condition: ({ type }) => type === "subscription",
  true: httpSubscriptionLink({ url: URL }),
  false: httpLink({
    url: URL,
    fetch: (input, init) => watchedFetch(input, { ...init, signal: init?.signal ?? null }),
  }),
});
