/**
 * Measures portfolios, in processor time and ratios of one run:
 * - a monthly momentum rotation over 500 instruments and ten years of days, beside the same rules in C (portfolio_bench.c): once what C
 *   does, too, and once with all that a result has;
 * - the same strategy on each of 50 instruments for a year of minutes, with one account, beside as many single runs; and beside these what
 *   an account has to do on top of them, in plain loops: to add 50 positions up at each close and at each open.
 *
 * `deno run --allow-all bench/portfolio_bench.ts [runs]`. Without a C compiler the first is measured alone.
 */
import { BufferPool, buffersOf } from "../engine/buffer_pool.ts";
import { resolveExecution } from "../engine/execution.ts";
import { findAsks } from "../engine/portfolio/decisions.ts";
import type { PortfolioMarket } from "../engine/portfolio/portfolio.ts";
import { beginPortfolio, runPortfolio } from "../engine/portfolio/run_portfolio.ts";
import { run } from "../engine/run.ts";
import { momentumRotation } from "../strategies/builtin/portfolio/momentum_rotation.ts";
import { smaCross } from "../strategies/builtin/sma_cross.ts";
import { DAY_MS, makeMarkets, MINUTE_MS, ROTATION } from "./many_markets.ts";
import { measureCpu, median, report } from "./measure.ts";

const RUNS = Number(Deno.args[0] ?? 9);
// Until then the compiler still works on what is measured.
const WARM_UPS = 20;
const [EACH, MINUTES] = [50, 525_600];
const POOL_BYTES_MAX = 1 << 28;

const execution = resolveExecution({ commission: 0.001, marginCall: false }, "crypto");

async function measureRotation(): Promise<void> {
  const { markets: count, days, parameters } = ROTATION;
  const markets = makeMarkets(count, days, DAY_MS);
  const pool = new BufferPool(POOL_BYTES_MAX);
  const request = () => ({
    markets,
    timeframeMs: DAY_MS,
    initialBalance: 1e6,
    execution,
    strategy: momentumRotation.create(parameters),
    control: null,
    pool,
  });
  const rules = () => {
    beginPortfolio(request()).simulation.run(null);
    pool.reclaim(new Set());
  };
  const whole = () => {
    const { equity } = runPortfolio(request());
    pool.reclaim(new Set());
    return equity.at(-1)!;
  };
  const c = await runC(markets, whole());
  const times: [number, number][] = [];
  for (let k = 0; k < RUNS + WARM_UPS; k++) times.push([measureCpu(rules), measureCpu(() => void whole())]);
  const reference = c === null ? null : { name: "the same rules in C", value: c };
  const name = `rotation of ${count} instruments, ${days} days`;
  const measured = times.slice(WARM_UPS);
  await report({ measure: name, ours: median(measured.map(([ms]) => ms)), reference, goal: { of: "ratio", most: 2 } });
  // C makes neither metrics nor the table of contributions nor the matrix of correlations.
  await report({ measure: `${name}, metrics and tables too`, ours: median(measured.map(([, ms]) => ms)), reference });
}

/** Processor time of the C program, whose final equity must be the engine's to nine digits; null without a compiler. */
async function runC(markets: readonly PortfolioMarket[], equity: number): Promise<number | null> {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-bench-" });
  try {
    const program = `${folder}/portfolio_bench`;
    const source = new URL("portfolio_bench.c", import.meta.url).pathname;
    const compiled = await new Deno.Command("cc", { args: ["-O3", "-march=native", "-o", program, source, "-lm"] })
      .output()
      .catch(() => null);
    if (compiled?.success !== true) return null;
    const { time } = markets[0]!.candles;
    const asks = findAsks({ every: "month" }, { dates: time, instant: time }, 0);
    const file = await Deno.open(`${folder}/data`, { write: true, create: true });
    const write = async (column: Float64Array) => {
      for (let bytes = new Uint8Array(column.slice().buffer); bytes.length > 0;) {
        bytes = bytes.subarray(await file.write(bytes));
      }
    };
    await write(Float64Array.from(asks));
    for (const { candles } of markets) {
      const { open, high, low, close } = candles;
      for (const column of [candles.time, open, high, low, close]) await write(column);
    }
    file.close();
    const { days, parameters: { top, lookback } } = ROTATION;
    const args = [`${folder}/data`, markets.length, days, top, lookback, RUNS + WARM_UPS].map(String);
    const { stdout } = await new Deno.Command(program, { args }).output();
    const lines = new TextDecoder().decode(stdout).trim().split("\n").map((line) => line.split(" ").map(Number));
    const found = lines[0]![1]!;
    if (Math.abs(found / equity - 1) > 1e-9) {
      throw new Error(`Cannot compare speeds: C ends with ${found}, and not ${equity}`);
    }
    return median(lines.slice(WARM_UPS).map(([ms]) => ms!));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function measureEach(): Promise<void> {
  const markets = makeMarkets(EACH, MINUTES, MINUTE_MS);
  const strategyOf = () =>
    smaCross.create({ fast: 50, slow: 200, direction: "both", stopLossLevel: 0, takeProfitLevel: 0 });
  const pool = new BufferPool(POOL_BYTES_MAX);
  const settings = {
    timeframeMs: MINUTE_MS,
    initialBalance: 1e6,
    execution: { ...execution, commission: { ...execution.commission, rate: 0 } },
    control: null,
    pool,
  };
  const together = () => {
    const strategy = { kind: "each", strategies: markets.map(strategyOf), positionsMax: EACH, rank: "listed" } as const;
    buffersOf(runPortfolio({ ...settings, markets, strategy }));
    pool.reclaim(new Set());
  };
  const apart = () => {
    for (const { candles } of markets) {
      run({ ...settings, candles, firstIndex: 0, strategy: strategyOf() });
      pool.reclaim(new Set());
    }
  };
  const columns = markets.map(({ candles: { open, close } }) => ({ open, close }));
  const sums = new Float64Array(MINUTES);
  const valued = () => {
    for (const prices of ["close", "open"] as const) sumPositions(columns.map((each) => each[prices]), sums);
  };
  const times: [number, number, number][] = [];
  for (let k = 0; k < Math.ceil(RUNS / 3) + 1; k++) {
    times.push([measureCpu(together), measureCpu(apart), measureCpu(valued)]);
  }
  const reference = { name: `${EACH} single runs`, value: median(times.slice(1).map(([, alone]) => alone)) };
  await report({
    measure: `a strategy on each of ${EACH} instruments, a year of minutes, one account`,
    ours: median(times.slice(1).map(([ours]) => ours)),
    reference,
    goal: { of: "ratio", most: 1.2 },
  });
  await report({
    measure: `the sums of ${EACH} positions at each close and each open of them, in plain loops`,
    ours: median(times.slice(1).map(([, , valuedMs]) => valuedMs)),
    reference,
  });
}

/** Adds positions up at each price, some rows at a time as price_window.ts has them. */
function sumPositions(columns: readonly Float64Array[], sums: Float64Array): void {
  const [rows, stride] = [64, 72];
  const window = new Float64Array(columns.length * stride);
  const quantity = new Float64Array(columns.length).fill(1);
  for (let first = 0; first < sums.length; first += rows) {
    const count = Math.min(rows, sums.length - first);
    columns.forEach((prices, n) => {
      for (let k = 0; k < count; k++) window[n * stride + k] = prices[first + k]!;
    });
    for (let k = 0; k < count; k++) {
      let sum = 0;
      for (let n = 0; n < quantity.length; n++) sum += quantity[n]! * window[n * stride + k]!;
      sums[first + k] = sum;
    }
  }
}

await measureRotation();
await measureEach();
