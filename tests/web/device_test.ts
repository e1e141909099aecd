/** A person signs the command in, on a page of a real browser. */
import { expect } from "@std/expect";
import { openPostgres } from "../../db/client.ts";
import { deviceCode } from "../../db/schema.ts";
import { connectBrowser, findViolations, openPage } from "../support/browser.ts";
import { runTaskCommand } from "../support/process.ts";
import { startTestService } from "../support/service.ts";
import type { TestClient } from "../support/client.ts";
import { until } from "../support/until.ts";

const HINDCAST = "hindcast on";

/** Begins to sign a program in. @returns The address with its code. */
async function begin(program: TestClient): Promise<string> {
  const begun = await program.send("POST", "/api/auth/device/code", { client_id: "nightly runs", scope: "read" });
  return String(begun.at("/verification_uri_complete"));
}

Deno.test("a person signs the command in with a browser, and refuses another program", async (t) => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const browser = await connectBrowser();
  const handle = await openPostgres(service.databaseUrl, 1);
  const { page, complaints } = await openPage(browser);
  const config = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const env = { XDG_CONFIG_HOME: config };
  const email = `${crypto.randomUUID()}@example.com`;

  await t.step("hindcast login names the page, and goes on when the code is confirmed there", async () => {
    const login = runTaskCommand("hindcast", ["login", service.url], env);
    // What the command says is read at its end.
    const code = await until(async () => (await handle.db.select().from(deviceCode))[0]?.userCode);
    await page.goto(`${service.url}/device`);
    await page.getByRole("link", { name: "Make an account" }).click();
    await page.getByLabel("E-mail").fill(email);
    await page.getByLabel("Password").fill("correct horse battery");
    await page.keyboard.press("Enter");
    await page.getByLabel("Code").waitFor();
    await page.getByRole("button", { name: "Go on" }).click();
    await page.getByText("Enter the code").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByLabel("Code").fill(code.toLowerCase());
    await page.keyboard.press("Enter");
    await page.getByText(HINDCAST).waitFor();
    await page.getByText(code, { exact: true }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Sign it in" }).click();
    await page.getByText("It is signed in").waitFor();
    const { code: exit, stdout, stderr } = await login;
    expect([exit, stderr]).toEqual([
      0,
      `Open ${service.url}/device?user_code=${code} in a browser, and confirm the code ${code}.\n`,
    ]);
    expect(stdout).toMatch(`Signed in to ${service.url} as ${email}.`);
    const { stdout: who } = await runTaskCommand("hindcast", ["whoami"], env);
    expect(who).toMatch(/, scope run, until /);
  });

  await t.step("what is refused gets nothing, and an unknown code is said to be one", async () => {
    await page.goto(await begin(service.client()));
    await page.getByText("nightly runs").waitFor();
    await page.getByRole("button", { name: "Refuse" }).click();
    await page.getByText("It was refused").waitFor();
    await page.reload();
    await page.getByText("answered already").waitFor();
    await page.goto(`${service.url}/device?user_code=22222222`);
    await page.getByText("Invalid user code").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Enter another code" }).click();
    await page.getByLabel("Code").waitFor();
  });

  await page.context().close();
  await browser.close();
  await handle.close();
  await service.close();
  await Deno.remove(config, { recursive: true });
  expect(complaints.filter((line) => !/the server responded with a status of 4/.test(line))).toEqual([]);
});
