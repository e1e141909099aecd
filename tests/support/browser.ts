import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { Socket } from "node:net";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import type { TestClient } from "./client.ts";
import { prepare } from "./prepare.ts";

/** A page of a browser, and what it complained about. */
export interface TestPage {
  readonly page: Page;
  /** Errors that the page wrote to its console, and exceptions that nothing caught. */
  readonly complaints: string[];
}

/** Connects to the browser that all tests of a run share. */
export async function connectBrowser(): Promise<Browser> {
  const [endpoint] = await Promise.all([prepare("browser"), prepare("console")]);
  const sockets: Socket[] = [];
  const listen = (message: unknown) => {
    if (message !== null && typeof message === "object" && "socket" in message && message.socket instanceof Socket) {
      sockets.push(message.socket);
    }
  };
  subscribe("net.client.socket", listen);
  const browser = await chromium.connect(endpoint).finally(() => unsubscribe("net.client.socket", listen));
  const port = Number(new URL(endpoint).port);
  const socket = sockets.find(({ remotePort }) => remotePort === port)!;
  const close = browser.close.bind(browser);
  browser.close = async () => {
    // It does not wait for its connection to close, whose timer would outlive the test.
    const closed = once(socket, "close");
    await close();
    await closed;
  };
  return browser;
}

/** Opens a page with cookies and storage of its own. Close its context at the end. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<TestPage> {
  const context = await browser.newContext({ locale: "en-US", viewport: { width: 1440, height: 900 }, ...options });
  // A page needs long on a busy machine; what never comes ends a test all the same.
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => void complaints.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(`${message.text()} (${message.location().url})`);
  });
  return { page, complaints };
}

/** Gives a browser the session of a client. */
export async function shareSession(context: BrowserContext, { cookie, url }: TestClient): Promise<void> {
  const cookies = cookie.split("; ").map((each) => {
    const at = each.indexOf("=");
    return { name: each.slice(0, at), value: each.slice(at + 1), url };
  });
  await context.addCookies(cookies);
}

const axeSource = Deno.readTextFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")));

/** The faults that axe finds in the page once it is at rest, each with the first element that has it. */
export async function findViolations(page: Page): Promise<string[]> {
  await waitForRest(page);
  return await page.evaluate(`(async () => {
    ${axeSource}
    const { violations } = await axe.run(document);
    return violations.map(({ id, nodes }) => id + ": " + nodes[0].html.slice(0, 200) + " " + nodes[0].failureSummary);
  })()`);
}

/** Waits for parts that are dimmed while they load, and for colours that change. */
async function waitForRest(page: Page): Promise<void> {
  await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
  await page.evaluate(`Promise.allSettled(document.getAnimations()
    .filter((each) => each.effect.getComputedTiming().endTime < Infinity).map(({ finished }) => finished))`);
}

/** Waits for the page of a run that was submitted; what the form says instead is the error. @returns Its id. */
export async function waitForRun(page: Page): Promise<string> {
  await page.waitForURL(/\/runs\/[0-9a-f-]{36}$/).catch(async (cause: unknown) => {
    const said = await page.locator("form").first().innerText();
    throw new Error(`No run began at ${page.url()}; the form says: ${said}`, { cause });
  });
  return page.url().slice(-36);
}
