import { z } from "zod";
import { backtestsRouter, backtestsStreamsRouter } from "./backtests.ts";
import { healthRouter } from "./health.ts";
import { ingestionRouter, ingestionStreamsRouter } from "./ingestion.ts";
import { marketDataRouter, marketDataStreamsRouter } from "./market_data.ts";
import { sessionRouter } from "./session.ts";
import { strategiesRouter, strategiesStreamsRouter } from "./strategies.ts";
import { tokensRouter } from "./tokens.ts";
import { router } from "./trpc.ts";

const routers = {
  health: healthRouter,
  session: sessionRouter,
  tokens: tokensRouter,
  marketData: marketDataRouter,
  backtests: backtestsRouter,
  strategies: strategiesRouter,
  ingestion: ingestionRouter,
};

const procedureSchema = z.object({
  _def: z.object({
    type: z.enum(["query", "mutation", "subscription"]),
    inputs: z.array(z.instanceof(z.ZodType)),
  }),
});

/** The procedures that /trpc serves. */
export const appRouter = router(routers);

/** The one type that a typed frontend imports. */
export type AppRouter = typeof appRouter;

/** The procedures that REST serves: the same, and those that take or give a stream, which tRPC cannot carry. */
export const restRouter = router({
  ...routers,
  backtestsStreams: backtestsStreamsRouter,
  strategiesStreams: strategiesStreamsRouter,
  marketDataStreams: marketDataStreamsRouter,
  ingestionStreams: ingestionStreamsRouter,
});

/**
 * Describes a procedure of `restRouter`: its kind, and the keys that its input may have.
 *
 * @param name As in `backtests.list`.
 */
export function describeProcedure(name: string) {
  const { _def: { type, inputs } } = procedureSchema.parse({
    _def: Reflect.get(Object(Reflect.get(restRouter._def.procedures, name)), "_def"),
  });
  const shapes = inputs.map((input) => z.toJSONSchema(input, { io: "input", unrepresentable: "any" }));
  return { type, query: new Set(shapes.flatMap(({ properties = {} }) => Object.keys(properties))) };
}
