/** Markets of a test's own, imported as an operator imports files. */
import { expect } from "@std/expect";
import { INGESTION_SECRET } from "./service.ts";

const HOUR_MS = 3_600_000;
const FIRST = Date.parse("2024-01-01T00:00:00Z");
const HOURS = 1600;

/** Imports a random walk of hours from 2024-01-01 on, the same for the same seed. */
export async function importHours(url: string, symbol: string, seed: number, hours = HOURS): Promise<void> {
  let state = seed + 1;
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  for (let n = 0; n < 10; n++) random();
  let price = 100 + seed;
  const lines = Array.from({ length: hours }, (_, hour) => {
    const open = price;
    price = Math.max(10, open * (1 + (random() - 0.5) / 50));
    const [high, low] = [Math.max(open, price) * (1 + random() / 200), Math.min(open, price) * (1 - random() / 200)];
    const time = new Date(FIRST + hour * HOUR_MS).toISOString();
    return [time, ...[open, high, low, price].map((value) => value.toFixed(4)), 1000].join(",");
  });
  const path = `/api/admin/ingestion/import?symbol=${symbol}&exchange=LAB&assetClass=crypto&timeframe=1h`;
  const answer = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "text/csv", "x-ingestion-admin-secret": INGESTION_SECRET },
    body: ["timestamp,open,high,low,close,volume", ...lines].join("\n"),
  });
  expect([symbol, answer.status, await answer.text()]).toEqual([symbol, 200, expect.any(String)]);
}
