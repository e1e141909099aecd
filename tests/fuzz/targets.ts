import { z } from "zod";
import { restRouter } from "../../routers/app.ts";
import { ROUTES } from "../../server/rest/routes.ts";

/** A procedure, with its route if it has one. */
export interface Target {
  readonly procedure: string;
  readonly type: "query" | "mutation" | "subscription";
  /** The procedure's input, as far as JSON Schema can describe it; null without input. */
  readonly shape: z.core.JSONSchema.BaseSchema | null;
  readonly input: z.ZodType | null;
  readonly output: z.ZodType | null;
  /** Null if only tRPC serves it. */
  readonly route: (typeof ROUTES)[number] | null;
}

const procedureSchema = z.object({
  _def: z.object({
    type: z.enum(["query", "mutation", "subscription"]),
    inputs: z.array(z.instanceof(z.ZodType)),
    output: z.instanceof(z.ZodType).optional(),
  }),
});

// Thrown by the stand-in for the routers, with the name of the procedure that a row called.
class Found extends Error {
  constructor(readonly procedure: string) {
    super(procedure);
  }
}

/** Every procedure that REST or tRPC serves, read from the routers and the table of routes themselves. */
export async function listTargets(): Promise<readonly Target[]> {
  const byProcedure = new Map<string, (typeof ROUTES)[number]>();
  for (const route of ROUTES) byProcedure.set(await nameProcedure(route), route);
  return Object.entries(restRouter._def.procedures).map(([procedure, value]) => {
    const { type, inputs: [input = null], output = null } = procedureOf(value);
    const shape = input === null ? null : z.toJSONSchema(input, { io: "input", unrepresentable: "any" });
    return { procedure, type, shape, input, output, route: byProcedure.get(procedure) ?? null };
  });
}

const text = z.string().max(60);
const account = { name: text, email: text, password: text, newPassword: text, role: text, userId: text, token: text };
const ACCOUNT_PATHS = [
  ["POST", "sign-up/email"],
  ["POST", "sign-in/email"],
  ["POST", "sign-out"],
  ["GET", "get-session"],
  ["POST", "update-user"],
  ["POST", "change-password"],
  ["POST", "request-password-reset"],
  ["POST", "admin/set-role"],
  ["GET", "admin/list-users"],
  ["POST", "no-such-thing"],
] as const;

/** The account routes, which are not our procedures: any of their keys on any of their paths. */
export function listAccountTargets(): readonly Target[] {
  const shape = z.toJSONSchema(z.object(account).partial());
  return ACCOUNT_PATHS.map(([method, name]) => {
    const body = method === "POST" ? "json" : "none";
    const call = () => Promise.reject(new Error(`Cannot call ${name} from here`));
    const query = new Set<string>();
    const path = `/api/auth/${name}`;
    const type = method === "GET" ? "query" : "mutation";
    const route = {
      method,
      path,
      status: 200,
      access: "public",
      procedure: "",
      type,
      body,
      isLong: false,
      query,
      call,
    } as const;
    return { procedure: `accounts.${name}`, type: "query", shape, input: null, output: null, route };
  });
}

function procedureOf(value: unknown): z.infer<typeof procedureSchema>["_def"] {
  // A procedure is a function that carries its definition.
  return procedureSchema.parse({ _def: Reflect.get(Object(value), "_def") })._def;
}

/** Finds the name of a route's procedure: rows do not expose it, so the row calls one that throws its name. */
async function nameProcedure(route: (typeof ROUTES)[number]): Promise<string> {
  const namespaces = Object.entries(restRouter._def.procedures).map(([name]) => name.split("."));
  const spy: Record<string, Record<string, () => never>> = {};
  for (const [router = "", name = ""] of namespaces) {
    (spy[router] ??= {})[name] = () => {
      throw new Found(`${router}.${name}`);
    };
  }
  try {
    await Reflect.apply(route.call, undefined, [spy, {}, new Request("http://localhost/")]);
  } catch (error) {
    if (error instanceof Found) return error.procedure;
    throw error;
  }
  throw new Error(`Cannot name the procedure of ${route.method} ${route.path}`);
}
