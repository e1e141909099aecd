/** All pages and their addresses. A page is loaded when it is first shown. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { hasSession, wasSignedIn } from "../account_routes.ts";
import { api, codeOf, queryClient } from "../api.ts";
import { readInstrumentSearch } from "../pages/data/instrument_search.ts";
import { readRegion } from "../pages/optimize/region.ts";
import { readRunSearch } from "../parts/run_search.ts";
import { readRunsSearch } from "../pages/runs/runs_search.ts";
import { readStrategiesSearch } from "../pages/strategies/strategies_search.ts";
import { Failure, NotFound } from "../parts/failure.tsx";
import { Shell } from "../parts/shell.tsx";
import { onEndOfSession } from "../session_end.ts";

/** Reads the labels and formats of metrics before a page shows any: without them, 36% would be shown as 0.36. */
async function readMetrics(): Promise<void> {
  const options = api.backtests.metrics.queryOptions(undefined, { staleTime: Infinity, retry: false });
  await queryClient.ensureQueryData(options).catch(() => {});
}

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });

/** Everything that needs a session; others are sent to sign in, and back afterwards. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: "signed-in",
  component: Shell,
  beforeLoad: async ({ location }) => {
    const session = api.session.get.queryOptions();
    const toSignIn = redirect({ to: "/sign-in", search: { to: location.href } });
    // A visitor, whose browser never had an account here, gets no refusal.
    const isKnown = queryClient.getQueryData(session.queryKey) !== undefined || wasSignedIn();
    if (!isKnown && !await hasSession().catch(() => true)) throw toSignIn;
    const known = readMetrics();
    try {
      await queryClient.ensureQueryData(session);
    } catch (error) {
      if (codeOf(error) !== "UNAUTHENTICATED") throw error;
      throw toSignIn;
    }
    await known;
  },
});

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: async () => {
    // A visitor whose browser never had an account here most likely has none.
    const isKnown = wasSignedIn() || await hasSession().catch(() => false);
    throw redirect({ to: isKnown ? "/runs" : "/sign-up" });
  },
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: (search: Record<string, unknown>): { to?: string; error?: string } => ({
    ...readReturn(search),
    ...(typeof search.error === "string" ? { error: search.error } : {}),
  }),
  component: lazyRouteComponent(() => import("../pages/sign_in/sign_in.tsx"), "SignInPage"),
});

const signUp = createRoute({
  getParentRoute: () => root,
  path: "/sign-up",
  validateSearch: readReturn,
  beforeLoad: async ({ search, location }) => {
    const { sign_up } = await queryClient.ensureQueryData(api.session.policy.queryOptions());
    const isInvited = sign_up === "open" || (sign_up === "invite" && location.hash !== "");
    if (!isInvited) throw redirect({ to: "/sign-in", search });
  },
  component: lazyRouteComponent(() => import("../pages/sign_in/sign_in.tsx"), "SignUpPage"),
});

const forgotPassword = createRoute({
  getParentRoute: () => root,
  path: "/forgot-password",
  component: lazyRouteComponent(() => import("../pages/sign_in/new_password.tsx"), "ForgotPasswordPage"),
});

const resetPassword = createRoute({
  getParentRoute: () => root,
  path: "/reset-password",
  component: lazyRouteComponent(() => import("../pages/sign_in/new_password.tsx"), "ResetPasswordPage"),
});

const runs = createRoute({
  getParentRoute: () => signedIn,
  path: "/runs",
  validateSearch: readRunsSearch,
  component: lazyRouteComponent(() => import("../pages/runs/runs.tsx"), "RunsPage"),
});

const newRun = createRoute({
  getParentRoute: () => signedIn,
  path: "/runs/new",
  validateSearch: readNewRunSearch,
  component: lazyRouteComponent(() => import("../pages/new_run/new_run.tsx"), "NewRunPage"),
});

const run = createRoute({
  getParentRoute: () => signedIn,
  path: "/runs/$id",
  validateSearch: readRunSearch,
  component: lazyRouteComponent(() => import("../pages/run/run.tsx"), "RunPage"),
});

const shared = createRoute({
  getParentRoute: () => root,
  path: "/shared/$token",
  validateSearch: readRunSearch,
  beforeLoad: readMetrics,
  component: lazyRouteComponent(() => import("../pages/shared/shared.tsx"), "SharedPage"),
});

const data = createRoute({
  getParentRoute: () => signedIn,
  path: "/data",
  component: lazyRouteComponent(() => import("../pages/data/data.tsx"), "DataPage"),
});

const instrument = createRoute({
  getParentRoute: () => signedIn,
  path: "/data/$exchange/$symbol",
  validateSearch: readInstrumentSearch,
  component: lazyRouteComponent(() => import("../pages/data/instrument.tsx"), "InstrumentPage"),
});

const compare = createRoute({
  getParentRoute: () => signedIn,
  path: "/compare",
  validateSearch: ({ ids }: Record<string, unknown>): { ids?: string } => typeof ids === "string" ? { ids } : {},
  component: lazyRouteComponent(() => import("../pages/compare/comparison.tsx"), "ComparePage"),
});

const optimizations = createRoute({
  getParentRoute: () => signedIn,
  path: "/optimizations",
  component: lazyRouteComponent(() => import("../pages/optimize/optimizations.tsx"), "OptimizationsPage"),
});

const newOptimization = createRoute({
  getParentRoute: () => signedIn,
  path: "/optimizations/new",
  validateSearch: readNewOptimizationSearch,
  component: lazyRouteComponent(() => import("../pages/optimize/new_optimization.tsx"), "NewOptimizationPage"),
});

const optimization = createRoute({
  getParentRoute: () => signedIn,
  path: "/optimizations/$id",
  component: lazyRouteComponent(() => import("../pages/optimize/optimization.tsx"), "OptimizationPage"),
});

const account = createRoute({
  getParentRoute: () => signedIn,
  path: "/account",
  component: lazyRouteComponent(() => import("../pages/account/account.tsx"), "AccountPage"),
});

const device = createRoute({
  getParentRoute: () => signedIn,
  path: "/device",
  // The router reads a code of digits alone as a number.
  validateSearch: ({ user_code: code }: Record<string, unknown>): { user_code?: string } =>
    typeof code === "string" || typeof code === "number" ? { user_code: String(code) } : {},
  component: lazyRouteComponent(() => import("../pages/account/device.tsx"), "DevicePage"),
});

const connect = createRoute({
  getParentRoute: () => signedIn,
  path: "/connect",
  validateSearch: ({ request }: Record<string, unknown>): { request: string } => ({
    request: typeof request === "string" ? request : "",
  }),
  component: lazyRouteComponent(() => import("../pages/account/connect.tsx"), "ConnectPage"),
});

const admin = createRoute({
  getParentRoute: () => signedIn,
  path: "/admin",
  component: lazyRouteComponent(() => import("../pages/admin/admin_page.tsx"), "AdminPage"),
});

const strategies = createRoute({
  getParentRoute: () => signedIn,
  path: "/strategies",
  validateSearch: readStrategiesSearch,
  component: lazyRouteComponent(() => import("../pages/strategies/strategies.tsx"), "StrategiesPage"),
});

const strategy = createRoute({
  getParentRoute: () => signedIn,
  path: "/strategies/$slug",
  component: lazyRouteComponent(() => import("../pages/strategies/strategy.tsx"), "StrategyPage"),
});

const universes = createRoute({
  getParentRoute: () => signedIn,
  path: "/universes",
  validateSearch: ({ add }: Record<string, unknown>): { add?: true } => add === true ? { add } : {},
  component: lazyRouteComponent(() => import("../pages/universes/universes.tsx"), "UniversesPage"),
});

/** All other addresses. */
const unknown = createRoute({
  getParentRoute: () => root,
  path: "$",
  beforeLoad: async () => {
    const isSignedIn = await hasSession().catch(() => false);
    if (isSignedIn) await queryClient.prefetchQuery(api.session.get.queryOptions());
    return { isSignedIn };
  },
  component: lazyRouteComponent(() => import("../pages/unknown/unknown.tsx"), "UnknownPage"),
});

