import { expect } from "@std/expect";
import type { RunProgress } from "../../../../engine/control.ts";
import { resolveExecution } from "../../../../engine/execution.ts";
import { FILLED } from "../../../../engine/order_columns.ts";
import { ORDER_TYPES, SIZES_BY } from "../../../../engine/strategy.ts";
import type { RemoteTask } from "../../../../workers/common/remote_task.ts";
import { runRemote } from "../../../../workers/sandbox/remote/run.ts";
import { remoteTask, type Request, serveDecisions, serveJson, wave } from "./endpoints.ts";

/** Runs an endpoint to its end. Returns the outcome and the reported progress, after comparing its equity with the result's. */
async function runToEnd(url: string, given: Partial<RemoteTask>) {
  const reported: RunProgress[] = [];
  const answer = await runRemote(await remoteTask(url, given), (progress) => reported.push(progress));
  if (answer.type !== "completed") throw new Error(JSON.stringify(answer));
  const progress = reported.map(({ candlesDone }) => candlesDone);
  expect(reported.map(({ equity }) => equity)).toEqual(progress.map((done) => answer.result.equity[done - 1]));
  return { ...answer, progress };
}

/** Simple prices: each open is the last close. */
function prices(close: readonly number[]) {
  const closes = Float64Array.from(close);
  const open = closes.map((_, i) => closes[Math.max(0, i - 1)]!);
  return {
    ...wave(close.length),
    close: closes,
    open,
    high: closes.map((price, i) => Math.max(price, open[i]!)),
    low: closes.map((price, i) => Math.min(price, open[i]!)),
  };
}

Deno.test("the metrics of a remote run depend on the asset class: a forex weekend has no daily returns", async () => {
  await using endpoint = serveDecisions(({ first_asked }) => first_asked === 0 ? [{ side: "buy", size: 100 }] : []);
  // Thursday to Sunday: 100 are bought at Friday's open of 50, and are worth 4000 at its close and 1000 at Saturday's.
  const days = Float64Array.of(3, 4, 5, 6).map((day) => Date.UTC(2024, 0, 1 + day));
  const task = { candles: { ...prices([50, 40, 10, 10]), time: days }, timeframeMs: 86_400_000, mode: "step" } as const;
  const worstDay = async (assetClass: "crypto" | "forex") =>
    (await runToEnd(endpoint.url, { ...task, assetClass })).result.metrics.worst_day;
  expect(await worstDay("crypto")).toBe(6000 / 9000 - 1);
  expect(await worstDay("forex")).toBe(6000 / 10_000 - 1);
});

Deno.test("an ambiguous trade of a remote run has no bounds: the decisions after the other outcome are not known", async () => {
  const guarded = { side: "buy", size: 100, stop_loss: 40, take_profit: 60 };
  await using endpoint = serveDecisions(({ first_asked }) => first_asked === 0 ? [guarded] : []);
  const candles = { ...prices([50, 50, 50]), high: Float64Array.of(50, 70, 50), low: Float64Array.of(50, 30, 50) };
  for (const mode of ["batch", "step"] as const) {
    const { result } = await runToEnd(endpoint.url, { candles, mode });
    expect(result.metrics.ambiguous_trades).toBe(1);
    expect(result.bounds).toBeNull();
  }
});

Deno.test("in batch mode decisions fill at the next open, and the result has a note about the mode", async () => {
  await using endpoint = serveDecisions(({ first_asked, candles, asked }, at) => {
    const candle = first_asked + at - (candles.time.length - asked);
    if (candle === 1) return [{ side: "buy", size: 2, tag: "in" }];
    return candle === 3 ? [{ action: "close", tag: "out" }] : [];
  });
  const { result, integrity, progress } = await runToEnd(endpoint.url, { candles: prices([10, 20, 30, 40, 50, 60]) });
  // Bought 2 at candle 2's open, which is 20; sold at candle 4's open, which is 40.
  expect([...result.equity]).toEqual([10_000, 10_000, 10_020, 10_040, 10_040, 10_040]);
  expect([...result.trades.tag]).toEqual(["in"]);
  expect(progress).toEqual([6]);
  expect(result.notes.join()).toContain("it got later candles together with those to decide on, and no account");
  expect([integrity.lookahead.status, integrity.determinism.status, integrity.orders.status]).toEqual([
    "passed",
    "passed",
    "passed",
  ]);
});

