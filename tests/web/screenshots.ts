/**
 * Takes a picture of each page, light and dark, wide, broad and phone: `deno task screenshots [NAME...]`.
 *
 * The pictures go to web/screenshots/, which git ignores. A NAME chooses the pages whose name contains it.
 */
import { editorOf, readEditor, writeEditor } from "./editor_steps.ts";
import type { BrowserContextOptions, Page } from "playwright-core";
import { AgentProgram } from "../support/agent_program.ts";
import { shareSession } from "../support/browser.ts";
import { TestClient } from "../support/client.ts";
import { onStage, type Stage } from "../support/stage.ts";
import { ADMIN_SHOTS, fillArchive, makeAdmin } from "./admin_shots.ts";
import { makeOptimization, makeRun, makeScan, makeUniverse, SAMPLE_RUNS } from "./sample_runs.ts";
import { makeLongStrategy, makeScript } from "./sample_strategies.ts";

const FOLDER = new URL("../../web/screenshots/", import.meta.url);
const SIZES = {
  wide: { viewport: { width: 1440, height: 900 } },
  broad: { viewport: { width: 2560, height: 1440 } },
  phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
} as const satisfies Record<string, BrowserContextOptions>;
const THEMES = ["light", "dark"] as const;

/** A page to take a picture of. */
interface Shot {
  readonly name: string;
  readonly path: string;
  readonly isSignedOut?: true;
  readonly isAdmin?: true;
  /** Done to the page before the picture. */
  readonly act?: (page: Page) => Promise<void>;
}

const wanted = Deno.args;
await Deno.mkdir(FOLDER, { recursive: true });
await onStage(async (stage) => {
  const admin = new TestClient(stage.url);
  await makeAdmin(await admin.signUp("admin@example.com"), stage.data);
  const shots = (await listShots(stage.client)).filter(isWanted);
  if (ADMIN_SHOTS.some(isWanted)) await fillArchive(admin);
  for (const theme of THEMES) {
    for (const [size, options] of Object.entries(SIZES)) await takeAll(stage, shots, admin, theme, size, options);
  }
});
Deno.exit();

/** The address at which a program's code is confirmed. */
async function beginDevice(client: TestClient): Promise<string> {
  const begun = await client.send("POST", "/api/auth/device/code", { client_id: "hindcast on workstation" });
  return `/device?user_code=${begun.at("/user_code")}`;
}

/** The address at which a person is asked whether an agent may act for them. */
async function beginAgent({ url }: TestClient): Promise<string> {
  const { pathname, search } = await new AgentProgram(`${url}/mcp`, "http://127.0.0.1:49152/callback", "Deep Agent")
    .askPerson();
  return pathname + search;
}

/** The pages, with what they show made before. */
async function listShots(client: TestClient): Promise<Shot[]> {
  const long = await makeLongStrategy(client);
  const script = await makeScript(client);
  const universe = await makeUniverse(client);
  const shots: Shot[] = [
    { name: "universes", path: "/universes" },
    { name: "universes-new", path: "/universes?add=true" },
    { name: "universe", path: `/universes/${universe}` },
    { name: "universe-version", path: `/universes/${universe}`, act: beginVersion },
    { name: "new-run-universe", path: `/runs/new?universe=${universe}&strategy=momentum-rotation` },
    { name: "device", path: await beginDevice(client) },
    { name: "connect", path: await beginAgent(client) },
    { name: "sign-in", path: "/sign-in", isSignedOut: true },
    { name: "reset-password", path: "/reset-password#token", isSignedOut: true },
    { name: "runs-empty", path: "/runs" },
    { name: "unknown", path: "/startegies" },
    { name: "lost-run", path: `/runs/${crypto.randomUUID()}` },
    { name: "new-run", path: "/runs/new" },
    { name: "strategies", path: "/strategies" },
    { name: "strategies-add", path: "/strategies?add=wasm" },
    { name: "strategies-script", path: "/strategies?add=script", act: registerMistake },
    { name: "strategy-script", path: `/strategies/${script}` },
    { name: "strategy-version", path: `/strategies/${script}`, act: (page) => press(page, "New version") },
    { name: "strategy-edit", path: `/strategies/${script}`, act: (page) => press(page, "Edit") },
    { name: "strategy", path: "/strategies/donchian-breakout" },
    { name: "strategy-long", path: `/strategies/${long}` },
    { name: "new-run-long", path: `/runs/new?strategy=${long}` },
  ];
  const optimizations: Shot[] = [
    { name: "optimize-new", path: "/optimizations/new", act: (page) => press(page, "Add a constraint") },
    { name: "optimize-new-walk", path: "/optimizations/new", act: walkForward },
  ];
  if (optimizations.some(isWanted) || ["optimize-list", "optimize-result"].some((name) => isWanted({ name }))) {
    const id = await makeOptimization(client);
    optimizations.push({ name: "optimize-list", path: "/optimizations" });
    optimizations.push({ name: "optimize-result", path: `/optimizations/${id}`, act: chooseRegion });
  }
  if (isWanted({ name: "optimize-scan" })) {
    optimizations.push({ name: "optimize-scan", path: `/optimizations/${await makeScan(client)}`, act: untilRanked });
  }
  const runs: Shot[] = [];
  for (const name of SAMPLE_RUNS) {
    if (wanted.length > 0 && !wanted.some((each) => `run-${name}-runs`.includes(each) || each.includes(name))) continue;
    const id = await makeRun(client, name);
    runs.push({ name: `run-${name}`, path: `/runs/${id}` });
    if (name === "portfolio") {
      runs.push({ name: `run-${name}-tab`, path: `/runs/${id}?tab=portfolio` });
      runs.push({ name: `run-${name}-trades`, path: `/runs/${id}?tab=trades&market=PINE%40SAMPLE` });
      runs.push({ name: `run-${name}-market`, path: `/runs/${id}?chart=PINE%40SAMPLE` });
      runs.push({ name: `report-${name}`, path: `/api/backtests/${id}/report` });
    }
    if (name !== "good") continue;
    runs.push({ name: "report", path: `/api/backtests/${id}/report` });
    const link = await client.send("POST", "/api/shares", { share: { backtest_id: id } });
    runs.push({ name: "good-shared", path: String(link.at("/path")), isSignedOut: true });
    runs.push({ name: "good-change", path: `/runs/${id}?change=true`, act: changeTarget });
    runs.push({ name: "good-share", path: `/runs/${id}`, act: (page) => press(page, "Share") });
    for (const method of ["candles", "trades"]) await simulatePaths(client, { backtest_id: id, method, runs: 1_000 });
    const stress = await client.send("POST", `/api/backtests/${id}/stress`);
    await client.poll(`/api/stress-tests/${stress.at("/stress_test/id")}`, "/stress_test/status");
    for (const tab of ["metrics", "assumptions", "monte-carlo", "stress"]) {
      runs.push({ name: `run-${name}-${tab}`, path: `/runs/${id}?tab=${tab}` });
    }
  }
  return [...shots, { name: "runs", path: "/runs" }, ...runs, ...optimizations, ...ADMIN_SHOTS];
}

