/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { httpLink, httpSubscriptionLink, splitLink } from "@trpc/client";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import type { AppRouter } from "../../../routers/app.ts";
import { queryClient, setTransport } from "../api.ts";
import { onReconnect, watchedFetch } from "../connection.ts";
import { linkToken } from "../link_token.ts";
import { router } from "./router.tsx";
import { applyTheme } from "../theme/theme.ts";
import "../theme/tokens.css";

const TRPC = "/trpc";

/** Sends calls to the service that served the page. */
const networkLink = splitLink<AppRouter>({
  condition: ({ type }) => type === "subscription",
  true: httpSubscriptionLink({ url: TRPC }),
  false: httpLink({
    url: TRPC,
    headers: () => {
      const token = linkToken();
      return token === undefined ? {} : { "x-share-token": token };
    },
    fetch: (input, init) => watchedFetch(input, { ...init, signal: init?.signal ?? null }),
  }),
});

applyTheme();
setTransport(networkLink);
// A change in one tab is shown by the others. What never changes, such as charts, is not asked for again.
const otherTabs = new BroadcastChannel("changes");
queryClient.getMutationCache().subscribe(({ mutation, type }) => {
  if (type === "updated" && mutation.state.status === "success") otherTabs.postMessage(null);
});
otherTabs.addEventListener("message", () =>
  void queryClient.invalidateQueries({
    predicate: ({ observers }) => observers.some(({ options }) => options.staleTime !== Infinity),
  }));
// Events were missed while the connection was away.
onReconnect(() => void queryClient.invalidateQueries());
const root = document.getElementById("root");
if (root === null) throw new Error("Cannot show the console: the page has no element #root");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
