/** Scripts that decide on many markets, in a service with the permissions of the task. */
import { expect } from "@std/expect";
import { BACKTEST, type TestClient } from "../support/client.ts";
import { serveMarkets } from "../support/made_markets.ts";

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
const ROTATION = new URL("../../strategies/scripts/portfolio/momentum_rotation.ts", import.meta.url);
const OWN = { top: 2, lookback: 48, skip: 0, filter: -0.5, every: "day", exposure: 1, minTrade: 0 };

Deno.test("a script decides on many markets with one account", async (t) => {
  const { user, endService } = await serveMarkets(SYMBOLS);
  await t.step("it trades as the built-in does, inline and registered", () => twin(user));
  await t.step("orders of single markets, columns, plots and lines", () => orders(user));
  await t.step("it needs instruments", () => alone(user));
  for (const [name, decide, code, message] of HOSTILE) {
    await t.step(`${name} fails the run with the reason`, () => hostile(user, decide, code, message));
  }
  await t.step("a script that is no strategy for many markets is refused at registration", () => refused(user));
  await endService();
});

const inline = (source: string) => ({ type: "script", source });
const deciding = (decide: string) =>
  `portfolio(() => ({ every: "day", decide(now, markets, account, orders) { ${decide} } }));`;

async function twin(user: TestClient): Promise<void> {
  const source = await Deno.readTextFile(ROTATION);
  const common = { ...OWN, timeframe: "1h", instruments: INSTRUMENTS };
  const builtin = await complete(user, { strategy: "Momentum Rotation", parameters: common });
  const ours = await complete(user, { strategy: "mine", parameters: { ...common, runtime: inline(source) } });
  const registered = await user.send("POST", "/api/strategies", {
    strategy: {
      slug: "my-rotation",
      name: "my-rotation",
      runtime_type: "script",
      language: "typescript",
      lookback_candles: 50,
      default_config: OWN,
      initial_version: { version: "1.0", runtime_config: { type: "script", source } },
    },
  });
  expect([registered.status, registered.at("/error")]).toEqual([201, undefined]);
  const named = await complete(user, {
    strategy: "my-rotation",
    parameters: { timeframe: "1h", instruments: INSTRUMENTS },
  });
  for (const { id, result } of [ours, named]) {
    expect(Object(result).metrics).toEqual(Object(builtin.result).metrics);
    expect(Object(result).portfolio).toEqual(Object(builtin.result).portfolio);
    for (const list of ["trades", "orders"]) {
      expect(await listOf(user, id, list)).toEqual(await listOf(user, builtin.id, list));
    }
    const { integrity } = Object(result);
    expect([integrity.lookahead.status, integrity.determinism.status]).toEqual(["passed", "passed"]);
  }
  expect((await listOf(user, ours.id, "trades")).length).toBeGreaterThan(20);
}

