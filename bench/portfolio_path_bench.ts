/**
 * Runs over many markets through a service of its own on PostgreSQL, over HTTP:
 * - the rotation of the bench portfolio from its submission to its result, for the first time and again, beside the engine alone and
 *   beside its chunks unpacked;
 * - the memory of a strategy on each of 50 instruments for a year of minutes, beside the columns of its candles.
 *
 * `deno run --allow-all bench/portfolio_path_bench.ts [rounds]`; with TEST_DATABASE_URL as `deno task bench` sets it.
 */
import { type NewChunk, writeChunks } from "../db/candle_chunks.ts";
import { type Db, openPostgres } from "../db/client.ts";
import { ensureInstrument } from "../db/instruments.ts";
import { BufferPool, buffersOf } from "../engine/buffer_pool.ts";
import { type Candles, viewCandles } from "../engine/candles.ts";
import { resolveExecution } from "../engine/execution.ts";
import type { PortfolioMarket } from "../engine/portfolio/portfolio.ts";
import { runPortfolio } from "../engine/portfolio/run_portfolio.ts";
import { CANDLE_COLUMNS } from "../market/archive/candle_columns.ts";
import { makeChunk, openChunk } from "../market/archive/chunk.ts";
import { monthOf } from "../market/timeframes.ts";
import { momentumRotation } from "../strategies/builtin/portfolio/momentum_rotation.ts";
import type { TestClient } from "../tests/support/client.ts";
import { createTestDatabase } from "../tests/support/database.ts";
import { startProcess } from "../tests/support/process.ts";
import { DAY_MS, makeMarkets, MINUTE_MS, ROTATION } from "./many_markets.ts";
import { median, report } from "./measure.ts";

const rounds = Number(Deno.args[0] ?? 9);
const [EACH, MINUTES] = [50, 525_600];
const WARM_UPS = 3;
/** Each first time is one of a universe of its own, of the same candles. */
const FIRST_TIMES = ["A", "B", "C"];
const POOL_BYTES_MAX = 1 << 28;
const BETTER_AUTH_SECRET = "a secret of at least 32 characters";
const UNUSED_ID = "00000000-0000-0000-0000-000000000000";
const [START, END] = ["2014-01-01", "2023-01-01"];

await measureRotation();
await measureMemory();

async function measureRotation(): Promise<void> {
  const markets = makeMarkets(ROTATION.markets, ROTATION.days, DAY_MS);
  const chunks = markets.map(({ candles }) => chunksOf("1d", candles));
  const instruments = (prefix: string) =>
    markets.map(({ symbol }) => ({ symbol: `${prefix}${symbol}`, exchange: "X" }));
  const archive = async (db: Db) => {
    for (const prefix of FIRST_TIMES) {
      for (const [n, { symbol, exchange }] of instruments(prefix).entries()) {
        await store(db, symbol, exchange, chunks[n]!);
      }
    }
  };
  await onService(archive, async (client) => {
    const submit = (prefix: string) =>
      complete(client, {
        ...{ symbol: `${prefix}M0`, exchange: "X", strategy: "Momentum Rotation", start_date: START, end_date: END },
        parameters: { timeframe: "1d", ...ROTATION.parameters, instruments: instruments(prefix) },
      });
    const first: number[] = [];
    for (const prefix of FIRST_TIMES) first.push(await submit(prefix));
    const [warm, engine]: [number[], number[]] = [[], []];
    const pool = new BufferPool(POOL_BYTES_MAX);
    for (let k = 0; k < WARM_UPS + rounds; k++) {
      // Alternating, because other processes may load the machine for a while.
      engine.push(rotate(markets, pool));
      warm.push(await submit("A"));
    }
    const engineMs = median(engine.slice(WARM_UPS));
    const begun = performance.now();
    for (const chunk of chunks.flat()) openChunk({ ...chunk, updatedAt: new Date() });
    const unpackMs = performance.now() - begun;
    const name = `PostgreSQL: rotation of ${markets.length} instruments, ${ROTATION.days} days`;
    await report({
      measure: `${name}, again`,
      ours: median(warm.slice(WARM_UPS)),
      reference: { name: "engine alone", value: engineMs },
      goal: { of: "ratio", most: 2 },
    });
    await report({
      measure: `${name}, for the first time`,
      ours: median(first),
      reference: { name: "unpack and engine", value: unpackMs + engineMs },
      goal: { of: "ratio", most: 2.5 },
    });
  });
}

