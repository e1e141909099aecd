/** Monte Carlo simulations of a user's code: modules, scripts and endpoints run again on each path of candles. */
import { expect } from "@std/expect";
import type { TestClient } from "../support/client.ts";
import type { TestService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { EXAMPLES, readExample } from "./foreign_code.ts";
import { whileFull } from "./monte_carlo_life_steps.ts";

const RUN = {
  symbol: "DEMO",
  exchange: "SAMPLE",
  strategy: "SMA Cross",
  start_date: "2024-02-01",
  end_date: "2024-03-01",
  initial_balance: 1000,
};
const PARAMETERS = { timeframe: "1h", fast: 6, slow: 260, direction: "both" };
const FOURTH = "2024-02-01T03:00:00.000Z";

async function complete(user: TestClient, parameters: object) {
  const created = await user.send("POST", "/api/backtests", { backtest: { ...RUN, parameters } });
  expect([created.status, created.at("/error")]).toEqual([202, undefined]);
  const ended = await user.finish(created.at("/backtest/id"));
  expect([ended.at("/backtest/status"), ended.at("/backtest/error")]).toEqual(["completed", null]);
  return { id: String(created.at("/backtest/id")), metrics: Object(ended.at("/backtest/result/metrics")) };
}

async function submit(user: TestClient, backtest_id: string, change: object = {}): Promise<string> {
  const monte_carlo = { backtest_id, method: "candles", runs: 30, block_days: 3, ...change };
  const answer = await user.send("POST", "/api/monte-carlo", { monte_carlo });
  expect([answer.status, answer.at("/error")]).toEqual([202, undefined]);
  return `/api/monte-carlo/${answer.at("/monte_carlo/id")}`;
}

async function finish(user: TestClient, path: string) {
  return Object((await user.poll(path, "/monte_carlo/status")).at("/monte_carlo"));
}

/** Simulates a completed backtest. The original candles must give its own figures. @returns The result. */
async function simulate(user: TestClient, { id, metrics }: Awaited<ReturnType<typeof complete>>, change: object = {}) {
  const { status, error, result } = await finish(user, await submit(user, id, change));
  expect([status, error]).toEqual(["completed", null]);
  const { final_equity, max_drawdown, sharpe, losing_streak } = result.samples[0].figures;
  expect([final_equity.real, max_drawdown.real, sharpe.real, losing_streak.real])
    .toEqual([metrics.final_equity, metrics.max_drawdown, metrics.sharpe, metrics.max_consecutive_losses]);
  return result;
}

/** The same rules, built in, as a module and as a script, must give the same samples. */
export async function simulateCode(user: TestClient): Promise<void> {
  const builtin = await simulate(user, await complete(user, PARAMETERS));
  const source = await Deno.readTextFile(new URL("../scripts/sma_cross.ts", EXAMPLES));
  const artifact = { content_base64: (await readExample("c/sma_cross.wasm")).toBase64() };
  for (const runtime of [{ type: "wasm", artifact }, { type: "script", source }]) {
    // The code alone knows its warm-up of 261 candles.
    const { samples, failed_paths, notes } = await simulate(user, await complete(user, { ...PARAMETERS, runtime }));
    expect([runtime.type, samples, failed_paths, notes]).toEqual([runtime.type, builtin.samples, [], []]);
  }
}

/** An endpoint is called for one path at a time, each a run of its own, and for a hundred paths at most. */
export async function simulateEndpoint(user: TestClient, endpoint: TestEndpoint): Promise<void> {
  const runtime = { type: "remote", endpoint: endpoint.url, timeoutMs: 60_000 };
  const backtest = await complete(user, { timeframe: "1h", runtime });
  endpoint.runs.clear();
  const { samples: [{ figures }] } = await simulate(user, backtest, { runs: 5 });
  expect(figures.final_equity.paths).toBe(5);
  expect(figures.final_equity.quantiles.p05).toBeLessThan(figures.final_equity.quantiles.p95);
  expect([endpoint.runs.size, endpoint.atOnceMax]).toEqual([6, 1]);
  const monte_carlo = { backtest_id: backtest.id, method: "candles", runs: 101 };
  const answer = await user.send("POST", "/api/monte-carlo", { monte_carlo });
  const issue = {
    path: "/monte_carlo/runs",
    message: "must be at most 100 where candles calls a remote endpoint for each path, not 101",
  };
  expect([answer.status, answer.list("/error/issues")]).toEqual([400, [issue]]);
}

/** A script that does something from the fourth candle on, unless that candle is the real one. */
async function completeHostile(user: TestClient, act: string) {
  const ticks = await user.get(
    "/api/market-data/ticks?symbol=DEMO&exchange=SAMPLE&timeframe=1h&startDate=2024-02-01&endDate=2024-02-02",
  );
  const { close } = Object(ticks.list("/ticks").find((tick) => Object(tick).timestamp === FOURTH));
  const source =
    `strategy(() => { const kept = []; let lot = null; return { decide(i, { time, close }, account, orders) {
    if (account.quantity === 0) orders.buy();
    if (time[i] === ${Date.parse(FOURTH)} && close[i] !== ${close}) lot = Math.floor(close[i] * 1e6) % 8;
    if (lot === null) return;
    ${act}
  } }; });`;
  return await complete(user, { timeframe: "1h", runtime: { type: "script", source } });
}

/** Paths on which a script throws, hangs or grows are counted and said, and the others count. */
export async function simulateHostile(user: TestClient): Promise<void> {
  const backtest = await completeHostile(
    user,
    `if (lot === 0) throw new Error("lot 0");
    while (lot === 1);
    if (lot === 2) kept.push(new Float64Array(8e6).fill(1));`,
  );
  const { samples: [{ figures }], failed_paths, notes } = await simulate(user, backtest, { runs: 12, seed: 356 });
  const counts = Object.fromEntries(failed_paths.map(({ code, paths }: Record<string, unknown>) => [code, paths]));
  const { STRATEGY_OUT_OF_MEMORY: grown = 0, STRATEGY_TIMED_OUT: late = 0, ...others } = counts;
  // On a busy machine the path that grows may be late before it is large.
  expect([grown + late, late > 0, others]).toEqual([2, true, { STRATEGY_FAILED: 2 }]);
  expect(figures.final_equity.paths).toBe(8);
  expect(notes).toContainEqual(expect.stringMatching(
    /^Of 12 paths, 2 fail and are not counted \(STRATEGY_FAILED\): Cannot go on at candle .*: Error: lot 0/,
  ));

  const always = await completeHostile(user, `throw new Error("never on a path");`);
  const failed = await finish(user, await submit(user, always.id, { runs: 4 }));
  expect([failed.status, failed.error.code]).toEqual(["failed", "STRATEGY_FAILED"]);
  expect(failed.error.message).toMatch(/^Cannot finish one of 4 paths\. The first: .*never on a path/);
}

/**
 * A simulation whose paths all hang ends when it is cancelled: the next one, of the same worker, would wait for hours. That one is not
 * made where the quota has been used up since.
 */
export async function cancelHanging(service: TestService, user: TestClient): Promise<void> {
  const hanging = await completeHostile(user, "for (;;);");
  const path = await submit(user, hanging.id, { runs: 10_000 });
  const next = await submit(user, hanging.id, { method: "returns" });
  await until(async () => (await user.get(path)).at("/monte_carlo/status") === "running");
  await whileFull(service, user, async () => {
    expect((await user.send("POST", `${path}/cancel`)).status).toBe(202);
    expect((await finish(user, next)).error.code).toBe("QUOTA_EXCEEDED");
  });
  await simulate(user, await complete(user, PARAMETERS));
}

/** An endpoint that holds by the hour of the day, with what it was asked. */
export interface TestEndpoint {
  readonly url: string;
  /** The `run_id` of each run. */
  readonly runs: Set<string>;
  /** Most requests that were answered at the same time. */
  readonly atOnceMax: number;
  shutdown(): Promise<void>;
}

export function startEndpoint(): TestEndpoint & { readonly host: string } {
  const runs = new Set<string>();
  let [atOnce, atOnceMax] = [0, 0];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    atOnceMax = Math.max(atOnceMax, ++atOnce);
    const { run_id, candles, asked } = await request.json();
    runs.add(run_id);
    const hours = candles.time.slice(-asked).map((time: number) => time / 3_600_000 % 24);
    const decisions = hours.map((hour: number) =>
      hour === 0 ? [{ action: "close" }] : hour === 10 ? [{ side: "buy", when: "not_long" }] : []
    );
    atOnce--;
    return Response.json({ version: 1, decisions });
  });
  const host = `127.0.0.1:${server.addr.port}`;
  return {
    host,
    url: `http://${host}/`,
    runs,
    get atOnceMax() {
      return atOnceMax;
    },
    shutdown: () => server.shutdown(),
  };
}
