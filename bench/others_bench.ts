/**
 * How long another user's requests take while one user does their worst, reads the longest lists and the largest results, and writes
 * the largest universes: over HTTP to a process of its own with the permissions of its task, beside the same service when it is idle.
 *
 * `deno run --allow-all bench/others_bench.ts [FILTER]`: only acts whose names contain the filter; with TEST_DATABASE_URL as
 * `deno task bench` sets it, on PostgreSQL, too.
 */
import type { TestClient } from "../tests/support/client.ts";
import { startProcess } from "../tests/support/process.ts";
import { type Kind, KINDS, makeDatabase } from "./both_databases.ts";
import { readFor, type Requests, type Users, watchOthers } from "./others.ts";
import {
  archiveLongest,
  archiveMarkets,
  MARKETS,
  membersCsv,
  membersOf,
  storeLongest,
  storeOptimization,
  storePaths,
  storePlots,
  storePortfolio,
  storeTrials,
  storeUniverse,
} from "./others_records.ts";
import { ACTS, startFeed } from "./worst_acts.ts";

const [filter = ""] = Deno.args;
const READERS = 10;
const MANY_READERS = 30;

const feed = startFeed();
for (const kind of KINDS) {
  const database = await makeDatabase(kind);
  try {
    // A service makes the tables and the user; an embedded database serves one process at a time.
    const first = await startProcess("serve", { WORKERS: "0", ...database.environment });
    const reader = first.client();
    await reader.signUp();
    const ownerId = String((await reader.get("/api/session")).at("/user/id"));
    await first.end("SIGTERM");
    const handle = await database.open();
    const trials = await storeTrials(handle.db, ownerId);
    await archiveLongest(handle.db);
    await archiveMarkets(handle.db);
    await handle.close();
    const service = await startProcess("serve", {
      ...{ WORKERS: "2", RUN_SECONDS_MAX: "20", BINANCE_BASE_URL: `http://127.0.0.1:${feed.addr.port}` },
      ...database.environment,
    });
    try {
      const users = { reader: service.client(), other: service.client() };
      users.reader.cookie = reader.cookie;
      await users.other.signUp();
      await watchOthers(kind, "nothing", () => readFor(users.reader, [], 0), users.other);
      for (const [name, act] of Object.entries(ACTS)) {
        if (name.includes(filter)) await watchOthers(kind, name, () => act(users), users.other);
      }
      const watch = makeWatch(kind, users);
      await measureLists(watch, users.reader, trials);
      await measureResults(watch, users.reader);
      await measureUniverses(watch, users.reader);
    } finally {
      await service.end("SIGTERM");
    }
  } finally {
    await database.drop();
  }
}
await feed.shutdown();

/** Watches a reading, if the filter leaves it; makes its records before. */
type Watch = (name: string, prepare: () => Promise<Requests>, readers?: number) => Promise<void>;

function makeWatch(kind: Kind, users: Users): Watch {
  return async (name, prepare, readers = READERS) => {
    if (!name.includes(filter)) return;
    const requests = await prepare();
    await watchOthers(kind, `${readers} ${name}`, () => readFor(users.reader, requests, readers), users.other);
  };
}

/** @param trials The id of the optimization that has them. */
async function measureLists(watch: Watch, reader: TestClient, trials: string): Promise<void> {
  const optimization = `/api/optimizations/${trials}`;
  const page = `${optimization}/trials?sort=sharpe&limit=200`;
  const longest = once(async () => [await storeLongest(reader, 10), await storeLongest(reader, 20)] as const);
  const run = async () => `/api/backtests/${(await longest())[0]}`;
  const compare = async () => `/api/backtests/compare?ids=${(await longest()).join()}&points=2000`;
  await watch("lists of all trials", () => Promise.resolve(gets(formats(`${optimization}/trials`))));
  await watch("pages of trials by a metric", () => Promise.resolve(gets([page])));
  await watch("lists of all trades of the longest run", async () => gets([`${await run()}/trades`]));
  await watch("lists of all orders of the longest run", async () => gets([`${await run()}/orders`]));
  await watch("compares of the longest runs", async () => gets([await compare()]));
  await watch("reports of the longest run", async () => gets([`${await run()}/report`]));
  const all = async () => [
    ...[`${optimization}/trials`, page, await compare()],
    ...[`${await run()}/trades`, `${await run()}/orders?format=csv`, `${await run()}/report`],
  ];
  await watch("readings of all kinds", async () => gets(await all()), MANY_READERS);
}

async function measureResults(watch: Watch, reader: TestClient): Promise<void> {
  const portfolio = once(() => storePortfolio(reader));
  const account = async () => `/api/backtests/${await portfolio()}`;
  await watch("results of an account over 1,000 markets", async () => gets([await account()]));
  await watch(
    "short pages of the account over 1,000 markets",
    async () => gets([`${await account()}/trades?limit=1`, `${await account()}/equity?limit=1`]),
  );
  await watch("reports of the account over 1,000 markets", async () => gets([`${await account()}/report`]));
  const plots = once(() => storePlots(reader));
  const series = async () => `/api/backtests/${await plots()}/series`;
  await watch("lists of 16 plots of a year of minutes", async () => gets(formats(await series())));
  await watch("pages of 10,000 plotted candles", async () => gets([`${await series()}?limit=10000`]));
  await watch(
    "lists of the days of 1,000 trials",
    async () => gets(formats(`/api/optimizations/${await storeOptimization(reader)}/returns`)),
  );
  await watch("lists of splits and days of a walk-forward account", async () => {
    const walk = { walk_forward: { train_days: 100, test_days: 20 }, trials_max: 100_000 };
    const path = `/api/optimizations/${await storeOptimization(reader, walk)}`;
    return gets([...formats(`${path}/splits`), ...formats(`${path}/account`)]);
  });
  await watch("lists of 10,000 paths and their curves", async () => {
    const path = `/api/monte-carlo/${await storePaths(reader)}`;
    return gets([...formats(`${path}/paths`), ...formats(`${path}/curves`)]);
  });
}

async function measureUniverses(watch: Watch, reader: TestClient): Promise<void> {
  const universe = once(() => storeUniverse(reader));
  await watch("lists of 5,000 members", async () => gets(formats(`${await universe()}/members`)));
  // Each is refused for its last member, after all of it was looked at.
  const version = async (body: object) => [post(`${await universe()}/versions`, { version: body })];
  await watch(
    "versions of 5,000 members as JSON",
    () => version({ members: [...membersOf(), { symbol: "", exchange: "X" }] }),
  );
  await watch("versions of 5,000 members as CSV", () => version({ csv: `${membersCsv()},X\n` }));
  const backtest = {
    ...{ symbol: "W0", exchange: "WIDE", strategy: "Equal Weight", initial_balance: 1000 },
    ...{ start_date: "2020-01-01", end_date: "2020-02-01" },
    parameters: { instruments: MARKETS.map((symbol) => ({ symbol, exchange: "NOWHERE" })) },
  };
  const unknown = () => Promise.resolve([post("/api/backtests", { backtest })]);
  await watch("portfolios of 1,000 unknown instruments", unknown);
}

function gets(paths: readonly string[]): Requests {
  return paths.map((path) => ({ path }));
}

function formats(path: string): readonly string[] {
  return ["json", "csv", "arrow"].map((format) => `${path}?format=${format}`);
}

function post(path: string, body: object): Requests[number] {
  const headers = { "content-type": "application/json" };
  return { path, init: { method: "POST", headers, body: JSON.stringify(body) } };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => made ??= make();
}