const universe = createRoute({
  getParentRoute: () => signedIn,
  path: "/universes/$slug",
  component: lazyRouteComponent(() => import("../pages/universes/universe.tsx"), "UniversePage"),
});

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    signIn,
    signUp,
    forgotPassword,
    resetPassword,
    shared,
    signedIn.addChildren([
      ...[runs, newRun, run, optimizations, newOptimization, optimization],
      ...[strategies, strategy, universes, universe, data, instrument, compare, account, device, connect, admin],
    ]),
    unknown,
  ]),
  defaultPreload: "intent",
  defaultErrorComponent: Failure,
  defaultNotFoundComponent: NotFound,
  scrollRestoration: true,
});

onEndOfSession(() => {
  const { pathname, href } = router.state.location;
  queryClient.removeQueries({ queryKey: api.session.get.queryKey() });
  if (!/^\/sign-(in|up)$/.test(pathname)) void router.navigate({ to: "/sign-in", search: { to: href } });
});

/** The run, the strategy or the universe to start from. */
function readNewRunSearch({ from, strategy, universe, market }: Record<string, unknown>) {
  return {
    ...(typeof from === "string" ? { from } : {}),
    ...(typeof strategy === "string" ? { strategy } : {}),
    ...(typeof universe === "string" ? { universe } : {}),
    ...(typeof market === "string" ? { market } : {}),
  };
}

/** The same, or an optimization with a region of its space. */
function readNewOptimizationSearch(search: Record<string, unknown>) {
  const region = readRegion(search.region);
  return {
    ...readNewRunSearch(search),
    ...(typeof search.optimization === "string" ? { optimization: search.optimization } : {}),
    ...(region === undefined ? {} : { region }),
  };
}

/** The address to return to after signing in; only one of this console's own. */
function readReturn(search: Record<string, unknown>): { to?: string } {
  const { to } = search;
  return typeof to === "string" && /^\/(?![/\\])/.test(to) ? { to } : {};
}

// Every link and search of the console is checked against these routes.
declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