/** BBB is bought with a stop and closed by hand; AAA has a working limit order that is withdrawn. */
async function orders(user: TestClient): Promise<void> {
  const source = `portfolio(() => ({
    warmup: 30,
    prepare(markets) { this.means = markets.map((m) => sma(m.close, 24)); },
    decide(now, markets, account, orders) {
      const b = markets.of("BBB");
      const hour = utc(now).hour;
      if (hour === 0 && b.quantity === 0) {
        orders.of("BBB").buy({ size: 0.2, sizeBy: "equity_fraction", stopLossFraction: 0.05, tag: "day" });
        this.waiting = orders.of("AAA@LAB").buy({ limitPrice: 1, size: 1 });
        console["log"]("bought", b.id, b.close[b.i] > this.means[b.index][b.i], Number.isNaN(b.close[b.i + 1]));
      }
      if (hour === 12 && b.quantity !== 0) {
        if (orders.of("BBB").trades.length !== 1) throw new Error("no trade");
        orders.of("BBB").close();
        if (orders.of("AAA").isWorking(this.waiting)) orders.of("AAA").cancel(this.waiting);
      }
      plot("weight", b.weight);
      plot("mean", this.means[1][b.i]);
    },
  }));`;
  const record = await complete(user, {
    strategy: "mine",
    parameters: { timeframe: "1h", instruments: INSTRUMENTS, runtime: inline(source) },
  });
  expect(Object(record.result).notes).toContainEqual(
    expect.stringMatching(/reads candles that have not closed, at decide \(strategy\.ts:10:\d+\)/),
  );
  const trades = await listOf(user, record.id, "trades");
  expect(trades.length).toBeGreaterThan(50);
  expect(new Set(trades.map((trade) => Object(trade).instrument))).toEqual(new Set(["BBB@LAB"]));
  expect(trades[0]).toMatchObject({ tag: "day" });
  const placed = (await listOf(user, record.id, "orders")).map((order) => Object(order));
  const waiting = placed.filter(({ instrument }) => instrument === "AAA@LAB");
  expect(waiting.length).toBeGreaterThan(20);
  // One stays where the stop came first.
  expect(waiting.filter(({ status }) => status === "cancelled").length).toBeGreaterThan(20);
  const log = (await user.get(`/api/backtests/${record.id}/log`)).text;
  expect(log).toMatch(/bought BBB@LAB (true|false) true/);
  const series = await user.get(`/api/backtests/${record.id}/series?limit=1000`);
  expect(series.list("/plots")).toMatchObject([{ name: "weight" }, { name: "mean" }]);
  expect(series.list("/series").length).toBe(1000);
}

/** A script says what it decides on, before it runs: inline, by its hash, registered, and in an optimization. */
async function alone(user: TestClient): Promise<void> {
  const deciding = inline(ONE_TARGET);
  const made = await complete(user, {
    strategy: "mine",
    parameters: { timeframe: "1h", instruments: INSTRUMENTS, runtime: deciding },
  });
  const registered = await user.send("POST", "/api/strategies", {
    strategy: {
      slug: "all-in-one",
      name: "all-in-one",
      runtime_type: "script",
      language: "typescript",
      initial_version: { version: "1.0", runtime_config: deciding },
    },
  });
  expect(registered.at("/strategy/runtime")).toMatchObject({ type: "script", decidesOn: "markets" });
  expect(registered.at("/strategy/decides_on")).toBe("markets");
  const { runtime: recorded } = Object(made.parameters);
  for (const runtime of [deciding, recorded, { slug: "all-in-one" }]) {
    const answer = await user.send("POST", "/api/backtests", {
      backtest: { ...REQUEST, strategy: "mine", parameters: { timeframe: "1h", runtime } },
    });
    expect([answer.status, answer.at("/error/code"), answer.at("/error/issues/0")]).toEqual([
      400,
      "INVALID_PARAMETERS",
      {
        path: "/backtest/parameters/instruments",
        message: expect.stringMatching(/^is required, or a universe: .* decides on many markets$/),
      },
    ]);
  }
}

const ONE_TARGET = `portfolio(() => ({ every: "month", decide(now, markets, account, orders) {
  orders.target({ AAA: 1 });
} }));`;

