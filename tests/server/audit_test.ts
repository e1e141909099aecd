import { expect } from "@std/expect";
import { createTestDatabase } from "../support/database.ts";
import { startProcess } from "../support/process.ts";

Deno.test("the audit log names who signed in, who changed what and whether it was refused, and never what was typed", async () => {
  const { url, drop } = await createTestDatabase("service");
  const secret = "a secret for ingestion tests";
  const service = await startProcess("serve", {
    DATABASE_URL: url,
    BETTER_AUTH_SECRET: "a secret of at least 32 characters",
    INGESTION_ADMIN_SECRET: secret,
    WORKERS: "0",
    LOG_LEVEL: "info",
  });
  const user = service.client();
  const email = await user.signUp("typed@example.com", "typed horse battery");
  const userId = (await user.get("/api/session")).at("/user/id");
  const stranger = service.client();
  const signIn = (email: string, password: string) =>
    stranger.send("POST", "/api/auth/sign-in/email", { email, password });
  await signIn(email, "typed wrong password");
  await signIn("typed-password-in-the-wrong-field@example.com", "typed wrong password");
  await user.send("POST", "/api/auth/admin/set-role", { userId, role: "admin" });
  const key = { "x-ingestion-admin-secret": secret };
  await stranger.send("POST", "/api/admin/ingestion/run-once", undefined, key);
  await stranger.send("POST", "/api/admin/ingestion/instruments", { instrument: { symbol: "typed" } }, key);
  expect((await stranger.get("/api/auth/callback/google?state=x")).status).toBe(404);
  expect((await stranger.get("/api/auth/callback/google?code[]=typed")).status).toBe(404);
  await user.send("POST", "/api/auth/sign-out");
  const { stderr } = await service.end("SIGTERM");
  const lines: Record<string, unknown>[] = stderr.trim().split("\n").map((line) => JSON.parse(line));
  const audit = lines.filter(({ logger }) => logger === "hindcast.audit");
  expect(audit.map(({ act, outcome, user_id, with_secret }) => [act, outcome, user_id, with_secret])).toEqual([
    ["sign-up/email", "done", userId, undefined],
    ["sign-in/email", "refused", userId, undefined],
    ["sign-in/email", "refused", undefined, undefined],
    ["admin/set-role", "refused", userId, undefined],
    ["ingestion.runOnce", "done", undefined, true],
    ["ingestion.addInstrument", "refused", undefined, true],
    ["sign-out", "done", userId, undefined],
  ]);
  for (const { address, request_id } of audit) expect([address, typeof request_id]).toEqual(["127.0.0.1", "string"]);
  expect(lines.filter(({ level }) => level === "ERROR")).toEqual([]);
  expect(stderr).not.toMatch(/typed/);
  await drop();
});
