/** Classes in Python that decide on many markets, in a service with the permissions of the task. */
import { expect } from "@std/expect";
import { buildInterpreter } from "../../workers/sandbox/python/build_interpreter.ts";
import { BACKTEST, type TestClient } from "../support/client.ts";
import { createTestDatabase } from "../support/database.ts";
import { importHours } from "../support/made_markets.ts";
import { finishOptimization, submitOptimization } from "../support/optimizations.ts";
import { startProcess } from "../support/process.ts";
import { INGESTION_SECRET } from "../support/service.ts";
import { tellFills } from "./portfolio_fills.ts";

await buildInterpreter();
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
const STRATEGIES = new URL("../../strategies/", import.meta.url);
const OWN = { top: 2, lookback: 48, skip: 0, filter: -0.5, every: "day", exposure: 1 };

Deno.test("a class in Python decides on many markets with one account", async (t) => {
  const database = await createTestDatabase("service");
  const service = await startProcess("serve", {
    DATABASE_URL: database.url,
    BETTER_AUTH_SECRET: "a secret of at least 32 characters",
    INGESTION_ADMIN_SECRET: INGESTION_SECRET,
  });
  for (const [seed, symbol] of SYMBOLS.entries()) await importHours(service.url, symbol, seed);
  const user = service.client();
  await user.signUp();
  await t.step("it trades as the built-in and the script in TypeScript do, inline and registered", () => twins(user));
  await t.step("orders of single markets, columns, plots and lines", () => orders(user));
  await t.step("an optimization tries its parameters", () => optimize(user));
  await t.step("fills and closed trades are told alike in both languages", () => tellFills(user, REQUEST, INSTRUMENTS));
  await t.step("it needs instruments", () => alone(user));
  await t.step("calls that are refused are errors that it may catch", () => catches(user));
  for (const [name, decide, code, message] of HOSTILE) {
    await t.step(`${name} fails the run with the reason`, () => hostile(user, decide, code, message));
  }
  await t.step("a class that is no strategy for many markets is refused", () => refused(user));
  await service.end("SIGTERM");
  await database.drop();
});

const inline = (source: string) => ({ type: "script", language: "python", source });
const deciding = (lines: string, members = 'every = "day"') => `
class Own(Portfolio):
    ${members}
    def decide(self, now, markets, account, orders):
${lines.split("\n").map((line) => `        ${line}`).join("\n")}
`;

async function twins(user: TestClient): Promise<void> {
  const source = await Deno.readTextFile(new URL("scripts_python/portfolio/momentum_rotation.py", STRATEGIES));
  const typescript = await Deno.readTextFile(new URL("scripts/portfolio/momentum_rotation.ts", STRATEGIES));
  const common = { ...OWN, timeframe: "1h", instruments: INSTRUMENTS };
  const builtin = await complete(user, {
    strategy: "Momentum Rotation",
    parameters: { ...common, minTrade: 0.001 },
  });
  const registered = await user.send("POST", "/api/strategies", {
    strategy: {
      ...{ slug: "py-rotation", name: "py-rotation", runtime_type: "script", language: "python", lookback_candles: 50 },
      initial_version: { version: "1.0", runtime_config: { type: "script", source } },
    },
  });
  expect([registered.status, registered.at("/error")]).toEqual([201, undefined]);
  expect(registered.at("/strategy/runtime")).toMatchObject({ type: "script", decidesOn: "markets" });
  expect(registered.at("/strategy/parameter_schema/properties")).toEqual({
    top: { type: "integer", default: 3 },
    lookback: { type: "integer", default: 126 },
    skip: { type: "integer", default: 0 },
    filter: { type: "number", default: 0 },
    every: { type: "string", enum: ["day", "week", "month", "quarter"], default: "month" },
    exposure: { type: "number", default: 1 },
    min_trade: { type: "number", default: 0 },
  });
  const python = { ...common, min_trade: 0.001 };
  const others = [
    await complete(user, { strategy: "mine", parameters: { ...python, runtime: inline(source) } }),
    await complete(user, { strategy: "py-rotation", parameters: python }),
    await complete(user, {
      strategy: "mine",
      parameters: { ...common, minTrade: 0.001, runtime: { type: "script", source: typescript } },
    }),
  ];
  for (const { id, result } of others) {
    expect(Object(result).metrics).toEqual(Object(builtin.result).metrics);
    expect(Object(result).portfolio).toEqual(Object(builtin.result).portfolio);
    for (const list of ["trades", "orders"]) {
      expect(await listOf(user, id, list)).toEqual(await listOf(user, builtin.id, list));
    }
    const { integrity } = Object(result);
    expect([integrity.lookahead.status, integrity.determinism.status]).toEqual(["passed", "passed"]);
  }
  expect((await listOf(user, others[0]!.id, "trades")).length).toBeGreaterThan(20);
}

