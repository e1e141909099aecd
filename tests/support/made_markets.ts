/** Markets of a test's own, imported as an operator imports files. */
import { expect } from "@std/expect";
import type { TestClient } from "./client.ts";
import { createTestDatabase } from "./database.ts";
import { type RunningProcess, startProcess } from "./process.ts";
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

/** A service over made markets, in a process with the permissions of the task, and a user of it. */
interface MarketsService {
  readonly service: RunningProcess;
  readonly user: TestClient;
  endService(): Promise<void>;
}

/** Starts a service, imports hours of each symbol and signs a user up. @param settings More environment variables. */
export async function serveMarkets(
  symbols: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<MarketsService> {
  const database = await createTestDatabase("service");
  const service = await startProcess("serve", {
    DATABASE_URL: database.url,
    BETTER_AUTH_SECRET: "a secret of at least 32 characters",
    INGESTION_ADMIN_SECRET: INGESTION_SECRET,
    ...settings,
  });
  for (const [seed, symbol] of symbols.entries()) await importHours(service.url, symbol, seed);
  const user = service.client();
  await user.signUp();
  const endService = async () => {
    await service.end("SIGTERM");
    await database.drop();
  };
  return { service, user, endService };
}