Deno.test("a run is cut into batches of 64, 256, 1024 and then 4096 candles, each with the requested history", async () => {
  await using endpoint = serveDecisions(() => []);
  const { progress } = await runToEnd(endpoint.url, { candles: wave(10_000), firstIndex: 100, lookbackCandles: 150 });
  const batches = endpoint.requests.slice(0, 6).sort((a, b) => a.first_asked - b.first_asked);
  expect(batches.map(({ first_asked, asked, candles }) => [first_asked, asked, candles.time.length])).toEqual([
    // 100 candles of history exist before the range.
    [0, 64, 164],
    [64, 256, 406],
    [320, 1024, 1174],
    [1344, 4096, 4246],
    [5440, 4096, 4246],
    [9536, 364, 514],
  ]);
  expect(progress).toEqual([64, 320, 1344, 5440, 9536, 9900]);
});

Deno.test("no decision is asked for before minCandles have been seen", async () => {
  await using endpoint = serveDecisions(() => []);
  await runToEnd(endpoint.url, { candles: wave(50), firstIndex: 3, minCandles: 11 });
  // The eleventh candle has index 10, and number 7 in the range.
  expect(Math.min(...endpoint.requests.map(({ first_asked }) => first_asked))).toBe(7);
});

Deno.test("in step mode each request carries the account, its trades and its working orders, and no later candle", async () => {
  await using endpoint = serveJson((request: Request) => {
    const actions: Record<number, unknown[]> = {
      0: [{ side: "buy", size: 2 }, { side: "sell", type: "limit", limit_price: 1000, size: 1, id: "target" }],
      2: [{ action: "cancel", id: "target" }, { action: "close", trade: request.open_trades?.[0]?.trade }],
    };
    return { version: 1, decisions: [actions[request.first_asked] ?? []] };
  });
  const run = await runToEnd(endpoint.url, { mode: "step", candles: prices([10, 20, 30, 40, 50]), lookbackCandles: 1 });
  const steps = endpoint.requests.slice(0, 5);
  expect(steps.map(({ mode, asked, candles }) => [mode, asked, ...candles.close])).toEqual([
    ["step", 1, 10],
    ["step", 1, 10, 20],
    ["step", 1, 20, 30],
    ["step", 1, 30, 40],
    ["step", 1, 40, 50],
  ]);
  // Bought 2 at candle 1's open, 10; closed at candle 3's open, 30.
  expect(steps.map(({ account, open_trades, working_orders }) => ({ account, open_trades, working_orders })))
    .toMatchObject([
      { account: account(10_000, 10_000, 0, null), open_trades: [], working_orders: [] },
      { account: account(9980, 10_020, 2, 10), open_trades: [open(2, 10)], working_orders: ["target"] },
      { account: account(9980, 10_040, 2, 10), open_trades: [open(2, 10)], working_orders: ["target"] },
      { account: account(10_040, 10_040, 0, null), open_trades: [], working_orders: [] },
      { account: account(10_040, 10_040, 0, null), open_trades: [], working_orders: [] },
    ]);
  expect([...run.result.equity]).toEqual([10_000, 10_020, 10_040, 10_040, 10_040]);
  expect(run.progress).toEqual([1, 2, 3, 4, 5]);
  expect([run.integrity.lookahead.status, run.integrity.determinism.status]).toEqual(["passed", "passed"]);
  expect(run.result.notes).toEqual([]);

  function account(cash: number, equity: number, quantity: number, entry_price: number | null) {
    return { cash, equity, quantity, entry_price };
  }
  function open(quantity: number, entry_price: number) {
    return { trade: 0, quantity, entry_price };
  }
});

Deno.test("in step mode the requests end once nothing is left of the account", async () => {
  await using endpoint = serveJson(({ first_asked }: Request) => ({
    version: 1,
    decisions: [first_asked === 0 ? [{ side: "buy", size: 1000 }] : []],
  }));
  const execution = resolveExecution({ leverage: 10, marginCall: false }, "crypto");
  const candles = prices([100, 100, 50, 50, 50]);
  const { result } = await runToEnd(endpoint.url, { mode: "step", candles, execution, initialBalance: 20_000 });
  // 1000 units at 100 with 20,000 of one's own: at 50 they have lost 50,000.
  expect(result.equity[2]).toBe(0);
  expect(Math.max(...endpoint.requests.map(({ first_asked }) => first_asked))).toBe(1);
});

