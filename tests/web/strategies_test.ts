/** The catalogue and the registration of strategies, in a real browser against the real service. */
import { expect } from "@std/expect";
import { Buffer } from "node:buffer";
import { fileURLToPath } from "node:url";
import { connectBrowser, findViolations, openPage, shareSession, waitForRun } from "../support/browser.ts";
import { startTestService } from "../support/service.ts";
import { tryScript, useEditorKeys } from "./editor_steps.ts";
import { addScriptVersion, changeParameters, registerScript, startFromAnother } from "./script_steps.ts";
import { until } from "../support/until.ts";
import { makeLongStrategy, makeStrategy } from "./sample_strategies.ts";

const MODULE = fileURLToPath(import.meta.resolve("../../strategies/examples/rust/sma_cross.wasm"));
/** A module without the contract's exports. */
const EMPTY_MODULE = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

Deno.test("a user finds strategies, registers a module, and decides who sees it", async (t) => {
  const service = await startTestService();
  const [user, other] = [await service.user(), await service.user()];
  await makeStrategy(other, { name: "Of another user", is_public: true });
  const long = await makeLongStrategy(user);
  const browser = await connectBrowser();
  const { page, complaints } = await openPage(browser);
  await shareSession(page.context(), user);
  const rows = page.getByRole("region", { name: "Strategies" }).locator("tbody tr[data-row]");

  await t.step("the catalogue is searched, filtered, and walked by keys", async () => {
    await page.goto(`${service.url}/strategies`);
    await page.getByText("Of another user").waitFor();
    expect(await rows.count()).toBe(28);
    expect(await findViolations(page)).toEqual([]);
    await page.getByLabel("Show").selectOption("yours");
    await page.getByText("Of another user").waitFor({ state: "detached" });
    await page.getByText("Yours", { exact: true }).waitFor();
    expect(await rows.count()).toBe(1);
    await page.getByLabel("Show").selectOption("all");
    await page.getByRole("heading", { name: "Strategies" }).click();
    await page.keyboard.press("/");
    await page.keyboard.type("no such thing");
    await page.getByText("No strategy fits this search.").waitFor();
    await page.getByLabel("Search the strategies").fill("turtles");
    await page.getByText("Donchian Breakout").waitFor();
    await page.getByRole("heading", { name: "Strategies" }).click();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${service.url}/strategies/donchian-breakout`);
    await page.getByText("Candles of the channel whose breakout is traded").waitFor();
    expect(await page.getByRole("button", { name: "Delete", exact: true }).count()).toBe(0);
    expect(await findViolations(page)).toEqual([]);
  });

  await t.step("a file that is no module is refused at once, a bad module by the check of a worker", async () => {
    await page.goto(`${service.url}/strategies?add=wasm`);
    const file = page.getByLabel(/Drop a .wasm module|Choose or drop another/);
    await page.getByRole("button", { name: "Register" }).click();
    await page.getByText("Enter a name").waitFor();
    await file.setInputFiles({ name: "notes.txt", mimeType: "text/plain", buffer: toBuffer([104, 105]) });
    await page.getByText("notes.txt is no WebAssembly module: choose a .wasm file").waitFor();
    await file.setInputFiles({ name: "my_module.wasm", mimeType: "", buffer: toBuffer(EMPTY_MODULE) });
    // The browser reads the file meanwhile.
    await until(async () => await page.getByLabel("Name", { exact: true }).inputValue() === "my module" || undefined);
    expect(await page.getByLabel("Slug", { exact: true }).inputValue()).toBe("my-module");
    await page.getByLabel("Language").fill("rust");
    await page.getByLabel("Parameter schema").fill("{");
    await page.getByRole("button", { name: "Register" }).click();
    await page.getByText(/^This is no JSON/).waitFor();
    await page.getByLabel("Parameter schema").fill('{"type": "object", "properties": {"a": {"pattern": "x"}}}');
    await page.getByRole("button", { name: "Register" }).click();
    await page.getByText(/^\/properties\/a\/pattern /).waitFor();
    await page.getByLabel("Parameter schema").fill('{"type": "object"}');
    await page.getByRole("button", { name: "Register" }).click();
    const report = page.getByRole("alert").filter({ hasText: "The module did not pass its check" });
    await report.waitFor();
    expect(await report.textContent()).toContain("Cannot use the module");
    expect(await findViolations(page)).toEqual([]);
  });

  await t.step("a good module is registered with its report, and runs", async () => {
    await page.getByLabel(/Choose or drop another/).setInputFiles(MODULE);
    await page.getByLabel("Slug", { exact: true }).fill("mine-in-rust");
    await page.getByRole("button", { name: "Register" }).click();
    await page.getByText("It ran over sample candles within its limits").waitFor();
    await page.getByRole("link", { name: "See it" }).click();
    await page.getByRole("link", { name: /^Module [0-9a-f]{12}$/ }).waitFor();
    await page.getByRole("link", { name: "Run it" }).click();
    await page.getByText("Version 1.0.0").waitFor();
    await page.keyboard.press("Control+Enter");
    await waitForRun(page);
    await page.getByText("Net return").first().waitFor();
  });

  await t.step("a script with a mistake is refused at its line, mended, registered and run", async () => {
    await registerScript(page, service.url);
  });

  await t.step("a script with other parameters than its example's has its own defaults", async () => {
    await changeParameters(page, service.url);
  });

  await t.step("a text is run beside its editor: mended, failing, and cancelled by the next run", async () => {
    await page.goto(`${service.url}/strategies?add=script`);
    await tryScript(page);
    const [last, endless] = (await user.get("/api/backtests?limit=2&tag=editor")).list("/backtests").map(Object);
    expect(last.status).toBe("completed");
    // A busy machine may have ended the endless one before it was told to.
    expect(["cancelled", "failed"]).toContain(endless.status);
    await useEditorKeys(page);
  });

  await t.step("a new version of a script begins with the newest one, and is checked like it", async () => {
    await page.goto(`${service.url}/strategies/my-average`);
    await addScriptVersion(page);
  });

  await t.step("another user's script is the start of one's own, as soon as its source is open", async () => {
    await startFromAnother(page, service.url, other);
  });

  await t.step("an endpoint is registered by its address, which must be public", async () => {
    await page.goto(`${service.url}/strategies?add=remote`);
    await page.getByLabel("Endpoint", { exact: true }).fill("http://127.0.0.1:9/run");
    await page.getByLabel("Name", { exact: true }).fill("Far Away");
    expect(await page.getByLabel("Slug", { exact: true }).inputValue()).toBe("far-away");
    await page.getByLabel("Language").fill("python");
    await page.getByRole("button", { name: "Register" }).click();
    await page.getByText(/^It must be public/).waitFor();
    await page.getByLabel("Endpoint", { exact: true }).fill("https://example.com/run");
    await page.getByRole("button", { name: "Register" }).click();
    await page.getByText("Far Away is registered, version 1.0.0").waitFor();
  });

  await t.step("its owner edits it and adds a version, with errors at the fields", async () => {
    await page.goto(`${service.url}/strategies/far-away`);
    await page.getByRole("button", { name: "Edit" }).press("Enter");
    await page.getByLabel("Name", { exact: true }).fill("");
    await page.getByLabel("Default configuration").fill("{");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Enter a name").waitFor();
    await page.getByText(/^This is no JSON/).waitFor();
    await page.getByLabel("Name", { exact: true }).fill("Far and Away");
    await page.getByLabel("Default configuration").fill('{"timeframe": "7h"}');
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText(/^\/timeframe must be one of/).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByLabel("Default configuration").fill('{"timeframe": "4h"}');
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Far and Away" }).waitFor();
    expect((await user.get("/api/strategies/far-away")).at("/strategy/default_config")).toEqual({ timeframe: "4h" });

    await page.getByRole("button", { name: "New version" }).click();
    await page.getByLabel("Version", { exact: true }).fill("1.0.0");
    await page.getByRole("button", { name: "Add the version" }).click();
    await page.locator("[aria-invalid=true]").and(page.getByLabel("Version", { exact: true })).waitFor();
    await page.getByLabel("Version", { exact: true }).fill("1.1.0");
    await page.getByLabel("Endpoint", { exact: true }).fill("http://127.0.0.1:9/run");
    await page.getByRole("button", { name: "Add the version" }).click();
    await page.getByText(/^It must be public/).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByLabel("Endpoint", { exact: true }).fill("https://example.com/second");
    await page.getByRole("button", { name: "Add the version" }).click();
    await page.getByRole("region", { name: "Versions" }).getByText("https://example.com/second").waitFor();
    expect(await page.getByRole("region", { name: "Versions" }).locator("tbody tr").count()).toBe(2);
  });

  await t.step("a new version of a module is checked like the first one", async () => {
    await page.goto(`${service.url}/strategies/mine-in-rust`);
    await page.getByRole("button", { name: "New version" }).click();
    const file = page.getByLabel(/Drop a .wasm module|Choose or drop another/);
    await file.setInputFiles({ name: "empty.wasm", mimeType: "", buffer: toBuffer(EMPTY_MODULE) });
    await page.getByRole("button", { name: "Add the version" }).click();
    await page.getByRole("alert").filter({ hasText: "The module did not pass its check" }).waitFor();
    await page.getByLabel(/Choose or drop another/).setInputFiles(MODULE);
    await page.getByRole("button", { name: "Add the version" }).click();
    await page.getByRole("region", { name: "Versions" }).getByRole("rowheader", { name: "1.0.1" }).waitFor();
  });

  await t.step("three hundred strategies are searched, and come as the reader scrolls", async () => {
    const names = Array.from({ length: 300 }, (_, i) => `Numbered ${String(i).padStart(3, "0")}`);
    for (let i = 0; i < names.length; i += 20) {
      await Promise.all(names.slice(i, i + 20).map((name) => makeStrategy(user, { name })));
    }
    await page.goto(`${service.url}/strategies?kind=yours`);
    await page.getByRole("link", { name: "Numbered 299" }).waitFor();
    await page.getByRole("link", { name: "Numbered 000" }).waitFor({ state: "hidden" });
    await until(async () => {
      await page.keyboard.press("End");
      return await rows.count() >= 303;
    });
    await page.getByRole("link", { name: "Numbered 000" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("numbered 123");
    await rows.nth(1).waitFor({ state: "hidden" });
    await page.getByRole("link", { name: "Numbered 123" }).waitFor();
  });

  await t.step("its owner makes a strategy public and private, and deletes it after a question", async () => {
    await page.goto(`${service.url}/strategies/far-away`);
    await page.getByRole("button", { name: "Make public" }).click();
    await page.getByText("Yours, public").waitFor();
    expect((await other.get("/api/strategies/far-away")).status).toBe(200);
    await page.getByRole("button", { name: "Make private" }).click();
    await page.getByText("Yours", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Keep it" }).click();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Delete strategy" }).click();
    await page.waitForURL(`${service.url}/strategies`);
    expect((await user.get("/api/strategies/far-away")).status).toBe(404);
  });

  await t.step("long names and forty parameters fit a phone", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    for (
      const path of [
        `/strategies/${long}`,
        `/runs/new?strategy=${long}`,
        "/strategies?add=wasm",
        "/strategies?add=script",
      ]
    ) {
      await page.goto(`${service.url}${path}`);
      await page.getByText("parameter39").or(page.getByLabel("Parameter schema")).first().waitFor();
      expect([path, await page.evaluate("document.documentElement.scrollWidth")]).toEqual([path, 390]);
      expect(await findViolations(page)).toEqual([]);
    }
  });

  await page.context().close();
  await browser.close();
  await service.close();
  // The browser itself reports the refusals that the steps above provoke.
  expect(complaints.filter((line) => !/the server responded with a status of 4/.test(line))).toEqual([]);
});

function toBuffer(bytes: readonly number[]) {
  return Buffer.from(bytes);
}
