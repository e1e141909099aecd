/** Modules that decide on many markets, in a service with the permissions of the task. */
import { expect } from "@std/expect";
import { BACKTEST, type TestClient } from "../support/client.ts";
import { serveMarkets } from "../support/made_markets.ts";
import { compileAssemblyScript, compileWat, strategyWat } from "../workers/sandbox/wasm/modules.ts";

const SYMBOLS = ["AAA", "BBB", "CCC"];
const INSTRUMENTS = SYMBOLS.map((symbol) => ({ symbol, exchange: "LAB" }));
const REQUEST = {
  ...BACKTEST,
  symbol: "AAA",
  exchange: "LAB",
  start_date: "2024-01-01",
  end_date: "2024-03-01",
  fresh: true,
};
const EXAMPLES = new URL("../../strategies/examples/assemblyscript/", import.meta.url);
const OWN = { top: 2, lookback: 48, skip: 0, filter: -0.5, every: "day", exposure: 1, minTrade: 0 };

Deno.test("a module decides on many markets with one account", async (t) => {
  const { user, endService } = await serveMarkets(SYMBOLS);
  const runtime = { type: "wasm", artifact: { content_base64: (await compileRotation()).toBase64() } };
  await t.step("it trades as the built-in does, inline and registered", () => twin(user, runtime));
  await t.step(
    "a negative sum of weights that money cannot pay is scaled down together, as a script's is",
    () => shorts(user),
  );
  await t.step("it needs instruments, and is no optimization of one market", () => alone(user, runtime));
  await endService();
});

async function compileRotation(): Promise<Uint8Array> {
  const read = (name: string) => Deno.readTextFile(new URL(name, EXAMPLES));
  return await compileAssemblyScript(await read("momentum_rotation.ts"), {
    "hindcast.ts": await read("hindcast.ts"),
    "hindcast_markets.ts": await read("hindcast_markets.ts"),
  });
}

async function twin(user: TestClient, runtime: object): Promise<void> {
  const common = { ...OWN, timeframe: "1h", instruments: INSTRUMENTS };
  const builtin = await complete(user, { strategy: "Momentum Rotation", parameters: common });
  const inline = await complete(user, { strategy: "mine", parameters: { ...common, runtime } });
  const registered = await user.send("POST", "/api/strategies", {
    strategy: {
      slug: "my-rotation",
      name: "my-rotation",
      runtime_type: "wasm",
      language: "assemblyscript",
      lookback_candles: 50,
      default_config: OWN,
      initial_version: { version: "1.0", runtime_config: runtime },
    },
  });
  expect([registered.status, registered.at("/error")]).toEqual([201, undefined]);
  expect(registered.at("/strategy/runtime")).toMatchObject({ type: "wasm", decidesOn: "markets" });
  const named = await complete(user, {
    strategy: "my-rotation",
    parameters: { timeframe: "1h", instruments: INSTRUMENTS },
  });
  for (const { id, result } of [inline, named]) {
    expect(Object(result).metrics).toEqual(Object(builtin.result).metrics);
    expect(Object(result).portfolio).toEqual(Object(builtin.result).portfolio);
    for (const list of ["trades", "orders"]) {
      expect(await listOf(user, id, list)).toEqual(await listOf(user, builtin.id, list));
    }
    const { integrity } = Object(result);
    expect([integrity.lookahead.status, integrity.determinism.status]).toEqual(["passed", "passed"]);
  }
  expect((await listOf(user, inline.id, "trades")).length).toBeGreaterThan(20);
}

/** Weights of -0.9 and -0.6 of an account without leverage. */
async function shorts(user: TestClient): Promise<void> {
  const row = (market: number, weight: number) =>
    `(f64.store offset=${64 + 80 * market} (local.get $rows) (f64.const ${weight}))`;
  const module = compileWat(strategyWat({
    after: `(func (export "on_markets") (param $frame i32) (param $markets i32) (result i32) (local $rows i32)
      (local.set $rows (i32.load offset=4 (local.get $markets)))
      (if (f64.eq (f64.load offset=40 (local.get $rows)) (f64.const 0)) (then
        ${row(0, -0.9)} ${row(1, -0.6)} (i32.store offset=24 (local.get $markets) (i32.const 1))))
      (i32.const 0))`,
  }));
  const source = `portfolio(() => ({ decide(_now, markets, _account, orders) {
    if (markets[0].quantity === 0) orders.target({ AAA: -0.9, BBB: -0.6 });
  } }));`;
  const trades: (readonly unknown[])[] = [];
  for (
    const runtime of [
      { type: "wasm", artifact: { content_base64: module.toBase64() } },
      { type: "script", source },
    ]
  ) {
    const record = await complete(user, {
      ...{ strategy: "mine", end_date: "2024-01-10" },
      parameters: { timeframe: "1h", instruments: INSTRUMENTS, runtime },
    });
    expect(Number.isFinite(Object(record.result).metrics.final_equity)).toBe(true);
    trades.push(await listOf(user, record.id, "trades"));
  }
  expect(trades[1]).toEqual(trades[0]);
  const [first, second] = trades[0]!.map(Object);
  expect([first.instrument, second.instrument, first.side, second.side]).toEqual([
    ...["AAA@LAB", "BBB@LAB", "short", "short"],
  ]);
  // 900 and 600 of 1000: two thirds of each, 600 and 400.
  expect(first.quantity * first.entry_price).toBeCloseTo(600, 1);
  expect(second.quantity * second.entry_price).toBeCloseTo(400, 1);
}

async function alone(user: TestClient, runtime: object): Promise<void> {
  const parameters = { timeframe: "1h", ...OWN };
  for (const each of [runtime, { slug: "my-rotation" }]) {
    const answer = await user.send("POST", "/api/backtests", {
      backtest: { ...REQUEST, strategy: "mine", parameters: { ...parameters, runtime: each } },
    });
    expect([answer.status, answer.at("/error/issues/0")]).toEqual([400, {
      path: "/backtest/parameters/instruments",
      message: expect.stringMatching(/^is required, or a universe: .* decides on many markets$/),
    }]);
  }
}

async function complete(user: TestClient, backtest: object) {
  const answer = await user.send("POST", "/api/backtests", { backtest: { ...REQUEST, ...backtest } });
  expect([answer.status, answer.at("/error/message") ?? null]).toEqual([202, null]);
  const record = Object((await user.get(`/api/backtests/${answer.at("/backtest/id")}?wait=30`)).at("/backtest"));
  expect([record.status, record.error]).toEqual(["completed", null]);
  return record;
}

async function listOf(user: TestClient, id: string, list: string): Promise<readonly unknown[]> {
  return (await user.get(`/api/backtests/${id}/${list}?limit=200`)).list(`/${list}`)
    .map((row) => ({ ...Object(row), backtest_id: null }));
}
