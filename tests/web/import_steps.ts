/** Steps about the import of files on the page of market data. */
import { expect } from "@std/expect";
import type { Page } from "playwright-core";

/** Drops a file on the page of market data, as a desktop does. */
export async function dropFile(page: Page, name: string, bytes: Uint8Array): Promise<void> {
  const transfer = await page.evaluateHandle(
    `(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([Uint8Array.from(${JSON.stringify([...bytes])})], ${JSON.stringify(name)}));
      return transfer;
    })()`,
  );
  await page.getByText("Drop a file here, or").dispatchEvent("drop", { dataTransfer: transfer });
}

/** Imports a file that is named after its symbol alone, as an admin. */
export async function importDropped(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/data`);
  const lines = [",Open,High,Low,Close,Volume", "2004-08-19,100,104,95,100,22", "2004-08-20,101,109,100,108,11"];
  await dropFile(page, "GOOG.csv", new TextEncoder().encode(lines.join("\n")));
  await page.getByText("The file looks like 1d").waitFor();
  expect(await page.getByLabel("Symbol", { exact: true }).inputValue()).toBe("GOOG");
  await page.getByRole("button", { name: "Import", exact: true }).click();
  await page.getByText("Choose one: the archive does not have this instrument").waitFor();
  const asked = await page.locator("form [aria-invalid=true]").all();
  expect(await Promise.all(asked.map((each) => each.getAttribute("name")))).toEqual(["exchange", "assetClass"]);
  await page.getByLabel("Exchange").fill("NASDAQ");
  await page.locator("form").getByLabel("Class").selectOption("stock");
  await page.getByRole("button", { name: "Import", exact: true }).click();
  await page.getByText("Imported GOOG on NASDAQ, 1d.").waitFor();
  // From then on the archive knows both.
  await page.goto(`${url}/data`);
  await dropFile(page, "GOOG.csv", new TextEncoder().encode(lines.join("\n")));
  await page.getByText("The file looks like 1d").waitFor();
  expect(await page.getByLabel("Exchange").inputValue()).toBe("NASDAQ");
  await page.getByRole("button", { name: "Import", exact: true }).click();
  await page.getByRole("status").getByText("unchanged").waitFor();
}