async function simulatePaths(client: TestClient, monte_carlo: object): Promise<void> {
  const made = await client.send("POST", "/api/monte-carlo", { monte_carlo });
  await client.poll(`/api/monte-carlo/${made.at("/monte_carlo/id")}`, "/monte_carlo/status");
}

/** Registers a script with a mistake in its fourth line. */
async function registerMistake(page: Page): Promise<void> {
  await editorOf(page).waitFor();
  await writeEditor(page, (await readEditor(page)).replace("period);", "period;"));
  await page.getByLabel("Name", { exact: true }).fill("My Average");
  await page.getByRole("button", { name: "Register" }).click();
  await page.getByText("The script did not pass its check").waitFor();
}

async function beginVersion(page: Page): Promise<void> {
  await press(page, "New version");
  await page.getByRole("textbox", { name: "Members" }).waitFor();
}

async function changeTarget(page: Page): Promise<void> {
  await page.getByLabel("takeProfitLevel", { exact: true }).fill("0.05");
  await page.getByText("The page shows the change.").waitFor();
  await page.waitForLoadState("networkidle");
}

async function untilRanked(page: Page): Promise<void> {
  await page.getByRole("region", { name: "Points by the median over the markets" }).waitFor();
  await page.waitForLoadState("networkidle");
}

async function chooseRegion(page: Page): Promise<void> {
  await page.getByRole("application").focus();
  for (const key of ["ArrowRight", "ArrowUp", "Shift+ArrowUp", "Shift+ArrowRight"]) await page.keyboard.press(key);
}

/** Switches walk-forward windows on, with a step that is too short. */
async function walkForward(page: Page): Promise<void> {
  await page.getByRole("switch").check();
  await page.getByLabel("Step days").fill("10");
}

async function press(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name, exact: true }).click();
  await page.waitForLoadState("networkidle");
}

function isWanted({ name }: Pick<Shot, "name">): boolean {
  return wanted.length === 0 || wanted.some((each) => name.includes(each));
}

async function takeAll(
  { browser, client, url }: Stage,
  shots: readonly Shot[],
  admin: TestClient,
  theme: (typeof THEMES)[number],
  size: string,
  options: BrowserContextOptions,
): Promise<void> {
  for (const { name, path, isSignedOut, isAdmin, act } of shots) {
    const context = await browser.newContext({ ...options, locale: "en-US", colorScheme: theme });
    if (isSignedOut === undefined) await shareSession(context, isAdmin ? admin : client);
    const page = await context.newPage();
    page.on("console", (message) => void (message.type() === "error" && print(`${name}: ${message.text()}`)));
    page.on("pageerror", (error) => print(`${name}: ${error}`));
    // The list of runs, and a run's page, keep a stream of events open.
    const isFollowing = path === "/runs" || /^\/runs\/[0-9a-f-]{36}/.test(path);
    await page.goto(`${url}${path}`, { waitUntil: isFollowing ? "load" : "networkidle" });
    if (isFollowing) {
      await page.locator("[data-row], h1 + p, canvas, section").first().waitFor();
      await page.getByText(/^Loading/).first().waitFor({ state: "detached" });
    }
    await act?.(page);
    const file = new URL(`${name}-${theme}-${size}.png`, FOLDER);
    await page.screenshot({ path: decodeURI(file.pathname), fullPage: true });
    await context.close();
  }
}

function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}
