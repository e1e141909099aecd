import { expect } from "@std/expect";
import { administer } from "../support/database.ts";
import { startTestService } from "../support/service.ts";

const OLD = "the secret of before, of 32 characters";
const NEW = "the secret of today, of 32 characters";

Deno.test("sessions outlive a change of the secret, and get cookies of the new one", async () => {
  const before = await startTestService("PostgreSQL", { BETTER_AUTH_SECRET: OLD, WORKERS: "0" });
  const DATABASE_URL = before.databaseUrl;
  const start = (more: Record<string, string>) =>
    startTestService("PostgreSQL", { DATABASE_URL, BETTER_AUTH_SECRET: NEW, WORKERS: "0", ...more });
  const both = await start({ BETTER_AUTH_SECRET_OLD: OLD });
  const after = await start({});
  const cookie = (await before.user()).cookie;
  const statusAt = async (service: typeof before, sent: string) => {
    const client = service.client();
    client.cookie = sent;
    return await client.get("/api/session");
  };
  expect((await statusAt(both, cookie)).status).toBe(200);
  // The library reads it, too.
  const client = both.client();
  client.cookie = cookie;
  expect((await client.get("/api/auth/list-sessions")).list("")).toHaveLength(1);
  expect((await statusAt(after, cookie)).status).toBe(401);

  // A day later, a use renews the session, and its cookie is the new secret's.
  await administer(DATABASE_URL, "update session set expires_at = now() + interval '5 days'");
  const renewed = (await statusAt(both, cookie)).headers.getSetCookie()[0]?.split(";")[0] ?? "";
  expect((await statusAt(after, renewed)).status).toBe(200);

  // Neither secret signed this one.
  const other = cookie.replace(/\.[^.]+$/, `.${renewed.split(".").at(-1)}`);
  expect((await statusAt(both, other.replace(/=.{5}/, "=abcde"))).status).toBe(401);
  for (const service of [both, after, before]) await service.close();
});
