import { z } from "zod";
import { restRouter } from "../../routers/app.ts";
import { ROUTES } from "../../server/rest.ts";

/** A procedure, and the route that leads to it where there is one. */
export interface Target {
  readonly procedure: string;
  readonly type: "query" | "mutation" | "subscription";
  /** Its input, as far as a JSON Schema can say it; null: none. */
  readonly shape: z.core.JSONSchema.BaseSchema | null;
  readonly input: z.ZodType | null;
  readonly output: z.ZodType | null;
  /** Null for what tRPC alone has. */
  readonly route: (typeof ROUTES)[number] | null;
}

const procedureSchema = z.object({
  _def: z.object({
    type: z.enum(["query", "mutation", "subscription"]),
    inputs: z.array(z.instanceof(z.ZodType)),
    output: z.instanceof(z.ZodType).optional(),
  }),
});

// Where a call on it leads is the way that the call was written.
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

/** Where accounts are, which are no procedures of ours: any of their keys on any of their paths. */
export function listAccountTargets(): readonly Target[] {
  const shape = z.toJSONSchema(z.object(account).partial());
  return ACCOUNT_PATHS.map(([method, name]) => {
    const body = method === "POST" ? "json" : "none";
    const call = () => Promise.reject(new Error(`Cannot call ${name} from here`));
    const query = new Set<string>();
    const route = { method, path: `/api/auth/${name}`, status: 200, access: "public", body, query, call } as const;
    return { procedure: `accounts.${name}`, type: "query", shape, input: null, output: null, route };
  });
}

function procedureOf(value: unknown): z.infer<typeof procedureSchema>["_def"] {
  // A procedure is a function: what it is made of hangs on it.
  return procedureSchema.parse({ _def: Reflect.get(Object(value), "_def") })._def;
}

/** A row of ROUTES keeps its procedure to itself: it is asked to call one that tells its name. */
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
