/** Accounts by invitation, over HTTP, by mail and from the command line. */
import { expect } from "@std/expect";
import { eq, sql } from "drizzle-orm";
import { openPostgres } from "../../db/client.ts";
import { verification } from "../../db/schema.ts";
import { grantAdmin } from "../../db/users.ts";
import { MailServer } from "../support/mail_server.ts";
import { runTaskCommand } from "../support/process.ts";
import { startTestService } from "../support/service.ts";

const PATH = "/api/admin/invitations";
const PASSWORD = "correct horse battery";

Deno.test("people sign up by invitation: it counts once, until it ends, and for the address that it is for", async (t) => {
  const mail = await MailServer.start();
  const service = await startTestService("PostgreSQL", {
    SIGN_UP: "invite",
    WORKERS: "0",
    SMTP_URL: mail.url,
    MAIL_FROM: "hindcast@example.com",
  });
  const [admin, user, stranger] = [await service.user(), await service.user(), service.client()];
  const handle = await openPostgres(service.databaseUrl, 1);
  await grantAdmin(handle.db, String((await admin.get("/api/session")).at("/user/email")));
  const invite = async (invitation: object = {}) => {
    const answer = await admin.send("POST", PATH, { invitation });
    expect([answer.status, answer.text]).toEqual([201, expect.stringContaining(`${service.url}/sign-up#hci_`)]);
    const [, token] = String(answer.at("/url")).split("#");
    return { token, id: String(answer.at("/invitation/id")), mailed: answer.at("/mailed") };
  };
  const signUp = async (email: string, invitation?: unknown, password = PASSWORD) =>
    (await stranger.send("POST", "/api/auth/sign-up/email", { name: "x", email, password, invitation })).status;

  await t.step("nobody signs up without one, and the service says so", async () => {
    for (
      const none of [undefined, "", "forged", `hci_${"x".repeat(43)}`, 5, { $ne: "" }, "x".repeat(10_000)]
    ) {
      expect([none, await signUp("a@example.com", none)]).toEqual([none, 403]);
    }
    expect((await stranger.get("/trpc/session.policy")).at("/result/data/sign_up")).toBe("invite");
  });
  await t.step("only admins invite, see and revoke", async () => {
    const { id } = await invite();
    for (const [client, status] of [[stranger, 401], [user, 403]] as const) {
      expect((await client.send("POST", PATH, { invitation: {} })).status).toBe(status);
      expect((await client.get(PATH)).status).toBe(status);
      expect((await client.send("DELETE", `${PATH}/${id}`)).status).toBe(status);
    }
    expect((await admin.get(PATH)).list("/invitations")).toEqual([{
      id,
      email: null,
      created_at: expect.any(String),
      expires_at: expect.any(String),
    }]);
    expect((await admin.send("DELETE", `${PATH}/${id}`)).status).toBe(204);
    expect((await admin.send("DELETE", `${PATH}/${id}`)).at("/error/code")).toBe("INVITATION_NOT_FOUND");
  });
  await t.step("it counts once, and a refused sign-up does not use it up", async () => {
    const { token } = await invite();
    expect(await signUp("a@example.com", token, "password")).toBe(400);
    const taken = String((await user.get("/api/session")).at("/user/email"));
    expect(await signUp(taken, token)).toBe(422);
    const both = await Promise.all(["a@example.com", "b@example.com"].map((email) => signUp(email, token)));
    expect(both.toSorted()).toEqual([200, 403]);
    expect(await signUp("c@example.com", token)).toBe(403);
  });
  // Names of hosts are written in lower case on the way.
  await t.step("one for an address is mailed to it, and nobody else's", async () => {
    const { token, mailed } = await invite({ email: "Bo@Example.com" });
    expect([mailed, await mail.linkTo("Bo@example.com")]).toEqual([true, `${service.url}/sign-up#${token}`]);
    expect(await signUp("c@example.com", token)).toBe(403);
    expect(await signUp("bo@example.com", token)).toBe(200);
  });
  await t.step("one that has ended or is revoked counts no more", async () => {
    const [ended, revoked] = [await invite({ expires_in_days: 1 }), await invite()];
    await handle.db.update(verification).set({ expiresAt: sql`now()` }).where(eq(verification.id, ended.id));
    expect((await admin.send("DELETE", `${PATH}/${revoked.id}`)).status).toBe(204);
    for (const { token } of [ended, revoked]) expect(await signUp("d@example.com", token)).toBe(403);
    expect((await admin.get(PATH)).list("/invitations")).toEqual([]);
  });
  // There a taken address is answered as a new one, so that strangers cannot tell.
  await t.step("a taken address does not use one up where addresses are verified", async () => {
    const verifying = await startTestService("PostgreSQL", {
      DATABASE_URL: service.databaseUrl,
      SIGN_UP: "invite",
      WORKERS: "0",
      SMTP_URL: mail.url,
      MAIL_FROM: "hindcast@example.com",
      MAIL_VERIFICATION: "on",
    });
    const { token } = await invite();
    const answers = [];
    for (
      const email of [String((await user.get("/api/session")).at("/user/email")), "new@example.com", "late@example.com"]
    ) {
      const body = { name: "x", email, password: PASSWORD, invitation: token };
      answers.push((await verifying.client().send("POST", "/api/auth/sign-up/email", body)).status);
    }
    expect(answers).toEqual([200, 200, 403]);
    await verifying.close();
  });
  await t.step("the operator makes one from a terminal", async () => {
    const environment = {
      DATABASE_URL: service.databaseUrl,
      BETTER_AUTH_SECRET: "a secret of at least 32 characters",
      BASE_URL: service.url,
      SIGN_UP: "invite",
    };
    const made = await runTaskCommand("admin", ["invite", "eve@example.com"], environment);
    const [address, token] = made.stdout.trim().split("#");
    expect([made.code, made.stderr, address]).toEqual([0, "", `${service.url}/sign-up`]);
    expect([await signUp("d@example.com", token), await signUp("eve@example.com", token)]).toEqual([403, 200]);
    const closed = await runTaskCommand("admin", ["invite"], { ...environment, SIGN_UP: "closed" });
    expect([closed.code, closed.stderr]).toEqual([1, expect.stringContaining("Cannot invite: SIGN_UP is closed")]);
  });
  await handle.close();
  await service.close();
  await mail.close();
});
