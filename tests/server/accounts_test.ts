import { expect } from "@std/expect";
import { grantAdmin } from "../../db/users.ts";
import { openPostgres } from "../../db/client.ts";
import { DATABASES } from "../support/database.ts";
import { startTestService } from "../support/service.ts";

for (const kind of DATABASES) {
  Deno.test(`users sign up, in and out by e-mail and password (${kind})`, async (t) => {
    const service = await startTestService(kind);
    const client = service.client();
    const email = "Trader@Example.com";
    const password = "correct horse battery";

    await t.step("the session says who it is", async () => {
      await client.signUp(email, password);
      const answer = await client.get("/api/session");
      expect(answer.at("/user")).toEqual({
        id: expect.any(String),
        email: email.toLowerCase(),
        role: "user",
        name: "Test",
      });
      expect(Date.parse(String(answer.at("/session/expires_at")))).toBeGreaterThan(Date.now());
    });

    await t.step("cookies are hidden from scripts and not sent across sites", async () => {
      const answer = await service.client().send("POST", "/api/auth/sign-in/email", { email, password });
      const cookie = answer.headers.getSetCookie()[0];
      expect(cookie).toMatch(/^better-auth\.session_token=.*HttpOnly/);
      expect(cookie).toMatch(/SameSite=Lax/);
    });

    await t.step("signing out ends the session, also for a copy of the cookie", async () => {
      const copy = service.client();
      copy.cookie = client.cookie;
      expect((await client.send("POST", "/api/auth/sign-out", {})).status).toBe(200);
      expect((await copy.get("/api/session")).status).toBe(401);
    });

    await t.step("a wrong password and an unknown e-mail sound the same", async () => {
      const wrong = await client.send("POST", "/api/auth/sign-in/email", { email, password: "wrong horse battery" });
      const unknown = await client.send("POST", "/api/auth/sign-in/email", { email: "nobody@example.com", password });
      expect([wrong.status, unknown.status]).toEqual([401, 401]);
      expect(wrong.text).toBe(unknown.text);
    });

    await t.step("nobody signs up as admin", async () => {
      const body = { name: "Eve", email: "eve@example.com", password, role: "admin" };
      const answer = await client.send("POST", "/api/auth/sign-up/email", body);
      if (answer.status === 200) {
        const eve = service.client();
        eve.cookie = answer.headers.getSetCookie().map((line) => line.split(";")[0]).join("; ");
        expect((await eve.get("/api/session")).at("/user/role")).toBe("user");
        expect((await eve.get("/api/admin/ingestion/events")).status).toBe(403);
      } else {
        expect(answer.status).toBe(400);
      }
    });
    await service.close();
  });
}

Deno.test("an admin's session opens the admin paths, from the request after the grant", async () => {
  const service = await startTestService();
  const user = service.client();
  const email = await user.signUp();
  expect((await user.get("/api/admin/ingestion/events")).status).toBe(403);
  const handle = await openPostgres(service.databaseUrl, 1);
  expect(await grantAdmin(handle.db, "nobody@example.com")).toBe(false);
  expect(await grantAdmin(handle.db, email.toUpperCase())).toBe(true);
  await handle.close();
  expect((await user.get("/api/session")).at("/user/role")).toBe("admin");
  expect((await user.get("/api/admin/ingestion/events")).status).toBe(200);
  expect((await user.get("/api/admin/nothing")).status).toBe(404);
  await service.close();
});

Deno.test("over https, cookies are Secure", async () => {
  const service = await startTestService("PostgreSQL", { BASE_URL: "https://hindcast.example.com" });
  const body = { name: "Test", email: "a@example.com", password: "correct horse battery" };
  const answer = await service.client().send("POST", "/api/auth/sign-up/email", body);
  expect(answer.headers.getSetCookie()[0]).toMatch(/^__Secure-better-auth\.session_token=.*; Secure/);
  await service.close();
});
