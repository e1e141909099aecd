import { expect } from "@std/expect";
import type { Scope } from "../../../db/tokens.ts";
import { restRouter } from "../../../routers/app.ts";
import { AppError, toAppError } from "../../../routers/common/errors.ts";
import { type Access, type Context, requireAccess, type User } from "../../../routers/common/trpc.ts";
import { ReportShell } from "../../../server/answers/encode_report.ts";
import { ROUTES } from "../../../server/rest/routes.ts";
import { strangerContext } from "../../support/context.ts";
import { openTestDatabase } from "../../support/database.ts";

const person = (role: User["role"], scope: Scope | null = null) => ({
  user: { id: role, email: `${role}@example.com`, name: role, role },
  session: { id: "session", expiresAt: new Date(8e15), scope },
});
const CALLERS = {
  stranger: {},
  user: person("user"),
  admin: person("admin"),
  secret: { hasIngestionSecret: true },
  server: person("user", "serve"),
  reader: person("user", "read"),
  runner: person("user", "run"),
  // The role is gone, and the token not yet.
  former: person("user", "admin"),
  adminReader: person("admin", "read"),
  adminRunner: person("admin", "run"),
  operator: person("admin", "admin"),
} as const satisfies Record<string, Partial<Context>>;

const READERS = ["reader", "runner", "former", "adminReader", "adminRunner", "operator"] as const;
const RUNNERS = READERS.filter((name) => !/reader$/i.test(name));
const SERVERS = ["user", "admin", "server", ...RUNNERS] as const;
const ADMITTED: Readonly<Record<Access, Readonly<Record<"query" | "mutation", readonly (keyof typeof CALLERS)[]>>>> = {
  public: {
    query: ["stranger", "user", "admin", "secret", "server", ...READERS],
    mutation: ["stranger", "user", "admin", "secret", "server", ...READERS],
  },
  user: { query: ["user", "admin", ...READERS], mutation: ["user", "admin", ...RUNNERS] },
  serve: { query: SERVERS, mutation: SERVERS },
  "signed-in": { query: ["user", "admin"], mutation: ["user", "admin"] },
  admin: { query: ["admin", "operator"], mutation: ["admin", "operator"] },
  ingestion: { query: ["admin", "secret", "operator"], mutation: ["admin", "secret", "operator"] },
};

/** The callers that an action does not refuse; other failures do not count. */
async function listAdmitted(act: (caller: Partial<Context>) => unknown): Promise<string[]> {
  const admitted: string[] = [];
  for (const [name, caller] of Object.entries(CALLERS)) {
    try {
      await act(caller);
      admitted.push(name);
    } catch (error) {
      if (!["UNAUTHENTICATED", "FORBIDDEN"].includes(toAppError(error).appCode)) admitted.push(name);
    }
  }
  return admitted;
}

Deno.test("each row declares the access that its procedure's guard asks for, of sessions and of tokens of each scope", async () => {
  const { db, close } = await openTestDatabase("PostgreSQL");
  for (const { method, path, access, call } of ROUTES) {
    const admitted = await listAdmitted(async (caller) => {
      const api = restRouter.createCaller(strangerContext(db, caller));
      const answer = await call(api, {}, new Request("http://localhost/"), new ReportShell(""));
      await answer.body?.cancel();
    });
    const type = method === "GET" ? "query" : "mutation";
    expect([method, path, admitted]).toEqual([method, path, ADMITTED[access][type]]);
  }
  await close();
});

Deno.test("requireAccess() admits exactly the callers that the access names", async () => {
  const { db, close } = await openTestDatabase("PostgreSQL");
  for (const access of ["public", "user", "serve", "signed-in", "admin", "ingestion"] as const) {
    for (const type of ["query", "mutation"] as const) {
      const admitted = await listAdmitted((caller) => requireAccess(access, strangerContext(db, caller), type));
      expect([access, type, admitted]).toEqual([access, type, ADMITTED[access][type]]);
    }
  }
  expect(() => requireAccess("user", strangerContext(db), "query")).toThrow(AppError);
  await close();
});
