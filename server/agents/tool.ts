import { z } from "zod";
import type { appRouter } from "../../routers/app.ts";

/** The procedures, called with one request's context. */
export type AgentApi = ReturnType<typeof appRouter.createCaller>;

/** A tool of the agents' endpoint. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  /** Written for a model: what it does, when to use it, what comes back. */
  readonly description: string;
  readonly input: z.ZodType;
  /** True: the tool changes nothing. */
  readonly isReading: boolean;
  /** @param signal Aborted when the caller has left. */
  call(api: AgentApi, input: unknown, signal: AbortSignal): Promise<object>;
}

/** A row of the table of tools; its input is checked before `call` runs. */
export function tool<Shape extends z.core.$ZodLooseShape>(
  { input, call, ...rest }: Omit<Tool, "input" | "call"> & {
    readonly input: Shape;
    readonly call: (api: AgentApi, input: z.infer<z.ZodObject<Shape>>, signal: AbortSignal) => Promise<object>;
  },
): Tool {
  const schema = z.strictObject(input);
  return { ...rest, input: schema, call: (api, given, signal) => call(api, schema.parse(given), signal) };
}