const HOSTILE: readonly (readonly [name: string, decide: string, code: string, message: RegExp])[] = [
  ["an order for a market that does not exist", 'orders.of("ZZZ").buy();', "STRATEGY_FAILED", /there is no market ZZZ/],
  ["a target for one", "orders.target({ ZZZ: 1 });", "STRATEGY_FAILED", /there is no market ZZZ/],
  ["a weight of NaN", "orders.target({ AAA: NaN });", "STRATEGY_FAILED", /weight of AAA must be a number .* not NaN/],
  ["a weight of 1e308", "orders.target({ AAA: 1e308 });", "STRATEGY_FAILED", /from -1000 to 1000, not 1e\+308/],
  ["a weight that is a text", 'orders.target({ AAA: "1" });', "STRATEGY_FAILED", /not string/],
  ["a market twice", 'orders.target({ AAA: 1, "AAA@LAB": 1 });', "STRATEGY_FAILED", /names AAA@LAB twice/],
  [
    "a million targets",
    "orders.target(Object.fromEntries(Array.from({ length: 1e6 }, (_, n) => ['X' + n, 1])));",
    "STRATEGY_FAILED",
    /there is no market X0/,
  ],
  ["a huge name", 'orders.of("A".repeat(1e7));', "STRATEGY_FAILED", /there is no market A{40}\.\.\./],
  [
    "2,000 orders",
    'for (let n = 0; n < 2000; n++) orders.of("AAA").buy({ size: 1 });',
    "STRATEGY_FAILED",
    /at most 1024/,
  ],
  ["a negative minTrade", "orders.target({ AAA: 1 }, { minTrade: -1 });", "INVALID_SIGNAL", /minTrade is 0 or more/],
  ["an endless loop", "for (;;);", "STRATEGY_TIMED_OUT", /Cannot finish|had not ended/],
  ["a replaced Map", "Map.prototype.get = () => 7; orders.target({ AAA: 1 });", "STRATEGY_FAILED", /./],
  [
    "a getter among the weights",
    "orders.target({ get AAA() { throw new Error('mine'); } });",
    "STRATEGY_FAILED",
    /Error: mine/,
  ],
];

async function hostile(user: TestClient, decide: string, code: string, message: RegExp): Promise<void> {
  // A run may take ten minutes: the check of a script takes seconds.
  if (code === "STRATEGY_TIMED_OUT") {
    const answer = await user.send("POST", "/api/backtests", {
      backtest: {
        ...REQUEST,
        strategy: "mine",
        parameters: { instruments: INSTRUMENTS, runtime: inline(deciding(decide)) },
      },
    });
    expect([answer.status, answer.text]).toEqual([400, expect.stringMatching(message)]);
    return;
  }
  // The check runs it, too: only on the run's markets it does harm.
  const source = deciding(`if (markets[0].symbol === "AAA") { ${decide} }`);
  const record = await run(user, {
    strategy: "mine",
    parameters: { timeframe: "1h", instruments: INSTRUMENTS, runtime: inline(source) },
  });
  expect([record.status, Object(record.error).code]).toEqual(["failed", code]);
  expect(Object(record.error).message).toMatch(message);
  expect(Object(record.error).message.length).toBeLessThan(500);
}

async function refused(user: TestClient): Promise<void> {
  const messageOf = async (source: string) =>
    String((await user.send("POST", "/api/backtests", {
      backtest: { ...REQUEST, strategy: "mine", parameters: { instruments: INSTRUMENTS, runtime: inline(source) } },
    })).at("/error/message"));
  expect(await messageOf("portfolio(() => ({ decide() {}, every: 'year' }));")).toContain(
    "every must be one of day, week",
  );
  expect(await messageOf("portfolio(() => ({ every: 'day' }));")).toContain("no function decide");
  expect(await messageOf("portfolio(() => ({ warmup: 0, decide() {} }));")).toContain("warmup must be a whole number");
  expect(await messageOf("portfolio(7);")).toContain("portfolio takes a function");
  expect(await messageOf("portfolio(() => ({ async decide() {} }));")).toContain("must not be async");
  // A name that the made-up markets of the check do not have is no fault.
  expect(await messageOf(deciding('orders.target({ SPY: 0.6, "TLT@NASDAQ": 0.4 });'))).toBe("undefined");
}

async function run(user: TestClient, body: object): Promise<Record<string, unknown>> {
  const made = await user.send("POST", "/api/backtests", { backtest: { ...REQUEST, ...body } });
  if (made.status !== 202) throw new Error(`${made.status} ${made.text}`);
  return Object((await user.finish(String(made.at("/backtest/id")))).at("/backtest"));
}

async function complete(user: TestClient, body: object): Promise<Record<string, unknown> & { readonly id: string }> {
  const record = await run(user, body);
  expect([record.status, record.error]).toEqual(["completed", null]);
  return { ...record, id: String(record.id) };
}

async function listOf(user: TestClient, id: string, list: string): Promise<readonly unknown[]> {
  return (await user.get(`/api/backtests/${id}/${list}?limit=200`)).list(`/${list}`);
}
