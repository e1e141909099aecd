/**
 * How long another user's requests take while one user reads long lists: on an embedded database and on PostgreSQL, over HTTP to a
 * process of its own with the permissions of its task.
 *
 * `deno run --allow-all bench/lists_bench.ts [FILTER]`: only readings whose names contain the filter; with TEST_DATABASE_URL as
 * `deno task bench` sets it.
 */
import { type DatabaseHandle, openPglite, openPostgres } from "../db/client.ts";
import { createTestDatabase } from "../tests/support/database.ts";
import { startProcess } from "../tests/support/process.ts";
import { importLongest, LONGEST, storeTrades, storeTrials } from "./lists_records.ts";
import { watchOthers } from "./others.ts";

const [filter = ""] = Deno.args;

/** The records whose lists are read. */
interface Records {
  readonly optimization: string;
  /** Over a year of minutes, with many trades. */
  readonly backtest: string;
  /** The same with other parameters. */
  readonly other: string;
  /** The same two over the longest range that a run may have. */
  readonly longest: string;
  readonly otherLongest: string;
}

const TRADES = "10 lists of all trades";
const COMPARES = "10 compares of long runs";
const REPORTS = "10 reports of long runs";
const ALL = "30 readings of all kinds";
const LONGEST_READINGS = {
  trades: "10 lists of all trades of the longest run",
  orders: "10 lists of all orders of the longest run",
  compares: "10 compares of the longest runs",
  reports: "10 reports of the longest run",
} as const;
const comparePath = ({ backtest, other }: Records) => `/api/backtests/compare?ids=${backtest},${other}`;
const needs = (names: readonly string[]) => names.some((name) => name.includes(filter));

/** By name: paths, which a number of readers read in turn, all at once, again and again. */
const READINGS: Readonly<Record<string, readonly [readers: number, paths: (records: Records) => readonly string[]]>> = {
  "nothing": [0, () => []],
  "16 lists of all trials": [16, ({ optimization }) => [`/api/optimizations/${optimization}/trials`]],
  "16 lists of all trials as CSV": [16, ({ optimization }) => [`/api/optimizations/${optimization}/trials?format=csv`]],
  "16 lists of all trials as Arrow": [
    16,
    ({ optimization }) => [`/api/optimizations/${optimization}/trials?format=arrow`],
  ],
  [TRADES]: [10, ({ backtest }) => [`/api/backtests/${backtest}/trades`]],
  [COMPARES]: [10, (records) => [comparePath(records)]],
  [REPORTS]: [10, ({ backtest }) => [`/api/backtests/${backtest}/report`]],
  [LONGEST_READINGS.trades]: [10, ({ longest }) => [`/api/backtests/${longest}/trades`]],
  [LONGEST_READINGS.orders]: [10, ({ longest }) => [`/api/backtests/${longest}/orders`]],
  [LONGEST_READINGS.compares]: [
    10,
    ({ longest, otherLongest }) => [`/api/backtests/compare?ids=${longest},${otherLongest}&points=2000`],
  ],
  [LONGEST_READINGS.reports]: [10, ({ longest }) => [`/api/backtests/${longest}/report`]],
  [ALL]: [30, (records) => [
    `/api/optimizations/${records.optimization}/trials`,
    `/api/optimizations/${records.optimization}/trials?sort=sharpe&limit=200`,
    `/api/backtests/${records.backtest}/trades`,
    `/api/backtests/${records.backtest}/orders?format=csv`,
    `/api/backtests/${records.backtest}/report`,
    comparePath(records),
  ]],
  "20 pages of trials by a metric": [
    20,
    ({ optimization }) => [`/api/optimizations/${optimization}/trials?sort=sharpe&limit=200`],
  ],
};

const folder = await Deno.makeTempDir({ prefix: "hindcast-bench-" });
try {
  await measure("embedded", { DATA_DIR: folder }, () => openPglite(`${folder}/database`));
} finally {
  await Deno.remove(folder, { recursive: true });
}
if (Deno.env.has("TEST_DATABASE_URL")) {
  const { url, drop } = await createTestDatabase();
  try {
    await measure(
      "PostgreSQL",
      { DATABASE_URL: url, BETTER_AUTH_SECRET: "a secret of at least 32 characters" },
      () => openPostgres(url, 2),
    );
  } finally {
    await drop();
  }
}

async function measure(
  kind: string,
  environment: Record<string, string>,
  open: () => Promise<DatabaseHandle>,
): Promise<void> {
  await using servers = new AsyncDisposableStack();
  const secret = "a secret of a bench";
  const settings = { WORKERS: "1", INGESTION_ADMIN_SECRET: secret, ...environment };
  const first = await startProcess("serve", settings);
  const [signedUp, otherSignedUp] = [first.client(), first.client()];
  await signedUp.signUp();
  await otherSignedUp.signUp();
  const ownerId = String((await signedUp.get("/api/session")).at("/user/id"));
  const none = ["", ""] as const;
  const runs = needs([TRADES, COMPARES, REPORTS, ALL]) ? await storeTrades(signedUp, {}, [2, 3]) : none;
  const needsLongest = needs(Object.values(LONGEST_READINGS));
  if (needsLongest) await importLongest(first.url, secret);
  const longest = needsLongest ? await storeTrades(signedUp, LONGEST, [10, 20]) : none;
  // The embedded database serves one process.
  await first.end("SIGTERM");
  const handle = await open();
  const needsTrials = Object.keys(READINGS).some((name) => /trials|kinds/.test(name) && name.includes(filter));
  const optimization = needsTrials ? await storeTrials(handle.db, ownerId) : "";
  await handle.close();
  const service = await startProcess("serve", settings);
  servers.defer(async () => void await service.end("SIGTERM"));
  const [reader, other] = [service.client(), service.client()];
  reader.cookie = signedUp.cookie;
  other.cookie = otherSignedUp.cookie;
  const records = {
    ...{ optimization, backtest: runs[0], other: runs[1] },
    ...{ longest: longest[0], otherLongest: longest[1] },
  };
  for (const [name, [readers, paths]] of Object.entries(READINGS)) {
    if (!name.includes(filter)) continue;
    const requests = paths(records).map((path) => ({ path }));
    await watchOthers(kind, { name, readers, requests }, { reader, other });
  }
}
