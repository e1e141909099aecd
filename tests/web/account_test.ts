/** A visitor's way to a result, in a real browser against the real service. */
import { expect } from "@std/expect";
import { connectBrowser, findViolations, openPage, shareSession } from "../support/browser.ts";
import { freePort } from "../support/free_port.ts";
import { IdentityProvider } from "../support/identity_provider.ts";
import { MailServer } from "../support/mail_server.ts";
import { startTestService } from "../support/service.ts";
import { makeRun } from "./sample_runs.ts";

Deno.test("a visitor signs up on the way to a run, reads it, and signs out", async (t) => {
  const service = await startTestService();
  const browser = await connectBrowser();
  const { page, complaints } = await openPage(browser);
  const email = `${crypto.randomUUID()}@example.com`;
  const fill = async (address: string, password: string) => {
    await page.getByLabel("E-mail").fill(address);
    await page.getByLabel("Password").fill(password);
    await page.keyboard.press("Enter");
  };

  const [trader, stranger] = [await service.user(), service.client()];
  const strangerEmail = await stranger.signUp();

  await t.step("a visitor without a session is asked to sign in, and every fault stands beside its field", async () => {
    await page.goto(`${service.url}/runs?tag=a-link`);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("link", { name: "Make an account" }).click();
    await fill("nobody", "short");
    await page.getByText("Enter an address like name@example.com").waitFor();
    await page.getByText("Use at least 8 characters").waitFor();
    await fill(email, "password");
    await page.getByText("must not be one of the commonest passwords").waitFor();
    expect(await page.getByLabel("Password").getAttribute("aria-invalid")).toBe("true");
  });

  await t.step("an account leads on to where the visitor was going", async () => {
    await fill(email, "correct horse battery");
    await page.waitForURL(`${service.url}/runs?tag=a-link`);
    await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
  });

  await t.step("a result is shown, and its charts are drawn", async () => {
    await shareSession(page.context(), trader);
    await page.goto(`${service.url}/runs/${await makeRun(trader, "good")}`);
    await page.getByRole("heading", { name: "Donchian Breakout" }).waitFor();
    await page.getByText("Net return").first().waitFor();
    await page.locator("canvas").first().waitFor();
    expect(await findViolations(page)).toEqual([]);
  });

  await t.step("runs are compared side by side, and not with those of another user", async () => {
    const [first, second] = [await makeRun(trader, "good"), await makeRun(trader, "no-trades")];
    await page.goto(`${service.url}/compare`);
    await page.getByRole("checkbox").first().waitFor();
    for (const box of await page.getByRole("checkbox").all()) await box.check();
    await page.getByRole("button", { name: /^Compare \d runs/ }).click();
    await page.getByRole("region", { name: "Metrics", exact: true }).getByRole("img", { name: "best" }).first()
      .waitFor();
    await page.getByRole("region", { name: "Differences" }).getByText("timeframe").waitFor();
    // A run's card has its own settings alone.
    expect(await page.getByRole("listitem").filter({ hasText: "fast 400" }).textContent()).not.toContain("–");
    expect(await findViolations(page)).toEqual([]);
    await shareSession(page.context(), stranger);
    await page.goto(`${service.url}/compare?ids=${first},${second}`);
    await page.getByRole("alert").getByText(/Cannot find/).waitFor();
  });

  await t.step("a token is made, shown once, used and revoked", async () => {
    await page.goto(`${service.url}/account`);
    const table = page.getByRole("region", { name: "Tokens" });
    await table.getByText("You have no tokens.").waitFor();
    await page.getByRole("button", { name: "Make a token" }).click();
    await page.getByText("Enter a name").waitFor();
    expect(await page.getByLabel("Scope").getByRole("option").count()).toBe(3);
    await page.getByLabel("Name of the new token").fill("nightly runs");
    await page.getByLabel("Scope").selectOption("read");
    await page.getByLabel("Expires after").selectOption("30");
    await page.keyboard.press("Enter");
    const shown = page.getByText(/^hc_/);
    await shown.waitFor();
    const secret = String(await shown.textContent());
    expect(await findViolations(page)).toEqual([]);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy" }).click();
    await page.getByRole("button", { name: "✓ Copied" }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(secret);
    await table.getByText("never").waitFor();
    const use = () => service.client().get("/api/session", { authorization: `Bearer ${secret}` });
    expect((await use()).at("/session/scope")).toBe("read");
    await page.reload();
    await table.getByText("nightly runs").waitFor();
    expect([await table.getByText("never").count(), await shown.count()]).toEqual([0, 0]);
    await table.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("button", { name: "Revoke it" }).click();
    await table.getByText("You have no tokens.").waitFor();
    expect((await use()).status).toBe(401);
  });

  await t.step("the reference of the API finds an operation, and sends it with the session", async () => {
    const reader = await openPage(browser, { colorScheme: "dark", viewport: { width: 390, height: 844 } });
    await shareSession(reader.page.context(), trader);
    await reader.page.goto(`${service.url}/docs`);
    const operations = reader.page.locator(".opblock");
    await operations.nth(30).waitFor();
    expect(await reader.page.getByRole("main").count()).toBe(1);
    await reader.page.getByPlaceholder("Filter by tag or path").fill("/api/session");
    await operations.nth(1).waitFor({ state: "detached" });
    await operations.getByRole("button", { name: "The caller's user and session" }).click();
    await operations.getByRole("button", { name: "Execute" }).click();
    await operations.locator(".live-responses-table").getByText('"role"').waitFor();
    expect(await reader.page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    const dark = reader.page.locator("html.dark-mode");
    await dark.waitFor();
    await reader.page.emulateMedia({ colorScheme: "light" });
    await dark.waitFor({ state: "detached" });
    await reader.page.context().close();
    expect(reader.complaints).toEqual([]);
  });

  await t.step("a changed password ends the other sessions and keeps this one", async () => {
    const elsewhere = service.client();
    const credentials = { email: strangerEmail, password: "correct horse battery" };
    const answer = await elsewhere.send("POST", "/api/auth/sign-in/email", credentials);
    elsewhere.cookie = answer.headers.getSetCookie().map((line) => line.split(";")[0]).join("; ");
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${service.url}/account`);
    await page.getByRole("button", { name: "End", exact: true }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    const change = async (current: string, repeated: string) => {
      await page.getByLabel("Current password").fill(current);
      await page.getByLabel("New password", { exact: true }).fill("another horse battery");
      await page.getByLabel("New password again").fill(repeated);
      await page.getByRole("button", { name: "Change password" }).click();
    };
    await change("not my password", "another horse");
    await page.getByText("The two new passwords differ").waitFor();
    await change("not my password", "another horse battery");
    await page.getByText("This is not your password").waitFor();
    // The list may be slow to learn what has ended, and the browser's own session is never one to end.
    const ended = Promise.withResolvers<void>();
    await page.route("**/api/auth/list-sessions", async (route) => {
      await ended.promise;
      await route.continue();
    });
    const known = page.waitForResponse(/session\.get/);
    await change(credentials.password, "another horse battery");
    await page.getByText(/All other sessions have ended/).waitFor();
    expect((await elsewhere.get("/api/session")).status).toBe(401);
    await (await known).finished();
    await page.getByText("this one").waitFor();
    expect(await page.getByRole("button", { name: "End", exact: true }).count()).toBe(1);
    ended.resolve();
    await page.getByRole("button", { name: "End", exact: true }).waitFor({ state: "detached" });
    await page.getByText("this one").waitFor();
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  await t.step("signing out leads back to the start", async () => {
    await page.getByRole("button", { name: /Account of/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).waitFor();
    // The library's guards of the focus are hidden and take it, to pass it on: no property of the menu changes that.
    const isOfGuards = (violation: string) => /^aria-hidden-focus: .*focus-guard/.test(violation);
    expect((await findViolations(page)).filter((violation) => !isOfGuards(violation))).toEqual([]);
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await fill(email, "not my password");
    await page.getByRole("alert").getByText(/Invalid/).waitFor();
  });

  await t.step(
    "the address leads to sign in, and a new visitor in one click to the button of a first run",
    async () => {
      await page.goto(service.url);
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      await page.evaluate("localStorage.clear()");
      await page.goto(service.url);
      await page.getByRole("heading", { name: "Make an account" }).waitFor();
      await page.getByLabel("E-mail").fill(`${crypto.randomUUID()}@example.com`);
      await page.getByLabel("Password").fill("correct horse battery");
      await page.getByRole("button", { name: "Make an account" }).click();
      // tests/web/runs_test.ts has the second click.
      await page.getByRole("button", { name: "Run a first backtest" }).waitFor();
    },
  );

  await t.step("an account is deleted with its password, and the browser is back at the sign-in", async () => {
    await page.goto(`${service.url}/account`);
    const remove = async (password: string) => {
      await page.getByLabel("Password of this account").fill(password);
      await page.getByRole("button", { name: "Delete account" }).click();
    };
    await remove("not my password");
    await page.getByText("This is not your password").waitFor();
    await remove("correct horse battery");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    const kept = (await page.context().cookies(service.url)).map(({ name }) => name);
    expect(kept.filter((name) => name.includes("session"))).toEqual([]);
  });

  await page.context().close();
  await browser.close();
  await service.close();
  // The browser itself reports each refusal that the steps above provoke.
  expect(complaints.filter((line) => !/the server responded with a status of 4/.test(line))).toEqual([]);
});

Deno.test(
  "where sign-up is closed, the console has no form for it and says what to do, and a provider of identities signs in",
  async () => {
    const provider = new IdentityProvider(freePort());
    const settings = { ...provider.settings, SIGN_UP: "closed", WORKERS: "0" };
    const service = await startTestService("PostgreSQL", settings);
    await provider.start(service.url);
    const browser = await connectBrowser();
    const { page, complaints } = await openPage(browser);
    await page.goto(service.url);
    await page.waitForURL(`${service.url}/sign-in`);
    await page.goto(`${service.url}/sign-up?to=/runs`);
    await page.waitForURL(`${service.url}/sign-in?to=%2Fruns`);
    await page.getByText("Ask an admin for an account").waitFor();
    expect(await page.getByRole("link", { name: "Make an account" }).count()).toBe(0);
    expect(await findViolations(page)).toEqual([]);
    // The provider's own page has a font from elsewhere.
    await page.route("https://fonts.googleapis.com/**", (route) => route.fulfill({ body: "" }));
    await page.goto(`${service.url}/sign-in?error=account_not_linked`);
    await page.getByRole("alert").getByText("sign in with its password").waitFor();
    await page.getByRole("button", { name: `Sign in with 127.0.0.1:${provider.port}` }).click();
    await page.getByPlaceholder("Enter any login").fill("ann");
    await page.getByPlaceholder("and password").fill("any");
    await page.getByRole("button", { name: "Sign-in" }).click();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.waitForURL(`${service.url}/runs`);
    await page.goto(`${service.url}/account`);
    await page.getByLabel("E-mail of this account").fill("ann@example.com");
    expect(await page.getByLabel("Current password").count()).toBe(0);
    await page.getByRole("button", { name: "Delete account" }).click();
    await page.waitForURL(`${service.url}/sign-in`);
    await page.context().close();
    await browser.close();
    await service.close();
    await provider.close(); // A call on its way may find the account gone.
    expect(complaints.filter((line) => !/status of 401 .*session\.get/.test(line))).toEqual([]);
  },
);

Deno.test("a person verifies a mailed address, forgets the password, and sets a new one", async (t) => {
  const mail = await MailServer.start();
  const environment = { SMTP_URL: mail.url, MAIL_FROM: "hindcast@example.com", MAIL_VERIFICATION: "on", WORKERS: "0" };
  const service = await startTestService("PGlite", environment);
  const { page, complaints } = await openPage(await connectBrowser());
  const email = "ada@example.com";

  await t.step("an account is signed in by the link in its mail", async () => {
    await page.goto(`${service.url}/sign-up`);
    await page.getByLabel("E-mail").fill(email);
    await page.getByLabel("Password").fill("correct horse battery");
    await page.keyboard.press("Enter");
    await page.getByText(`on its way to ${email}`).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.goto(await mail.linkTo(email));
    await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
    await page.goto("about:blank").then(() => page.context().clearCookies());
  });

  await t.step("the page that asks for a link says the same of every address", async () => {
    await page.goto(`${service.url}/sign-in`);
    await page.getByRole("link", { name: "Forgot your password?" }).click();
    await page.getByRole("heading", { name: "Forgot your password?" }).waitFor();
    await page.getByLabel("E-mail").fill("nobody");
    await page.keyboard.press("Enter");
    await page.getByText("Enter an address like name@example.com").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByLabel("E-mail").fill(email);
    await page.keyboard.press("Enter");
    await page.getByText(`If ${email} has an account`).waitFor();
  });

  await t.step("the link sets a password, with which the account signs in", async () => {
    await page.goto(await mail.linkTo(email, 2));
    await page.getByLabel("New password").fill("password");
    await page.keyboard.press("Enter");
    await page.getByText("must not be one of the commonest passwords").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByLabel("New password").fill("another horse battery");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Your password is set" }).waitFor();
    await page.getByRole("link", { name: "Back to sign in" }).click();
    await page.getByLabel("E-mail").fill(email);
    await page.getByLabel("Password").fill("another horse battery");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
  });
  // The refused password.
  expect(complaints.filter((complaint) => !/status of 400/.test(complaint))).toEqual([]);
  await page.context().close();
  await service.close();
  await mail.close();
});
