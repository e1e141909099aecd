import { expect } from "@std/expect";
import type { DatabaseHandle } from "../../../db/client.ts";
import { PostgresClient } from "../../../db/postgres/postgres.ts";
import { createPostgresDatabase } from "../../../db/postgres_session.ts";
import { session } from "../../../db/schema.ts";
import { type Auth, createAuth } from "../../../server/requests/auth.ts";
import { readSessionToken } from "../../../server/requests/session_cookie.ts";
import { databaseTest } from "../../support/database.ts";

const SECRET = "x".repeat(32);
const URL_OF = "http://127.0.0.1:1";
const DAY_MS = 86_400_000;

databaseTest(
  "a current session is read in one statement; the library ends, renews and refuses the others",
  async ({ db, connection }: DatabaseHandle) => {
    if (connection.kind !== "postgres") throw new Error("Cannot be but PostgreSQL");
    const client = await PostgresClient.connect(connection.url);
    const statements: string[] = [];
    const query = client.query.bind(client);
    client.query = (text, values, shape) => (statements.push(text), query(text, values, shape));
    const auth = createAuth(createPostgresDatabase(client), { secret: SECRET, baseUrl: URL_OF, origins: [] });
    const cookie = await signUp(auth);
    const use = async (sent: string) => {
      statements.length = 0;
      const found = await auth.useSession(new Headers({ cookie: sent }), (_, find) => find());
      return { found, count: statements.length };
    };

    const current = await use(cookie);
    expect(current.found?.user).toMatchObject({ email: "ann@example.com", role: "user" });
    expect(current).toEqual({ found: await auth.findSession(new Headers({ cookie })), count: 1 });
    const [name = "", value = ""] = cookie.split("=");
    for (const other of [`a=b; ${cookie}; c=d`, ` ${cookie}`, `${name}="${value}"`]) {
      const { found, count } = await use(other);
      expect([other, found?.user, count]).toEqual([other, current.found?.user, 1]);
    }

    const forged = await signUp(
      createAuth(db, { secret: "y".repeat(32), baseUrl: URL_OF, origins: [] }),
      "b@example.com",
    );
    const last = value.endsWith("3D") ? value.slice(0, -4) : value;
    for (const wrong of [forged, `${name}=${last}`, `${name}=${value.split(".")[0]}`, `${name}=%`, `${name}=`, "a=b"]) {
      expect([wrong, await use(wrong)]).toEqual([wrong, { found: null, count: 0 }]);
    }

    await db.update(session).set({ expiresAt: new Date(Date.now() + 5 * DAY_MS) });
    const renewed = await use(cookie);
    expect(renewed.found?.cookies).toEqual([expect.stringContaining(`${name}=${value}; Max-Age=604800`)]);
    expect((await use(cookie)).count).toBe(1);

    await db.update(session).set({ expiresAt: new Date(Date.now() - 1) });
    expect((await use(cookie)).found).toBeNull();
    // The library has removed it.
    expect((await use(await signUp(auth, "c@example.com"))).count).toBe(1);
    expect((await use(cookie)).found).toBeNull();
    await client.close();
  },
);

Deno.test("a session's token counts only with the signature of this secret", async () => {
  // HMAC-SHA-256 of "token" by the key "secret", worked out with `openssl dgst -sha256 -hmac secret -binary | base64`.
  const signature = "6UERDj0r/oJiHw4+FDRzDXMF0QbF9oyHFl0LJ6RhGko=";
  const cookie = (value: string) => `other=1; name=${encodeURIComponent(value)}`;
  expect(await readSessionToken(cookie(`token.${signature}`), "name", "secret")).toBe("token");
  expect(await readSessionToken(cookie(`token.${signature}`), "name", "another")).toBeUndefined();
  expect(await readSessionToken(cookie(`tokem.${signature}`), "name", "secret")).toBeUndefined();
  expect(await readSessionToken(cookie(`token.${signature}`), "nam", "secret")).toBeUndefined();
  // As the library, the first cookie of a name counts.
  expect(await readSessionToken(`name=x; ${cookie(`token.${signature}`)}`, "name", "secret")).toBeUndefined();
});

async function signUp(auth: Auth, email = "ann@example.com"): Promise<string> {
  const body = JSON.stringify({ name: "Ann", email, password: "correct horse battery" });
  const headers = { "content-type": "application/json" };
  const request = new Request(`${URL_OF}/api/auth/sign-up/email`, { method: "POST", headers, body });
  const answer = await auth.handle(request, "127.0.0.1");
  return answer.headers.getSetCookie()[0]?.split(";")[0] ?? "";
}
