import { z } from "zod";
import type { appRouter } from "../../routers/app.ts";
import { validationFailed } from "../../routers/common/errors.ts";

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

/** The arguments by which a list is read in pages. */
export function pageFields(rowsMax: number) {
  return { limit: z.int().min(1).max(rowsMax).default(rowsMax), cursor: z.string().max(2000).optional() };
}

/** A row of the table of tools, which checks its input. @throws {AppError} VALIDATION_FAILED in `call`. */
export function tool<Shape extends z.core.$ZodLooseShape>(
  { input, call, ...rest }: Omit<Tool, "input" | "call"> & {
    readonly input: Shape;
    readonly call: (api: AgentApi, input: z.infer<z.ZodObject<Shape>>, signal: AbortSignal) => Promise<object>;
  },
): Tool {
  const schema = z.strictObject(input);
  return {
    ...{ ...rest, input: schema },
    async call(api, given, signal) {
      const parsed = schema.safeParse(given);
      if (!parsed.success) throw validationFailed(parsed.error);
      return await call(api, parsed.data, signal);
    },
  };
}