/** BBB is bought with a stop and closed by hand; AAA has a working limit order that is withdrawn. */
async function orders(user: TestClient): Promise<void> {
  const source = `class Own(Portfolio):
    warmup = 30

    def prepare(self, markets):
        self.means = [sma(m.close, 24) for m in markets]
        self.waiting = None

    def decide(self, now, markets, account, orders):
        b = markets.of("BBB")
        hour = utc(now).hour
        if hour == 0 and b.quantity == 0:
            orders.of("BBB").buy(size=0.2, size_by="equity_fraction", stop_loss_fraction=0.05, tag="day")
            self.waiting = orders.of("AAA@LAB").buy(limit_price=1, size=1)
            try:
                b.close[b.i + 1]
            except IndexError:
                print("bought", b.id, b.close[-1] > self.means[b.index][b.i], account.cash <= account.equity)
        if hour == 12 and b.quantity != 0:
            if len(orders.of("BBB").trades) != 1:
                raise ValueError("no trade")
            orders.of("BBB").close()
            if orders.of("AAA").is_working(self.waiting):
                orders.of("AAA").cancel(self.waiting)
        plot("weight", b.weight)
        plot("mean", self.means[1][b.i])
        b.close[b.i + 1:]
`;
  const record = await complete(user, {
    strategy: "mine",
    parameters: { timeframe: "1h", instruments: INSTRUMENTS, runtime: inline(source) },
  });
  expect(Object(record.result).notes).toContainEqual(
    expect.stringContaining("reads candles that have not closed, at decide (strategy.py:26). Columns end"),
  );
  const trades = await listOf(user, record.id, "trades");
  expect(trades.length).toBeGreaterThan(50);
  expect(new Set(trades.map((trade) => Object(trade).instrument))).toEqual(new Set(["BBB@LAB"]));
  expect(trades[0]).toMatchObject({ tag: "day" });
  const placed = (await listOf(user, record.id, "orders")).map((order) => Object(order));
  const waiting = placed.filter(({ instrument }) => instrument === "AAA@LAB");
  // One stays where the stop came first.
  expect(waiting.filter(({ status }) => status === "cancelled").length).toBeGreaterThan(20);
  expect((await user.get(`/api/backtests/${record.id}/log`)).text).toMatch(/bought BBB@LAB (True|False) True/);
  const series = await user.get(`/api/backtests/${record.id}/series?limit=1000`);
  expect(series.list("/plots")).toMatchObject([{ name: "weight" }, { name: "mean" }]);
  expect(series.list("/series").length).toBe(1000);
}

async function optimize(user: TestClient): Promise<void> {
  const { fresh: _fresh, ...optimization } = REQUEST;
  const { top: _top, lookback: _lookback, ...fixed } = OWN;
  const id = await submitOptimization(user, {
    ...optimization,
    strategy: "py-rotation",
    parameters: { ...fixed, timeframe: "1h", instruments: INSTRUMENTS },
    space: { top: { values: [1, 2] }, lookback: { values: [24, 48] } },
  });
  const ended = await finishOptimization(user, id);
  expect([ended.at("/optimization/status"), ended.at("/optimization/error")]).toEqual(["completed", null]);
  const trials = (await user.get(`/api/optimizations/${id}/trials`)).list("/trials").map(Object);
  expect(trials.length).toBe(4);
  const started = await user.send("POST", `/api/optimizations/${id}/trials/${trials[0].number}/backtest`);
  expect([started.status, started.at("/error")]).toEqual([202, undefined]);
  const best = Object((await user.finish(String(started.at("/backtest/id")))).at("/backtest"));
  expect(JSON.stringify(best.result.metrics)).toBe(JSON.stringify(trials[0].metrics));
}

/** A class is known to decide on many markets before it runs. */
async function alone(user: TestClient): Promise<void> {
  const runtimes = [inline(deciding('orders.target({"AAA": 1})')), { slug: "py-rotation" }];
  for (const runtime of runtimes) {
    const answer = await user.send("POST", "/api/backtests", {
      backtest: { ...REQUEST, strategy: "mine", parameters: { timeframe: "1h", runtime } },
    });
    expect([answer.status, answer.at("/error/code"), answer.at("/error/issues/0/path")]).toEqual(
      [400, "INVALID_PARAMETERS", "/backtest/parameters/instruments"],
    );
  }
}

