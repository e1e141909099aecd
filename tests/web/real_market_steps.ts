import { expect } from "@std/expect";
import type { Page } from "playwright-core";
import { findViolations, waitForRun } from "../support/browser.ts";

const HOUR_MS = 3_600_000;

/**
 * An exchange with flat hours, a thousand an answer. It refuses the first request, as from a country that it does not serve, and in the
 * middle of the second range it waits, and refuses until it is open again.
 */
export function startExchange() {
  const starts: (string | null)[] = [];
  const middle = Promise.withResolvers<void>();
  let isOpen = false;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async ({ url }) => {
    const { searchParams: query } = new URL(url);
    const asked = starts.push(query.get("startTime"));
    if (asked > 2) await middle.promise;
    if (asked !== 2 && !isOpen) return Response.json({ msg: "restricted location" }, { status: 451 });
    const rows = [];
    for (let time = Number(query.get("startTime")); time < Number(query.get("endTime")) && rows.length < 1_000;) {
      rows.push([time, "1", "2", "0.5", "1", "10", time + HOUR_MS - 1, "0", 1, "0", "0", "0"]);
      time += HOUR_MS;
    }
    return Response.json(rows);
  });
  return {
    ...{ url: `http://127.0.0.1:${server.addr.port}`, close: () => server.shutdown() },
    /** The beginnings of the ranges that were asked for. */
    starts,
    failInTheMiddle: () => middle.resolve(),
    open: () => {
      isOpen = true;
    },
  };
}

/** Market data with the sample alone offers real markets, says in a line why one did not come, and shows one that did, to run on it. */
export async function fetchRealMarket(
  page: Page,
  url: string,
  { starts, failInTheMiddle, open }: ReturnType<typeof startExchange>,
): Promise<void> {
  await page.goto(`${url}/data`);
  const offer = page.getByRole("region", { name: "Real markets" });
  await offer.getByRole("button", { name: "Fetch ETHUSDT" }).click();
  await offer.getByRole("alert").getByText(/^The provider was not reached or refused: .*451/).waitFor();
  await offer.getByText("The candles so far are kept. Try again in a minute").waitFor();
  expect(await findViolations(page)).toEqual([]);

  await offer.getByRole("button", { name: "Fetch ETHUSDT" }).click();
  await offer.getByRole("status").getByText("Fetching ETHUSDT of BINANCE: 1,000 candles so far.").waitFor();
  expect(await findViolations(page)).toEqual([]);
  failInTheMiddle();
  await offer.getByRole("alert").getByText(/451/).waitFor();
  const failed = starts.at(-1);

  open();
  const before = starts.length;
  await offer.getByRole("button", { name: "Fetch ETHUSDT" }).click();
  await page.waitForURL(`${url}/data/BINANCE/ETHUSDT`);
  await page.getByText(/^2,1\d\d candles loaded/).waitFor();
  // It went on where the failure was.
  expect(starts[before]).toBe(failed);
  await page.getByRole("link", { name: "Run a strategy on it" }).click();
  await page.getByText(/^2,1\d\d candles from /).waitFor();
  await page.keyboard.press("Control+Enter");
  await waitForRun(page);
  await page.getByText("Net return").first().waitFor();
  await page.goto(`${url}/data`);
  await page.getByRole("link", { name: "ETHUSDT" }).waitFor();
  expect(await offer.count()).toBe(0);
}

/** A page that cannot be shown names the likely cause, and comes when it can. */
export async function failOnce(page: Page, url: string): Promise<void> {
  const asked = "**/trpc/marketData.instruments*";
  await page.route(asked, (route) => route.fulfill({ status: 502, contentType: "text/html", body: "Bad gateway" }));
  await page.goto(`${url}/data`);
  await page.getByText(/^Most likely the service is restarting/).waitFor();
  expect(await findViolations(page)).toEqual([]);
  await page.unroute(asked);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("link", { name: "ETHUSDT" }).waitFor();
}
