import { z } from "zod";
import { agentsRouter } from "./agents.ts";
import { backtestsRouter, backtestsStreamsRouter } from "./backtests/backtests.ts";
import { endpointsRouter } from "./endpoints.ts";
import { healthRouter, healthStreamsRouter } from "./health.ts";
import { ingestionRouter, ingestionStreamsRouter } from "./ingestion/ingestion.ts";
import { toJsonSchema } from "./json_schema.ts";
import { marketDataRouter, marketDataStreamsRouter } from "./market_data/market_data.ts";
import { optimizationsRouter, optimizationsStreamsRouter } from "./optimizations/optimizations.ts";
import { monteCarloRouter, monteCarloStreamsRouter } from "./monte_carlo/monte_carlo.ts";
import { sessionRouter } from "./session.ts";
import { stressTestsRouter, stressTestsStreamsRouter } from "./stress_tests/stress_tests.ts";
import { sharesStreamsRouter } from "./shares/shared_files.ts";
import { sharesRouter } from "./shares/shares.ts";
import { strategiesRouter, strategiesStreamsRouter } from "./strategies/strategies.ts";
import { invitationsRouter } from "./invitations.ts";
import { tokensRouter } from "./tokens.ts";
import { router } from "./common/trpc.ts";
import { usersRouter } from "./users.ts";
import { universesRouter, universesStreamsRouter } from "./universes/universes.ts";

const routers = {
  health: healthRouter,
  session: sessionRouter,
  invitations: invitationsRouter,
  users: usersRouter,
  tokens: tokensRouter,
  agents: agentsRouter,
  marketData: marketDataRouter,
  backtests: backtestsRouter,
  optimizations: optimizationsRouter,
  monteCarlo: monteCarloRouter,
  stressTests: stressTestsRouter,
  shares: sharesRouter,
  strategies: strategiesRouter,
  universes: universesRouter,
  endpoints: endpointsRouter,
  ingestion: ingestionRouter,
};

const procedureSchema = z.object({
  _def: z.object({
    type: z.enum(["query", "mutation", "subscription"]),
    inputs: z.array(z.instanceof(z.ZodType)).max(1),
    output: z.instanceof(z.ZodType).optional(),
  }),
});

/** The procedures that /trpc serves. */
export const appRouter = router(routers);

/** The one type that a typed frontend imports. */
export type AppRouter = typeof appRouter;

/** The procedures that REST serves: the same, and those that take or give a stream, which tRPC cannot carry. */
export const restRouter = router({
  ...routers,
  healthStreams: healthStreamsRouter,
  backtestsStreams: backtestsStreamsRouter,
  optimizationsStreams: optimizationsStreamsRouter,
  monteCarloStreams: monteCarloStreamsRouter,
  stressTestsStreams: stressTestsStreamsRouter,
  sharesStreams: sharesStreamsRouter,
  strategiesStreams: strategiesStreamsRouter,
  universesStreams: universesStreamsRouter,
  marketDataStreams: marketDataStreamsRouter,
  ingestionStreams: ingestionStreamsRouter,
});

/** A procedure of `restRouter`. */
interface ProcedureDescription {
  readonly type: "query" | "mutation" | "subscription";
  /** Undefined where it takes none. */
  readonly input: z.ZodType | undefined;
  /** Undefined where it gives none, or a stream. */
  readonly output: z.ZodType | undefined;
  /** The keys that its input may have. */
  readonly keys: ReadonlySet<string>;
}

/** Describes a procedure of `restRouter`. @param name As in `backtests.list`. */
export function describeProcedure(name: string): ProcedureDescription {
  const { _def: { type, inputs: [input], output } } = procedureSchema.parse({
    _def: Reflect.get(Object(Reflect.get(restRouter._def.procedures, name)), "_def"),
  });
  const shape = input === undefined ? undefined : toJsonSchema(input, "input");
  return { type, input, output, keys: new Set(Object.keys(shape?.properties ?? {})) };
}
