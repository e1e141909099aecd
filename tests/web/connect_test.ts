/** A person lets an agent in, on a page of a real browser; the agent is the official client and knows only the address. */
import { expect } from "@std/expect";
import { AgentProgram } from "../support/agent_program.ts";
import { connectBrowser, findViolations, openPage } from "../support/browser.ts";
import { startTestService } from "../support/service.ts";

/** A program's own page on the person's computer, to which the browser comes back. */
function waitForAnswer() {
  const answers: string[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, ({ url }) => {
    if (new URL(url).pathname === "/callback") answers.push(url);
    return new Response("The program goes on.");
  });
  return { address: `http://127.0.0.1:${server.addr.port}/callback`, answers, close: () => server.shutdown() };
}

Deno.test("a person lets an agent in with a browser, gives it less, and refuses it", async (t) => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const browser = await connectBrowser();
  const own = waitForAnswer();
  const { page, complaints } = await openPage(browser);
  const program = (name = "Deep <b>Agent</b>") => new AgentProgram(`${service.url}/mcp`, own.address, name);

  await t.step("somebody without a session signs up first, and comes back to the question", async () => {
    const agent = program();
    await page.goto((await agent.askPerson()).href);
    await page.getByRole("link", { name: "Make an account" }).click();
    await page.getByLabel("E-mail").fill(`${crypto.randomUUID()}@example.com`);
    await page.getByLabel("Password").fill("correct horse battery");
    await page.keyboard.press("Enter");
    await page.getByText("Deep <b>Agent</b>").waitFor();
    await page.getByText("this computer").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Let it in" }).click();
    await page.getByText("The program goes on.").waitFor();
    const client = await agent.goOn(String(own.answers.pop()));
    const { content } = await client.callTool({ name: "cancel", arguments: { kind: "backtest", id: "none" } });
    expect(JSON.stringify(content)).toContain("BACKTEST_NOT_FOUND");
    await client.close();
  });
  await t.step("it gets the scope that the person chose", async () => {
    const agent = program();
    await page.goto((await agent.askPerson()).href);
    await page.getByLabel("Look at your runs").check();
    await page.getByRole("button", { name: "Let it in" }).click();
    await page.getByText("The program goes on.").waitFor();
    const client = await agent.goOn(String(own.answers.pop()));
    const { content } = await client.callTool({ name: "cancel", arguments: { kind: "backtest", id: "none" } });
    expect(JSON.stringify(content)).toContain("it needs the scope run");
    await client.close();
    await page.goto(`${service.url}/account`);
    await page.getByRole("region", { name: "Tokens" }).getByText("Deep <b>Agent</b>").first().waitFor();
  });
  await t.step("what is refused gets nothing, and a crafted address goes nowhere", async () => {
    const agent = program();
    const asked = await agent.askPerson();
    await page.goto(asked.href);
    await page.getByRole("button", { name: "Refuse" }).click();
    await page.getByText("The program goes on.").waitFor();
    const answer = new URL(String(own.answers.pop()));
    expect([answer.searchParams.get("error"), answer.searchParams.get("code")]).toEqual(["access_denied", null]);
    asked.searchParams.set("redirect_uri", "https://evil.example.com/");
    await page.goto(asked.href);
    await page.getByText("which the program did not register").waitFor();
    expect(await page.getByRole("button", { name: "Let it in" }).count()).toBe(0);
    expect(await findViolations(page)).toEqual([]);
  });

  await page.context().close();
  await browser.close();
  await own.close();
  await service.close();
  expect(complaints.filter((line) => !/the server responded with a status of 4/.test(line))).toEqual([]);
});
