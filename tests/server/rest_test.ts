import { expect } from "@std/expect";
import { restRouter } from "../../routers/app.ts";
import { AppError, toAppError } from "../../routers/errors.ts";
import { type Access, type Context, requireAccess, type User } from "../../routers/trpc.ts";
import { ROUTES } from "../../server/rest.ts";
import { strangerContext } from "../support/context.ts";
import { openTestDatabase } from "../support/database.ts";

const SESSION = { id: "session", expiresAt: new Date(8e15) };
const person = (role: User["role"]) => ({
  user: { id: role, email: `${role}@example.com`, name: role, role },
  session: SESSION,
});
const CALLERS = {
  stranger: {},
  user: person("user"),
  admin: person("admin"),
  secret: { hasIngestionSecret: true },
} as const satisfies Record<string, Partial<Context>>;

const ADMITTED: Readonly<Record<Access, readonly (keyof typeof CALLERS)[]>> = {
  public: ["stranger", "user", "admin", "secret"],
  user: ["user", "admin"],
  admin: ["admin"],
  ingestion: ["admin", "secret"],
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

Deno.test("each row declares the access that its procedure's guard asks for", async () => {
  const { db, close } = await openTestDatabase("PostgreSQL");
  for (const row of ROUTES) {
    const admitted = await listAdmitted(async (caller) => {
      const api = restRouter.createCaller(strangerContext(db, caller));
      const answer = await row.call(api, {}, new Request("http://localhost/"));
      await answer.body?.cancel();
    });
    expect([row.method, row.path, admitted]).toEqual([row.method, row.path, ADMITTED[row.access]]);
  }
  await close();
});

Deno.test("requireAccess() admits exactly the callers that the access names", async () => {
  const { db, close } = await openTestDatabase("PostgreSQL");
  for (const access of ["public", "user", "admin", "ingestion"] as const) {
    const admitted = await listAdmitted((caller) => requireAccess(access, strangerContext(db, caller)));
    expect([access, admitted]).toEqual([access, ADMITTED[access]]);
  }
  expect(() => requireAccess("user", strangerContext(db))).toThrow(AppError);
  await close();
});
