import { z } from "zod";
import { backtestsRouter, backtestsStreamsRouter } from "./backtests.ts";
import { healthRouter } from "./health.ts";
import { ingestionRouter, ingestionStreamsRouter } from "./ingestion.ts";
import { marketDataRouter, marketDataStreamsRouter } from "./market_data.ts";
import { sessionRouter } from "./session.ts";
import { strategiesRouter, strategiesStreamsRouter } from "./strategies.ts";
import { router } from "./trpc.ts";

const routers = {
  health: healthRouter,
  session: sessionRouter,
  marketData: marketDataRouter,
  backtests: backtestsRouter,
  strategies: strategiesRouter,
  ingestion: ingestionRouter,
};

const procedureSchema = z.object({ _def: z.object({ inputs: z.array(z.instanceof(z.ZodType)) }) });

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

/** The keys that the input of a procedure of `restRouter` may have. @param name As in `backtests.list`. */
export function inputKeys(name: string): ReadonlySet<string> {
  const { _def } = procedureSchema.parse({
    _def: Reflect.get(Object(Reflect.get(restRouter._def.procedures, name)), "_def"),
  });
  const shapes = _def.inputs.map((input) => z.toJSONSchema(input, { io: "input", unrepresentable: "any" }));
  return new Set(shapes.flatMap(({ properties = {} }) => Object.keys(properties)));
}