/** @returns Milliseconds of the engine alone. */
function rotate(markets: readonly PortfolioMarket[], pool: BufferPool): number {
  const begun = performance.now();
  const result = runPortfolio({
    markets,
    timeframeMs: DAY_MS,
    initialBalance: 1e6,
    execution: resolveExecution({}, "crypto"),
    assetClass: "crypto",
    strategy: momentumRotation.create(ROTATION.parameters),
    control: null,
    pool,
  });
  const taken = performance.now() - begun;
  pool.reclaim(buffersOf(result));
  return taken;
}

async function measureMemory(): Promise<void> {
  const [{ candles } = { candles: null }] = makeMarkets(1, MINUTES, MINUTE_MS);
  const chunks = chunksOf("1m", candles!);
  const instruments = Array.from({ length: EACH }, (_, n) => ({ symbol: `M${n}`, exchange: "X" }));
  const archive = async (db: Db) => {
    for (const { symbol, exchange } of instruments) await store(db, symbol, exchange, chunks);
  };
  await onService(archive, async (client, pid) => {
    const submit = (count: number) =>
      complete(client, {
        ...{ symbol: "M0", exchange: "X", strategy: "SMA Cross", start_date: START, end_date: "2015-01-01" },
        parameters: { timeframe: "1m", fast: 50, slow: 200, instruments: instruments.slice(0, count) },
      });
    // The service's own memory, its code included.
    await submit(1);
    const before = readMemory(pid, "VmRSS");
    await submit(EACH);
    const columns = EACH * MINUTES * CANDLE_COLUMNS.length * Float64Array.BYTES_PER_ELEMENT;
    await report({
      measure: `PostgreSQL: the most memory of a strategy on each of ${EACH} instruments, a year of minutes`,
      ours: (readMemory(pid, "VmHWM") - before) / 2 ** 20,
      reference: { name: "the columns of its candles", value: columns / 2 ** 20 },
      unit: "MiB",
      goal: { of: "ratio", most: 1.25 },
    });
  });
}

/** Bytes of a process, as Linux counts them. */
function readMemory(pid: number, name: "VmRSS" | "VmHWM"): number {
  const found = new RegExp(`${name}:\\s+(\\d+) kB`).exec(Deno.readTextFileSync(`/proc/${pid}/status`));
  return Number(found?.[1]) * 1024;
}

async function onService(
  archive: (db: Db) => Promise<void>,
  measure: (client: TestClient, pid: number) => Promise<void>,
): Promise<void> {
  if (!Deno.env.has("TEST_DATABASE_URL")) return;
  const { url, drop } = await createTestDatabase();
  try {
    const handle = await openPostgres(url, 1);
    await archive(handle.db);
    await handle.close();
    const service = await startProcess("serve", { WORKERS: "2", DATABASE_URL: url, BETTER_AUTH_SECRET });
    try {
      const client = service.client();
      await client.signUp();
      await measure(client, service.pid);
    } finally {
      await service.end("SIGTERM");
    }
  } finally {
    await drop();
  }
}

type Chunk = Omit<NewChunk, "instrumentId">;

/** The months of a series. */
function chunksOf(timeframe: "1d" | "1m", candles: Candles) {
  const months = Map.groupBy(candles.time.keys(), (i) => monthOf(candles.time[i]!));
  return [...months].map(([month, rows]) =>
    makeChunk({ instrumentId: UNUSED_ID, timeframe }, month, viewCandles(candles, rows[0]!, rows.at(-1)! + 1))
  );
}

async function store(db: Db, symbol: string, exchange: string, chunks: readonly Chunk[]): Promise<void> {
  const made = { symbol, exchange, assetClass: "crypto", provider: "import" } as const;
  const { id: instrumentId } = await ensureInstrument(db, made);
  await writeChunks(db, chunks.map((chunk) => ({ ...chunk, instrumentId })));
}

/** Submits a run. @returns Milliseconds to its result. */
async function complete(client: TestClient, backtest: object): Promise<number> {
  const begun = performance.now();
  const asked = { backtest: { initial_balance: 1e6, fresh: true, ...backtest } };
  const answer = await client.send("POST", "/api/backtests", asked);
  if (answer.status !== 202) throw new Error(`Cannot submit: ${answer.status} ${answer.text.slice(0, 1000)}`);
  let ended = answer;
  do ended = await client.get(`/api/backtests/${answer.at("/backtest/id")}?wait=30`); while (
    ["queued", "running"].includes(String(ended.at("/backtest/status")))
  );
  if (ended.at("/backtest/status") !== "completed") throw new Error(`Cannot measure: ${ended.text.slice(0, 1000)}`);
  return performance.now() - begun;
}
