/** Modules that decide on many markets, in a service with the permissions of the task. */
import { expect } from "@std/expect";
import { BACKTEST, type TestClient } from "../support/client.ts";
import { CAREFUL_SCRIPT } from "../support/market_scripts.ts";
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
const EXAMPLES = new URL("../../strategies/examples/", import.meta.url);
const OWN = { top: 2, lookback: 48, skip: 0, filter: -0.5, every: "day", exposure: 1, minTrade: 0 };

Deno.test("a module decides on many markets with one account", async (t) => {
  const { user, endService } = await serveMarkets(SYMBOLS);
  const rotation = await Deno.readTextFile(new URL("assemblyscript/momentum_rotation.ts", EXAMPLES));
  const modules = {
    assemblyscript: await compileMarkets(rotation),
    c: await Deno.readFile(new URL("c/momentum_rotation.wasm", EXAMPLES)),
    rust: await Deno.readFile(new URL("rust/momentum_rotation.wasm", EXAMPLES)),
  };
  for (const [language, module] of Object.entries(modules)) {
    await t.step(
      `in ${language} it trades as the built-in does, inline and registered`,
      () => twin(user, language, inline(module)),
    );
  }
  await t.step(
    "a negative sum of weights that money cannot pay is scaled down together, as a script's is",
    () => shorts(user),
  );
  await t.step("its trades, their details, working orders and fills are those of a script", () => tables(user));
  await t.step("it needs instruments, and is no optimization of one market", () => alone(user, inline(modules.c)));
  await endService();
});

const CAREFUL_MODULE = `
import { buy, BY_EQUITY_FRACTION, detailsAt, fillAt, frame, LIMIT, moveStopLoss, valueAt } from "./hindcast";
import { Markets, playMarkets, Portfolio } from "./hindcast_markets";
export { abi_version, alloc, init, on_candle } from "./hindcast";
export { every, on_markets } from "./hindcast_markets";

class Careful extends Portfolio {
  profits: StaticArray<f64> = new StaticArray<f64>(16);
  exits: StaticArray<i32> = new StaticArray<i32>(16);
  isWorking: StaticArray<bool> = new StaticArray<bool>(16);

  constructor() {
    super();
    this.profits.fill(1);
    frame.tradesMax = 8;
    frame.workingMax = 8;
    frame.fillsMax = 16;
    frame.hasDetails = 1;
  }

  decideOn(markets: Markets): void {
    for (let n = 0; n < <i32> frame.fillsCount; n++) {
      const fill = fillAt(n), market = markets.fillMarket(n);
      if (fill.reason < 0) continue;
      this.profits[market] = fill.profit;
      this.exits[market] = fill.index;
    }
    assert(frame.openTrades == frame.tradesCount && frame.workingOrders == frame.workingCount, "they have room");
    for (let n = 0; n < <i32> frame.tradesCount; n++) {
      const row = frame.trades + 24 * n, entryPrice = load<f64>(row + 16), details = detailsAt(n);
      assert(details.tagLength == 2 && load<u16>(changetype<usize>(details) + 72) == 0x6e69, "its tag is gone");
      if (details.bestPrice <= 1.005 * entryPrice || details.stopLoss == entryPrice) continue;
      markets.next(markets.tradeMarket(n));
      moveStopLoss(load<i32>(row), entryPrice);
    }
    this.isWorking.fill(false);
    for (let n = 0; n < <i32> frame.workingCount; n++) this.isWorking[markets.workingMarket(n)] = true;
    for (let m = 0; m < <i32> markets.count; m++) {
      const market = markets.at(m), i = market.count - 1;
      if (market.count == 0) continue;
      const mayEnter = this.profits[m] > 0 || <i32> i - this.exits[m] >= 6;
      if (market.quantity != 0 || this.isWorking[m] || !mayEnter) continue;
      markets.next(m);
      const order = buy().guard(0.01, 0.02).tagged("in");
      order.type = LIMIT;
      order.limitPrice = 0.998 * valueAt(market.close, i);
      order.candlesMax = 3;
      order.sizeBy = BY_EQUITY_FRACTION;
      order.size = 0.2;
    }
  }
}
playMarkets(() => new Careful());
`;

async function tables(user: TestClient): Promise<void> {
  const module = inline(await compileMarkets(CAREFUL_MODULE));
  const lists = [];
  for (const runtime of [{ type: "script", source: CAREFUL_SCRIPT }, module]) {
    const parameters = { timeframe: "1h", instruments: INSTRUMENTS, runtime, execution: { commission: 0.001 } };
    const record = await complete(user, { strategy: "mine", end_date: "2024-01-25", parameters });
    const { lookahead, determinism } = record.result.integrity;
    expect([lookahead.status, determinism.status]).toEqual(["passed", "passed"]);
    lists.push([await listOf(user, record.id, "trades"), await listOf(user, record.id, "orders")]);
  }
  expect(lists[1]).toEqual(lists[0]);
  const [trades = [], orders = []] = lists[0]!.map((list) => list.map(Object));
  expect(trades.map(({ exit_reason }) => exit_reason)).toEqual(expect.arrayContaining(["stop_loss", "take_profit"]));
  // Stops at the entry close at a loss of the costs alone.
  expect(
    trades.some(({ exit_reason, exit_price, entry_price }) =>
      exit_reason === "stop_loss" && exit_price === entry_price
    ),
  ).toBe(true);
  expect(new Set(trades.map(({ instrument }) => instrument)).size).toBe(3);
  expect(orders.some(({ status }) => status === "expired")).toBe(true);
}

const inline = (module: Uint8Array) => ({ type: "wasm", artifact: { content_base64: module.toBase64() } });

async function compileMarkets(source: string): Promise<Uint8Array> {
  const read = (name: string) => Deno.readTextFile(new URL(`assemblyscript/${name}`, EXAMPLES));
  return await compileAssemblyScript(source, {
    "hindcast.ts": await read("hindcast.ts"),
    "hindcast_markets.ts": await read("hindcast_markets.ts"),
  });
}

async function twin(user: TestClient, language: string, runtime: object): Promise<void> {
  const common = { ...OWN, timeframe: "1h", instruments: INSTRUMENTS };
  const builtin = await complete(user, { strategy: "Momentum Rotation", parameters: common });
  const inline = await complete(user, { strategy: "mine", parameters: { ...common, runtime } });
  const registered = await user.send("POST", "/api/strategies", {
    strategy: {
      slug: `${language}-rotation`,
      name: `${language}-rotation`,
      runtime_type: "wasm",
      language,
      lookback_candles: 50,
      default_config: OWN,
      initial_version: { version: "1.0", runtime_config: runtime },
    },
  });
  expect([registered.status, registered.at("/error")]).toEqual([201, undefined]);
  expect(registered.at("/strategy/runtime")).toMatchObject({ type: "wasm", decidesOn: "markets" });
  const named = await complete(user, {
    strategy: `${language}-rotation`,
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
  for (const each of [runtime, { slug: "c-rotation" }]) {
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
