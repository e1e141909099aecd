/** Signing in through a provider of identities, with a real one on a socket. */
import { expect } from "@std/expect";
import { openPostgres } from "../../db/client.ts";
import { grantAdmin } from "../../db/users.ts";
import { freePort } from "../support/free_port.ts";
import { IdentityProvider } from "../support/identity_provider.ts";
import { startTestService } from "../support/service.ts";
import type { TestClient } from "../support/client.ts";

const keep = (client: TestClient, lines: readonly string[]) => {
  client.cookie = lines.map((line) => line.split(";")[0]).join("; ");
};

Deno.test("people of a provider sign in without a password, also where sign-up is closed", async (t) => {
  const provider = new IdentityProvider(freePort());
  const service = await startTestService("PostgreSQL", { ...provider.settings, SIGN_UP: "closed", WORKERS: "0" });
  const begin = (client: TestClient) =>
    client.send("POST", "/api/auth/sign-in/social", {
      provider: "oidc",
      callbackURL: "/runs",
      errorCallbackURL: "/sign-in",
    });
  const signIn = async (client: TestClient, person: string) => {
    const begun = await begin(client);
    keep(client, begun.headers.getSetCookie());
    const back = await provider.signIn(String(begun.at("/url")), person);
    const answer = await client.get(`${back.pathname}${back.search}`);
    keep(client, answer.headers.getSetCookie());
    return { back, answer };
  };
  const [ann, thief] = [service.client(), service.client()];

  await t.step("a provider that is down is said to be, and is asked again", async () => {
    const answer = await begin(ann);
    expect([answer.status, answer.at("/error/message")]).toEqual([
      502,
      `Cannot sign in: the provider of identities at ${provider.settings.OIDC_ISSUER} answers no usable discovery document`,
    ]);
    await provider.start(service.url);
  });
  await t.step("the provider leads back with a session of a new account, and later of the same", async () => {
    const { answer } = await signIn(ann, "ann");
    expect([answer.status, answer.headers.get("location")]).toEqual([302, "/runs"]);
    const first = (await ann.get("/api/session")).at("/user");
    expect(first).toMatchObject({ email: "ann@example.com", name: "ann", role: "user" });
    const again = service.client();
    await signIn(again, "ann");
    expect((await again.get("/api/session")).at("/user")).toEqual(first);
    expect((await again.get("/trpc/session.policy")).at("/result/data/open_id")).toBe(`127.0.0.1:${provider.port}`);
  });
  await t.step("a name keeps no character that a sign-up would refuse", async () => {
    const eve = service.client();
    await signIn(eve, "eve");
    expect((await eve.get("/api/session")).at("/user")).toMatchObject({ email: "eve@example.com", name: "Eve[2JM." });
  });
  await t.step("an answer of the provider counts once, and in the browser that asked alone", async () => {
    const { back } = await signIn(service.client(), "ann");
    for (const address of [`${back.pathname}${back.search}`, `${back.pathname}?state=forged&code=forged`]) {
      const answer = await thief.get(address);
      expect(answer.headers.get("location")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/sign-in\?error=\w+/);
      expect(answer.headers.getSetCookie().filter((line) => /session_token=[^;]/.test(line))).toEqual([]);
    }
    const begun = await begin(service.client());
    const other = await provider.signIn(String(begun.at("/url")), "ann");
    const answer = await thief.get(`${other.pathname}${other.search}`);
    expect(answer.headers.get("location")).toMatch(/error=/);
    expect((await thief.get("/api/session")).status).toBe(401);
  });
  await t.step("an account with a password is nobody's by its address alone", async () => {
    const handle = await openPostgres(service.databaseUrl, 1);
    await grantAdmin(handle.db, "ann@example.com");
    await handle.close();
    const bob = { name: "Bob", email: "bob@example.com", password: "correct horse battery" };
    expect((await ann.send("POST", "/api/auth/admin/create-user", bob)).status).toBe(200);
    const { answer } = await signIn(thief, "bob");
    expect(answer.headers.get("location")).toBe("/sign-in?error=account_not_linked");
    expect((await thief.get("/api/session")).status).toBe(401);
  });
  await t.step("an account without a password is deleted without one, and one with a password is not", async () => {
    const bob = service.client();
    const credentials = { email: "bob@example.com", password: "correct horse battery" };
    keep(bob, (await bob.send("POST", "/api/auth/sign-in/email", credentials)).headers.getSetCookie());
    expect((await bob.send("POST", "/api/auth/delete-user", {})).status).toBe(400);
    expect((await thief.send("POST", "/api/auth/delete-user", {})).status).toBe(400);
    expect((await ann.send("POST", "/api/auth/delete-user", {})).status).toBe(200);
    expect((await ann.get("/api/session")).status).toBe(401);
  });
  await service.close();
  await provider.close();
});
