/**
 * A scan over HTTP, of 20 points in 100 markets with a year of hours each, beside an optimization of as many trials in one market: both
 * to a process of its own on PostgreSQL, in its processor time from the submission to the end, after candles and code are warm.
 *
 * `deno run --allow-all bench/scan_bench.ts [rounds]`; with TEST_DATABASE_URL as `deno task bench` sets it.
 */
import { openPostgres } from "../db/client.ts";
import { ensureInstrument } from "../db/instruments.ts";
import { storeCandles } from "../market/archive/store.ts";
import type { TestClient } from "../tests/support/client.ts";
import { KINDS, onBothDatabases } from "./both_databases.ts";
import { median, readCpuMs, report } from "./measure.ts";
import { optimizeToEnd } from "./optimize_to_end.ts";
import { readYear } from "./run_path_cases.ts";
import { startProcess } from "../tests/support/process.ts";

const rounds = Number(Deno.args[0] ?? 5);
const WARM_UPS = 2;
const MARKETS = Array.from({ length: 100 }, (_, n) => `SCAN${n}`);
const SCAN = { markets: { instruments: MARKETS.map((symbol) => ({ symbol, exchange: "BENCH" })) } };
/** 4 x 5 points, and 20 x 100 over the same ranges: short averages trade more often. */
const POINTS = { fast: { min: 5, max: 23, step: 6 }, slow: { min: 30, max: 426, step: 99 } };
const TRIALS = { fast: { min: 5, max: 24, step: 1 }, slow: { min: 30, max: 426, step: 4 } };

const year = await readYear();
await onBothDatabases(year, async (kind, environment) => {
  await archiveMarkets(environment.DATABASE_URL!);
  const service = await startProcess("serve", { WORKERS: String(navigator.hardwareConcurrency), ...environment });
  try {
    const client = service.client();
    await client.signUp();
    const times: [scan: number, one: number][] = [];
    for (let k = 0; k < WARM_UPS + rounds; k++) {
      times.push([
        await measure(service.pid, () => optimize(client, { ...SCAN, space: POINTS })),
        await measure(service.pid, () => optimize(client, { space: TRIALS })),
      ]);
    }
    const warm = times.slice(WARM_UPS);
    await report({
      measure: `${kind}: a scan of 100 markets x 20 points, a year of 1h, processor time`,
      ours: median(warm.map(([scan]) => scan)),
      reference: { name: "2,000 trials of one market", value: median(warm.map(([, one]) => one)) },
      goal: { of: "ratio", most: 1.3 },
    });
  } finally {
    await service.end("SIGTERM");
  }
}, KINDS.filter((kind) => kind === "PostgreSQL"));

async function archiveMarkets(url: string): Promise<void> {
  const { db, close } = await openPostgres(url, 1);
  for (const symbol of MARKETS) {
    const made = { symbol, exchange: "BENCH", assetClass: "crypto", provider: "import" } as const;
    const { id } = await ensureInstrument(db, made);
    await db.transaction((tx) => storeCandles(tx, { instrumentId: id, timeframe: "1h" }, year.candles["1h"]));
  }
  await close();
}

/** @returns Milliseconds of processor time that the service took for the work. */
async function measure(pid: number, work: () => Promise<void>): Promise<number> {
  const before = readCpuMs(pid);
  await work();
  return readCpuMs(pid) - before;
}

/** Optimizes over HTTP, from the submission to the end. */
async function optimize(client: TestClient, what: object): Promise<void> {
  const { ended } = await optimizeToEnd(client, {
    ...{ symbol: MARKETS[0], exchange: "BENCH", start_date: "2024-01-01", end_date: "2025-01-01" },
    ...{ initial_balance: 1_000_000, strategy: "SMA Cross", trials_max: 2000, parameters: { timeframe: "1h" } },
    ...what,
  });
  if (ended.at("/optimization/points/done") !== 2000) throw new Error(`Cannot measure: ${ended.text.slice(0, 2000)}`);
}