/** Calls that are refused, as the strategy may catch them, and the words of their errors. */
const REFUSED: readonly (readonly [call: string, words: string])[] = [
  ['orders.of("ZZZ").buy()', "LookupError: there is no market 'ZZZ'"],
  ['orders.target({"ZZZ": 1})', "LookupError: there is no market 'ZZZ'"],
  ['orders.target({"AAA": nan})', "ValueError: the weight of AAA must be a number from -1000 to 1000, not nan"],
  ['orders.target({"AAA": 1e308})', "ValueError: the weight of AAA must be a number from -1000 to 1000, not 1e+308"],
  ['orders.target({"AAA": -1001})', "ValueError: the weight of AAA must be a number from -1000 to 1000, not -1001"],
  ['orders.target({"AAA": 10 ** 40})', "ValueError: the weight of AAA must be a number from -1000 to 1000, not 1000"],
  ['orders.target({"AAA": "1"})', "ValueError: the weight of AAA must be a number from -1000 to 1000, not '1'"],
  ['orders.target({"AAA": 1, "AAA@LAB": 1})', "ValueError: target names AAA@LAB twice"],
  ["orders.target([1, 2])", "TypeError: target takes weights by the names of markets"],
  ['orders.of("A" * 10 ** 7)', `LookupError: there is no market '${"A".repeat(76)}...`],
  ['[orders.of("BBB").buy(size=1) for n in range(2000)]', "ValueError: a decision can have at most 1024 orders"],
  ["sma(markets[0].close, 3)", "RuntimeError: sma is for prepare"],
  ["markets[0].close[markets[0].i + 1]", "IndexError: index out of bounds"],
  ["markets[0].weight = 1", "AttributeError: "],
  ['orders.target({"AAA": 1}, tag="x" * 65)', "ValueError: a tag can have at most 64 bytes, not 65"],
];

async function catches(user: TestClient): Promise<void> {
  const calls = REFUSED.map(([call]) => `lambda: ${call}`).join(", ");
  const source = deciding(
    `if markets[0].symbol != "AAA":
    return
for call in [${calls}]:
    try:
        call()
        print("it was not refused")
    except Exception as error:
        print(f"{type(error).__name__}: {error}")`,
    'every = "month"',
  ).replace(
    "lambda: markets[0].weight = 1",
    'lambda: setattr(markets[0], "weight", 1)',
  );
  const record = await complete(user, {
    strategy: "mine",
    end_date: "2024-01-03",
    parameters: { timeframe: "1h", instruments: INSTRUMENTS, runtime: inline(source) },
  });
  const lines = (await user.get(`/api/backtests/${record.id}/log`)).text;
  for (const [, words] of REFUSED) expect(lines).toContain(words);
  expect(lines).not.toContain("it was not refused");
  // What was refused is not ordered; those before the one too many were placed.
  const placed = await listOf(user, record.id, "orders");
  expect([placed.length, placed.every((order) => Object(order).instrument === "BBB@LAB")]).toEqual([200, true]);
}

const HOSTILE: readonly (readonly [name: string, decide: string, code: string, message: RegExp])[] = [
  [
    "a million targets",
    'orders.target({"X" + str(n): 1 for n in range(10 ** 6)})',
    "STRATEGY_FAILED",
    /LookupError: there is no market 'X0'/,
  ],
  ["too much memory", 'self.held = ["A" * 10 ** 7 + str(n) for n in range(40)]', "STRATEGY_OUT_OF_MEMORY", /./],
  ["a negative min_trade", 'orders.target({"AAA": 1}, min_trade=-1)', "INVALID_SIGNAL", /minTrade is 0 or more/],
  [
    "orders in more markets than there are",
    "many = type(markets[0]).i.fget.__globals__['many']; type(many).end = lambda self: self.state.__setitem__(5, 7e9)",
    "STRATEGY_FAILED",
    /its orders are none/,
  ],
];

async function hostile(user: TestClient, decide: string, code: string, message: RegExp): Promise<void> {
  // The check runs it, too: only on the run's markets it does harm.
  const source = deciding(`if markets[0].symbol == "AAA":\n    ${decide}`);
  const record = await run(user, {
    strategy: "mine",
    end_date: "2024-01-10",
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
  expect(await messageOf(deciding("pass", 'every = "year"'))).toContain("every must be one of day, week");
  expect(await messageOf(deciding("pass", "warmup = 0"))).toContain("warmup must be a whole number");
  expect(await messageOf("class Own(Portfolio):\n    pass\n")).toContain("has no decide(self, now, markets");
  expect(await messageOf("class Own(Portfolio):\n    async def decide(self, *args):\n        pass\n")).toContain(
    "without async",
  );
  // A name that the made-up markets of the check do not have is no fault.
  expect(await messageOf(deciding('orders.target({"SPY": 0.6, "TLT@NASDAQ": 0.4})'))).toBe("undefined");
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
