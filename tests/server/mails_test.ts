/** Mails about accounts, through a mail server on a socket. */
import { expect } from "@std/expect";
import { readConfig } from "../../server/config.ts";
import type { Answer } from "../support/client.ts";
import { MailServer } from "../support/mail_server.ts";
import { startProcess } from "../support/process.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const PASSWORD = "correct horse battery";
const OTHER = "another horse battery";
const FROM = "Hindcast <hindcast@example.com>";
const cookieOf = (answer: Answer) => answer.headers.getSetCookie().map((line) => line.split(";")[0]).join("; ");

Deno.test("a forgotten password is set anew by a mailed link, once, and everybody who was signed in is signed out", async (t) => {
  const mail = await MailServer.start();
  const service = await startTestService("PGlite", { SMTP_URL: mail.url, MAIL_FROM: FROM, WORKERS: "0" });
  const [user, stranger] = [service.client(), service.client()];
  const email = await user.signUp(undefined, PASSWORD);
  const made = await user.send("POST", "/api/tokens", { token: { name: "nightly", scope: "read" } });
  const token = { authorization: `Bearer ${made.at("/secret")}` };
  const ask = (address: string) => stranger.send("POST", "/api/auth/request-password-reset", { email: address });
  const set = (text: string, newPassword: string) =>
    stranger.send("POST", "/api/auth/reset-password", { token: text, newPassword });

  await t.step("the answer does not tell who has an account", async () => {
    const [known, unknown] = [await ask(email), await ask("nobody@example.com")];
    expect([known.status, known.text]).toEqual([unknown.status, unknown.text]);
    expect(known.status).toBe(200);
  });
  // The first mail verifies the address.
  const link = new URL(await mail.linkTo(email, 2));
  const secret = link.hash.slice(1);
  await t.step("the link is the service's own, and its secret is no part of a request", () => {
    expect([link.origin, link.pathname, link.search]).toEqual([service.url, "/reset-password", ""]);
    expect(mail.mails.map(({ to }) => to)).not.toContain("nobody@example.com");
    expect(mail.mails[1]!.text).toContain(`From: ${FROM}`);
  });
  await t.step("weak passwords and other secrets are refused", async () => {
    const weak = await set(secret, "password");
    expect([weak.status, weak.at("/error/issues/0/path")]).toEqual([400, "/newPassword"]);
    const wrong = await set(`${secret}x`, OTHER);
    expect([wrong.status, wrong.at("/error/code"), wrong.at("/error/message")])
      .toEqual([400, "INVALID_TOKEN", expect.stringContaining("ask for another one")]);
    expect((await user.get("/api/session")).status).toBe(200);
  });
  await t.step("the password is set, sessions end and tokens are revoked", async () => {
    expect((await set(secret, OTHER)).status).toBe(200);
    expect((await user.get("/api/session")).status).toBe(401);
    expect((await stranger.get("/api/session", token)).status).toBe(401);
    const signIn = async (password: string) =>
      (await stranger.send("POST", "/api/auth/sign-in/email", { email, password })).status;
    expect([await signIn(PASSWORD), await signIn(OTHER)]).toEqual([401, 200]);
    expect((await set(secret, PASSWORD)).status).toBe(400);
  });
  await t.step("a mailbox is not filled", async () => {
    for (let i = 0; i < 8; i++) expect((await ask(email)).status).toBe(200);
    await service.close();
    expect(mail.mails.filter(({ to }) => to === email)).toHaveLength(5);
  });
  await mail.close();
});

Deno.test("with MAIL_VERIFICATION=on an account signs in once its address is verified", async () => {
  const mail = await MailServer.start();
  const environment = { SMTP_URL: mail.url, MAIL_FROM: FROM, MAIL_VERIFICATION: "on", WORKERS: "0" };
  const service = await startTestService("PGlite", environment);
  const user = service.client();
  const account = { name: "Ada", email: "ada@example.com", password: PASSWORD };
  const made = await user.send("POST", "/api/auth/sign-up/email", account);
  expect([made.status, made.at("/token"), made.headers.getSetCookie()]).toEqual([200, null, []]);
  const early = await user.send("POST", "/api/auth/sign-in/email", account);
  expect([early.status, early.at("/error/message")]).toEqual([403, expect.stringContaining("not verified yet")]);
  const link = await mail.linkTo(account.email);
  const forged = await user.get(link.replace(service.url, "").replace(/token=.{9}/, "token=forged123"));
  expect(forged.headers.getSetCookie()).toEqual([]);
  const verified = await user.get(link.replace(service.url, ""));
  expect([verified.status, verified.headers.get("location")]).toEqual([302, "/runs"]);
  user.cookie = cookieOf(verified);
  expect((await user.get("/api/session")).at("/user/email")).toBe(account.email);
  await service.close();
  await mail.close();
});

Deno.test("a mail server that is away fails no request, and settings that lack another are refused", async () => {
  const mail = await MailServer.start();
  await mail.close();
  const DATA_DIR = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const service = await startProcess("serve", { DATA_DIR, SMTP_URL: mail.url, MAIL_FROM: FROM, WORKERS: "0" });
  const user = service.client();
  const email = await user.signUp();
  expect((await user.send("POST", "/api/auth/request-password-reset", { email })).status).toBe(200);
  const { stderr } = await service.end("SIGTERM");
  expect(stderr).toMatch(/"Cannot send a mail: [^{]*Error ESOCKET ECONNREFUSED/);
  expect(stderr).not.toContain(email);
  await Deno.remove(DATA_DIR, { recursive: true });

  // It accepts, says nothing, and holds up no end of the service.
  const silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const held: Deno.Conn[] = [];
  const accepting = (async () => {
    for await (const connection of silent) held.push(connection);
  })();
  const SMTP_URL = `smtp://127.0.0.1:${silent.addr.port}`;
  const patient = await startTestService("PGlite", { SMTP_URL, MAIL_FROM: FROM, LOG_LEVEL: "error", WORKERS: "0" });
  await patient.client().signUp();
  await until(() => held.length > 0);
  const begun = performance.now();
  await patient.close();
  expect(performance.now() - begun).toBeLessThan(25_000);
  silent.close();
  await accepting;
  for (const connection of held) connection.close();

  const without = await startTestService("PGlite", { WORKERS: "0" });
  const refused = await without.client().send("POST", "/api/auth/request-password-reset", { email });
  expect([refused.status, refused.at("/error/message")]).toEqual([400, expect.stringContaining("ask an admin")]);
  await without.close();

  expect(() => readConfig({ SMTP_URL: mail.url })).toThrow("MAIL_FROM must be set with SMTP_URL");
  expect(() => readConfig({ MAIL_VERIFICATION: "on" })).toThrow("SMTP_URL must be set for MAIL_VERIFICATION=on");
  expect(() => readConfig({ SMTP_URL: "http://secret@host", MAIL_FROM: FROM })).toThrow(
    /SMTP_URL must be of the form (?!.*secret)/,
  );
});
