import { Buffer } from "node:buffer";
import type { Page } from "playwright-core";
import { ROOT } from "../support/pages.ts";
import type { TestClient } from "../support/client.ts";

const INSTRUMENTS = 300;
const LONG = "A-SYMBOL-OF-NINETY-CHARACTERS-ABCDEFGHIJKLMNOPQRSTUVWXYZ-ABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789";

/** Pictures of the pages about the archive and the account, of which some are an admin's. */
export const ADMIN_SHOTS = [
  { name: "data", path: "/data" },
  { name: "data-search", path: "/data", isAdmin: true, act: search },
  { name: "data-import", path: "/data", isAdmin: true, act: importCsv },
  { name: "data-import-gaps", path: "/data/ICE/COCOA" },
  { name: "instrument", path: "/data/SAMPLE/DEMO" },
  { name: "instrument-empty", path: `/data/NOWHERE/${LONG}` },
  { name: "compare-choice", path: "/compare" },
  { name: "compare", path: "/compare", act: compare },
  { name: "account", path: "/account" },
  { name: "token", path: "/account", act: makeToken },
  { name: "ingestion", path: "/admin", isAdmin: true },
  { name: "ingestion-form", path: "/admin", isAdmin: true, act: addInstrument },
] as const;

async function addInstrument(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Add an instrument" }).click();
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByText("Enter a symbol").waitFor();
}

async function makeToken(page: Page): Promise<void> {
  await page.getByLabel("Name of the new token").fill("nightly runs of the desk in Singapore");
  await page.getByRole("button", { name: "Make a token" }).click();
  await page.getByText(/^hc_/).waitFor();
}

/** Makes a user an admin of the embedded service on a folder. */
export async function makeAdmin(email: string, dataDir: string): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--node-modules-dir=auto", "--no-check", "--allow-all", `${ROOT}cli/admin.ts`, email],
    env: { DATA_DIR: dataDir },
  }).output();
  if (!success) throw new Error(`Cannot make ${email} an admin: ${new TextDecoder().decode(stderr)}`);
}

/** Adds as many instruments as a busy service has, one with a very long name, and an ingestion run. */
export async function fillArchive(admin: TestClient): Promise<void> {
  const names = Array.from({ length: INSTRUMENTS }, (_, i) => `COIN${String(i).padStart(3, "0")}/USDT`);
  for (const symbol of [LONG, ...names]) {
    const instrument = { symbol, exchange: symbol === LONG ? "NOWHERE" : "BINANCE", assetClass: "crypto" };
    await admin.send("POST", "/api/admin/ingestion/instruments", { instrument: { ...instrument, provider: "import" } });
  }
  await admin.send("POST", "/api/admin/ingestion/run-once");
}

async function compare(page: Page): Promise<void> {
  for (const box of (await page.getByRole("checkbox").all()).slice(0, 5)) await box.check();
  await page.getByRole("button", { name: /^Compare/ }).click();
  await page.getByText("★ is the best").waitFor();
  await page.waitForLoadState("networkidle");
}

async function search(page: Page): Promise<void> {
  await page.getByLabel("Search symbols").fill("nothing has this name");
  await page.getByText("No instrument fits").waitFor();
}

async function importCsv(page: Page): Promise<void> {
  await page.getByLabel("Search symbols").fill("demo");
  const lines = Array.from(
    { length: 48 },
    (_, i) => `${1_709_251_200 + i * 3600},10,12,9,${i % 11 === 5 ? "x" : 11},5`,
  );
  const buffer = Buffer.from(["time,open,high,low,close,volume", ...lines].join("\n"));
  await page.getByLabel("CSV file").setInputFiles({ name: "COCOA_ICE_1h.csv", mimeType: "text/csv", buffer });
  await page.locator("form").getByLabel("Class").selectOption("crypto");
  await page.getByRole("button", { name: "Import", exact: true }).click();
  await page.getByText(/^Imported COCOA/).waitFor();
}
