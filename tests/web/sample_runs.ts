import { BACKTEST, type TestClient } from "../support/client.ts";

import { SAMPLE_MEMBERS } from "../../market/feeds/sample_stocks.ts";

const YEAR = { ...BACKTEST, start_date: "2024-01-01", end_date: "2025-01-01", initial_balance: 10_000 };
const LONG_NAME = "A strategy with a name as long as names may be, to see that every page still holds together nicely";

/** Runs that show a console's pages at their best and at their worst, by what they show. */
const RUNS = {
  good: {
    ...YEAR,
    tags: ["breakout", "hourly"],
    star: true,
    notes: "Wider stops lose less often but more.\nNext: the same with a filter for the trend.",
    strategy: "Donchian Breakout",
    parameters: { timeframe: "1h", stopLossLevel: 0.03, takeProfitLevel: 0.08, execution: { commission: 0.0005 } },
  },
  failed: { ...YEAR, start_date: "2023-01-01", end_date: "2023-02-01" },
  "no-trades": { ...YEAR, parameters: { timeframe: "1d", fast: 400, slow: 900 } },
  "many-trades": {
    ...YEAR,
    name: "Crossing every few minutes",
    parameters: { timeframe: "1m", fast: 10, slow: 30 },
  },
  "long-names": {
    ...YEAR,
    symbol: "SYMBOL-OF-NINETY-CHARACTERS-ABCDEFGHIJKLMNOPQRSTUVWXYZ-ABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789",
    exchange: "EXCHANGE-WITH-A-VERY-LONG-NAME-INDEED",
    strategy: LONG_NAME,
    name: `Name: ${LONG_NAME}`,
    tags: ["a-tag-of-fifty-characters-abcdefghijklmnopqrstuvwx", "two", "three", "four", "five"],
    parameters: {
      timeframe: "1h",
      runtime: { type: "remote", endpoint: "https://strategies.example.com/a/rather/long/path/to/an/endpoint" },
      aParameterWhoseNameIsLong: "and whose value is longer than anybody would want to read in one line",
    },
  },
  portfolio: {
    ...{ symbol: "OAK", exchange: "SAMPLE", start_date: "2022-07-01", end_date: "2025-01-01", initial_balance: 10_000 },
    strategy: "Momentum Rotation",
    parameters: {
      instruments: [...SAMPLE_MEMBERS],
      ...{ timeframe: "1d", top: 3, lookback: 126, every: "month", execution: { commission: 0.001 } },
    },
  },
} as const;

export type SampleRun = keyof typeof RUNS;
export const SAMPLE_RUNS: readonly SampleRun[] = [
  "good",
  "failed",
  "no-trades",
  "many-trades",
  "long-names",
  "portfolio",
];

/** Makes a universe of the sample's stocks with two versions. @returns Its slug. */
export async function makeUniverse(client: TestClient): Promise<string> {
  const slug = "sample-stocks";
  const universe = {
    slug,
    description: "Invented stocks with days of 2022 to 2024",
    members: SAMPLE_MEMBERS.slice(0, 8),
  };
  const made = await client.send("POST", "/api/universes", { universe });
  if (made.status !== 201) throw new Error(`Cannot make the universe: ${made.text}`);
  await client.send("POST", `/api/universes/${slug}/versions`, { version: { members: SAMPLE_MEMBERS } });
  return slug;
}

/** Submits one of the sample runs and waits for its end. @returns Its id. */
export async function makeRun(client: TestClient, name: SampleRun): Promise<string> {
  const submitted = await client.send("POST", "/api/backtests", { backtest: RUNS[name] });
  const id = submitted.at("/backtest/id");
  if (typeof id !== "string") throw new Error(`Cannot make the sample run ${name}: ${submitted.text}`);
  await client.finish(id);
  return id;
}

/** Makes an optimization of a year of hours over two parameters. @returns Its id. */
export function makeOptimization(client: TestClient): Promise<string> {
  return finishOptimization(client, {
    ...YEAR,
    strategy: "SMA Cross",
    name: "Slow and fast averages",
    parameters: { timeframe: "1h", execution: { commission: 0.0005 } },
    space: { fast: { min: 4, max: 48, step: 4 }, slow: { min: 20, max: 200, step: 10 } },
    constraints: ["slow - fast >= 10"],
    walk_forward: { train_days: 120, test_days: 40 },
  });
}

/** Makes a scan of the sample's stocks over one parameter. @returns Its id. */
export function makeScan(client: TestClient): Promise<string> {
  return finishOptimization(client, {
    ...{ symbol: "OAK", exchange: "SAMPLE", start_date: "2022-07-01", end_date: "2025-01-01", initial_balance: 10_000 },
    strategy: "SMA Cross",
    name: "The same rule on twelve stocks",
    parameters: { timeframe: "1d", slow: 50, execution: { commission: 0.0005 } },
    space: { fast: { min: 3, max: 24, step: 3 } },
    markets: { instruments: SAMPLE_MEMBERS },
  });
}

/** Submits an optimization and waits for its end. @returns Its id. */
async function finishOptimization(client: TestClient, optimization: object): Promise<string> {
  const submitted = await client.send("POST", "/api/optimizations", { optimization });
  const id = submitted.at("/optimization/id");
  if (typeof id !== "string") throw new Error(`Cannot make the sample optimization: ${submitted.text}`);
  await client.poll(`/api/optimizations/${id}`, "/optimization/status");
  return id;
}
