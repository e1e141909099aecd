import { expect } from "@std/expect";
import { grantAdmin } from "../../db/users.ts";
import { openPostgres } from "../../db/client.ts";
import type { Answer, TestClient } from "../support/client.ts";
import { startTestService } from "../support/service.ts";

const PASSWORD = "correct horse battery";

const issuesOf = (answer: Answer) => [answer.status, answer.at("/error/code"), answer.at("/error/issues")];
const signIn = async (client: TestClient, email: string, password = PASSWORD) => {
  const answer = await client.send("POST", "/api/auth/sign-in/email", { email, password });
  client.cookie = cookieOf(answer);
  return answer.status;
};
const cookieOf = (answer: Answer) => answer.headers.getSetCookie().map((line) => line.split(";")[0]).join("; ");

Deno.test("a blank password, the e-mail address and common passwords are refused wherever a password is chosen", async () => {
  const service = await startTestService();
  const weak = (field: string, message: string) => [400, "VALIDATION_FAILED", [{ path: `/${field}`, message }]];
  for (
    const [password, message] of [
      ["          ", "must not be blank"],
      ["Eve@example.COM", "must not be the e-mail address"],
      ["password", "must not be one of the commonest passwords"],
      ["QwertyUiop", "must not be one of the commonest passwords"],
    ] as const
  ) {
    const body = { name: "Eve", email: "eve@example.com", password };
    const answer = await service.client().send("POST", "/api/auth/sign-up/email", body);
    expect([password, ...issuesOf(answer)]).toEqual([password, ...weak("password", message)]);
  }
  const user = service.client();
  await user.signUp("ann@example.com", PASSWORD);
  for (
    const [newPassword, message] of [
      ["ann@example.com", "must not be the e-mail address"],
      ["iloveyou", "must not be one of the commonest passwords"],
    ] as const
  ) {
    const answer = await user.send("POST", "/api/auth/change-password", { currentPassword: PASSWORD, newPassword });
    expect(issuesOf(answer)).toEqual(weak("newPassword", message));
  }
  await service.close();
});

Deno.test("a changed password ends the other sessions, whoever changes it and whatever the client wishes", async () => {
  const service = await startTestService();
  const [here, there] = [service.client(), service.client()];
  const email = await here.signUp(undefined, PASSWORD);
  expect(await signIn(there, email)).toBe(200);
  const change = { currentPassword: PASSWORD, newPassword: "another horse battery", revokeOtherSessions: false };
  const changed = await here.send("POST", "/api/auth/change-password", change);
  expect(changed.status).toBe(200);
  here.cookie = cookieOf(changed);
  expect((await here.get("/api/session")).status).toBe(200);
  expect((await there.get("/api/session")).status).toBe(401);

  const admin = service.client();
  const handle = await openPostgres(service.databaseUrl, 1);
  await grantAdmin(handle.db, await admin.signUp());
  await handle.close();
  const userId = (await here.get("/api/session")).at("/user/id");
  const set = { userId, newPassword: "a third horse battery" };
  expect((await admin.send("POST", "/api/auth/admin/set-user-password", set)).status).toBe(200);
  expect((await here.get("/api/session")).status).toBe(401);
  expect((await admin.get("/api/session")).status).toBe(200);

  for (const role of ["owner", "constructor", "user,owner", ["admin", "owner"]]) {
    const answer = await admin.send("POST", "/api/auth/admin/set-role", { userId, role });
    expect([role, answer.status]).toEqual([role, 400]);
  }
  expect((await admin.send("POST", "/api/auth/admin/set-role", { userId, role: "admin" })).status).toBe(200);
  await service.close();
});

Deno.test("a session guesses its own account's password no more often than a stranger", async () => {
  const service = await startTestService("PostgreSQL", { ACCOUNT_FAILURES_PER_MINUTE: "3" });
  const [user, other] = [await service.user(), await service.user()];
  const verify = async (client: TestClient, password: string) =>
    (await client.send("POST", "/api/auth/verify-password", { password })).status;
  const change = async (currentPassword: string) =>
    (await user.send("POST", "/api/auth/change-password", { currentPassword, newPassword: "a new horse battery" }))
      .status;
  expect(await verify(user, PASSWORD)).toBe(200);
  expect([await verify(user, "wrong 1"), await change("wrong 2"), await verify(user, "wrong 3")]).toEqual([
    400,
    400,
    400,
  ]);
  expect([await verify(user, PASSWORD), await change(PASSWORD)]).toEqual([429, 429]);
  expect(await verify(other, PASSWORD)).toBe(200);
  await service.close();
});

Deno.test("250 wrong sign-ins at once leave health answering; those that need not wait get a 503 with Retry-After", async () => {
  const service = await startTestService("PGlite");
  const client = service.client();
  const attempt = (i: number) =>
    client.send("POST", "/api/auth/sign-in/email", { email: `nobody${i}@example.com`, password: "wrong password" });
  const attempts = Promise.all(Array.from({ length: 250 }, (_, i) => attempt(i)));
  let isOver = false;
  void attempts.then(() => isOver = true);
  let healthy = 0;
  while (!isOver) {
    expect((await client.get("/api/health")).status).toBe(200);
    healthy++;
  }
  const answers = await attempts;
  const refused = answers.filter(({ status }) => status === 503);
  // Two run, thirty-two wait.
  expect(refused.length).toBeGreaterThan(100);
  expect(answers.filter(({ status }) => status === 401).length).toBe(250 - refused.length);
  for (const answer of refused) {
    expect([answer.at("/error/code"), answer.headers.get("retry-after")]).toEqual(["UNAVAILABLE", "2"]);
  }
  // With all hashes at once, health is silent until nearly all are done.
  expect(healthy).toBeGreaterThan(10);
  await service.close();
});