Deno.test("every field of an order arrives in the simulator", async () => {
  await using endpoint = serveDecisions(({ first_asked, candles, asked }, at) => {
    if (first_asked + at - (candles.time.length - asked) !== 0) return [];
    return [
      { side: "buy", size: 3 },
      { side: "buy", type: "limit", limit_price: 9, size: 0.1, size_by: "equity_fraction", candles_max: 2, id: "a" },
      {
        side: "sell",
        type: "stop_limit",
        stop_price: 8,
        limit_price: 7,
        size: 100,
        size_by: "cash",
        reduce_only: true,
      },
      { side: "buy", type: "stop", stop_price: 500, size: 0.02, size_by: "risk_fraction", stop_loss: 1, tag: "far" },
      { action: "replace", id: "a", side: "buy", type: "limit", limit_price: 6, size: 4 },
      { action: "cancel", id: "nobody" },
    ];
  });
  const { result: { orders } } = await runToEnd(endpoint.url, { candles: prices([10, 10, 10, 10]) });
  const rows = Array.from({ length: orders.count }, (_, row) => [
    orders.side[row],
    ORDER_TYPES[orders.type[row]!],
    orders.limitPrice[row],
    orders.stopPrice[row],
    orders.quantity[row],
    orders.tag[row],
  ]);
  expect(rows).toEqual([
    [1, "market", NaN, NaN, 3, null],
    [1, "limit", 9, NaN, NaN, null],
    [-1, "stop_limit", 7, 8, NaN, null],
    [1, "stop", NaN, 500, NaN, "far"],
    [1, "limit", 6, NaN, 4, null],
  ]);
  expect(orders.status[0]).toBe(FILLED);
  expect(SIZES_BY.length).toBe(5);
});

Deno.test("stops, targets, trails and time stops that an endpoint attaches close its trades", async () => {
  const attached: readonly (readonly [fields: object, exit: number | null])[] = [
    // Bought at candle 1's open, 100; the closes go 100, 104, 108, 102, 96, 90.
    [{ stop_loss: 97 }, 97],
    [{ stop_loss_fraction: 0.08 }, 92],
    [{ take_profit: 107 }, 107],
    [{ take_profit_fraction: 0.05 }, 105],
    // From the best price, 108.
    [{ trail_distance: 7 }, 101],
    [{ trail_fraction: 0.25 }, null],
    // Two candles after candle 1: at candle 3's open, which is candle 2's close.
    [{ time_stop_candles: 2 }, 108],
  ];
  for (const [fields, exit] of attached) {
    await using endpoint = serveDecisions(({ first_asked, candles, asked }, at) =>
      first_asked + at - (candles.time.length - asked) === 0 ? [{ side: "buy", size: 1, ...fields }] : []
    );
    const { result } = await runToEnd(endpoint.url, { candles: prices([100, 104, 108, 102, 96, 90]) });
    const price = result.trades.exitPrice[0]!;
    expect([fields, Number.isNaN(price) ? null : price]).toEqual([fields, exit]);
  }
});

Deno.test("`when` looks at the position at the close, and `protect` moves the stops of what is open", async () => {
  await using endpoint = serveDecisions(({ first_asked, candles, asked }, at) => {
    const candle = first_asked + at - (candles.time.length - asked);
    return [
      { side: "buy", size: 1, when: candle < 4 ? "not_long" : "in_position" },
      ...(candle === 2 ? [{ action: "protect", stop_loss: 95, take_profit: null, when: "long" }] : []),
      { action: "close", when: "short" },
    ].filter(() => candle < 4);
  });
  const { result } = await runToEnd(endpoint.url, { candles: prices([100, 101, 102, 94, 94, 94, 94]) });
  // Bought once at candle 1 for 100; stopped at 95 in candle 3, and bought again at candle 4's open because it was flat then.
  expect([...result.trades.entryPrice.subarray(0, 2)]).toEqual([100, 94]);
  expect(result.trades.exitPrice[0]).toBe(95);
  expect(result.orders.count).toBe(2);
});

Deno.test("a fault of the endpoint fails the run, with its host in the message", async () => {
  await using endpoint = serveJson(() => ({ version: 1, decisions: [] }));
  const answer = await runRemote(await remoteTask(endpoint.url), () => {});
  const { host } = new URL(endpoint.url);
  expect(answer).toEqual({
    ...{ log: [], plots: [] },
    type: "failed",
    code: "INVALID_SIGNAL",
    message:
      `Cannot use the answer of ${host} for candle 0 (2024-01-01T00:00:00.000Z): /decisions must have 10 entries, one for each candle, not 0`,
  });
});
