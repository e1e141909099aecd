/**
 * How long another user's requests take while one user reads the largest results and exports, and writes the largest universes: over HTTP
 * to a process of its own with the permissions of its task, beside the same service when it is idle.
 *
 * `deno run --allow-all bench/exports_bench.ts [FILTER]`: only readings whose names contain the filter; with TEST_DATABASE_URL as
 * `deno task bench` sets it, on PostgreSQL, else on an embedded database.
 */
import { type DatabaseHandle, openPglite, openPostgres } from "../db/client.ts";
import { createTestDatabase } from "../tests/support/database.ts";
import { startProcess } from "../tests/support/process.ts";
import {
  archiveMarkets,
  MARKETS,
  membersCsv,
  membersOf,
  storePaths,
  storePlots,
  storePortfolio,
  storeReturns,
  storeUniverse,
  storeWalk,
} from "./exports_records.ts";
import { type Reading, watchOthers } from "./others.ts";

const [filter = ""] = Deno.args;
const SECRET = "a secret of at least 32 characters";
const PORTFOLIO = [
  "10 results of an account over 1,000 markets",
  "10 short pages of the account over 1,000 markets",
  "10 reports of the account over 1,000 markets",
];
const PLOTS = ["10 lists of 16 plots of a year of minutes", "10 pages of 10,000 plotted candles"];
const RETURNS = ["10 lists of the days of 1,000 trials"];
const WALK = ["10 lists of splits and days of a walk-forward account"];
const PATHS = ["10 lists of 10,000 paths and their curves"];
const UNIVERSES = [
  "10 lists of 5,000 members",
  "10 versions of 5,000 members as JSON",
  "10 versions of 5,000 members as CSV",
  "10 portfolios of 1,000 unknown instruments",
];
const json = { "content-type": "application/json" };

const folder = await Deno.makeTempDir({ prefix: "hindcast-bench-" });
const server = Deno.env.has("TEST_DATABASE_URL") ? await createTestDatabase() : null;
try {
  if (server === null) await measure("embedded", { DATA_DIR: folder }, () => openPglite(`${folder}/database`));
  else {
    const environment = { DATABASE_URL: server.url, BETTER_AUTH_SECRET: SECRET };
    await measure("PostgreSQL", environment, () => openPostgres(server.url, 2));
  }
} finally {
  await server?.drop();
  await Deno.remove(folder, { recursive: true });
}

async function measure(
  kind: string,
  environment: Record<string, string>,
  open: () => Promise<DatabaseHandle>,
): Promise<void> {
  // A service makes the tables, and an embedded database has one process at a time.
  await (await startProcess("serve", environment)).end("SIGTERM");
  const handle = await open();
  await archiveMarkets(handle.db);
  await handle.close();
  const service = await startProcess("serve", { WORKERS: "1", ...environment });
  try {
    const [reader, other] = [service.client(), service.client()];
    await reader.signUp();
    await other.signUp();
    const ifNeeded = async (names: readonly string[], store: () => Promise<string>) =>
      names.some((name) => name.includes(filter)) ? await store() : "";
    const portfolio = await ifNeeded(PORTFOLIO, () => storePortfolio(reader));
    const plots = await ifNeeded(PLOTS, () => storePlots(reader));
    const returns = await ifNeeded(RETURNS, () => storeReturns(reader));
    const walk = await ifNeeded(WALK, () => storeWalk(reader));
    const paths = await ifNeeded(PATHS, () => storePaths(reader));
    const universe = await ifNeeded(UNIVERSES, () => storeUniverse(reader));
    const gets = (name: string, ...all: string[]): Reading => ({
      name,
      readers: 10,
      requests: all.map((path) => ({ path })),
    });
    const formats = (path: string) => ["json", "csv", "arrow"].map((format) => `${path}?format=${format}`);
    const posts = (name: string, path: string, more: object): Reading => {
      const init = { method: "POST", headers: json, body: JSON.stringify(more) };
      return { name, readers: 10, requests: [{ path, init }] };
    };
    const version = `/api/universes/${universe}/versions`;
    const readings: readonly Reading[] = [
      { name: "nothing", readers: 0, requests: [] },
      gets(PORTFOLIO[0]!, `/api/backtests/${portfolio}`),
      gets(PORTFOLIO[1]!, `/api/backtests/${portfolio}/trades?limit=1`, `/api/backtests/${portfolio}/equity?limit=1`),
      gets(PORTFOLIO[2]!, `/api/backtests/${portfolio}/report`),
      gets(PLOTS[0]!, ...formats(`/api/backtests/${plots}/series`)),
      gets(PLOTS[1]!, `/api/backtests/${plots}/series?limit=10000`),
      gets(RETURNS[0]!, ...formats(`/api/optimizations/${returns}/returns`)),
      gets(WALK[0]!, ...formats(`/api/optimizations/${walk}/splits`), ...formats(`/api/optimizations/${walk}/account`)),
      gets(PATHS[0]!, ...formats(`/api/monte-carlo/${paths}/paths`), ...formats(`/api/monte-carlo/${paths}/curves`)),
      gets(UNIVERSES[0]!, ...formats(`/api/universes/${universe}/members`)),
      // Each is refused for its last member, after all of it was looked at.
      posts(UNIVERSES[1]!, version, { version: { members: [...membersOf(), { symbol: "", exchange: "X" }] } }),
      posts(UNIVERSES[2]!, version, { version: { csv: `${membersCsv()},X\n` } }),
      posts(UNIVERSES[3]!, "/api/backtests", {
        backtest: {
          ...{ symbol: "W0", exchange: "WIDE", strategy: "Equal Weight", initial_balance: 1000 },
          ...{ start_date: "2020-01-01", end_date: "2020-02-01" },
          parameters: { instruments: MARKETS.map((symbol) => ({ symbol, exchange: "NOWHERE" })) },
        },
      }),
    ];
    for (const reading of readings) {
      if (reading.readers > 0 && !reading.name.includes(filter)) continue;
      await watchOthers(kind, reading, { reader, other });
    }
  } finally {
    await service.end("SIGTERM");
  }
}
