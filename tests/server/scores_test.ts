/** Code that says how good an entry would be: where there are fewer slots than markets, the best ones get them. */
import { expect } from "@std/expect";
import { buildInterpreter } from "../../workers/sandbox/python/build_interpreter.ts";
import { BACKTEST, type TestClient } from "../support/client.ts";
import { serveMarkets } from "../support/made_markets.ts";
import { compileWat, strategyWat } from "../workers/sandbox/wasm/modules.ts";

await buildInterpreter();
const SYMBOLS = ["AAA", "BBB", "CCC", "DDD"];
const INSTRUMENTS = SYMBOLS.map((symbol) => ({ symbol, exchange: "LAB" }));
const [START, END] = ["2024-01-03", "2024-03-01"];
const REQUEST = { ...BACKTEST, symbol: "AAA", exchange: "LAB", start_date: START, end_date: END, fresh: true };
/** Each enters every 48 candles and leaves a day later. Its score is the rise of the last day, which 24 candles before the range show. */
const SCRIPT = `strategy((_: object, { firstIndex }) => ({
  warmup: 25,
  score: (i: number, { close }: Candles) => close[i] / close[i - 24],
  decide(i, _candles, account, orders) {
    if ((i - firstIndex) % 48 === 0) orders.buy({ tag: "in" });
    if ((i - firstIndex) % 48 === 24 && account.quantity > 0) orders.close();
  },
}));`;
const PYTHON = `class Scored(Strategy):
    warmup = 25

    def score(self, i, candles):
        return candles.close[i] / candles.close[-25]

    def decide(self, i, candles, account, orders):
        if (i - self.first_index) % 48 == 0: orders.buy(tag="in")
        if (i - self.first_index) % 48 == 24 and account.quantity > 0: orders.close()
`;
const LAST_CLOSE = "(i32.add (i32.load offset=48 (local.get $frame)) (i32.shl (i32.load offset=72 (local.get $frame))";
const WAT = strategyWat({
  init: "(i32.store offset=16 (local.get $frame) (i32.const 25)) (i32.const 0)",
  locals: "(local $at i32)",
  // The candle's number in the range is count - 1 - first_index.
  onCandle: `(local.set $at (i32.rem_u
      (i32.sub (i32.sub (i32.load offset=72 (local.get $frame)) (i32.const 1)) (i32.load offset=144 (local.get $frame)))
      (i32.const 48)))
    (if (i32.eqz (local.get $at)) (then
      (i32.store (local.get $order) (i32.const 1)) (i32.store offset=4 (local.get $order) (i32.const 1))
      (return (i32.const 1))))
    (if (i32.and (i32.eq (local.get $at) (i32.const 24)) (f64.gt (f64.load offset=112 (local.get $frame)) (f64.const 0)))
      (then (i32.store (local.get $order) (i32.const 2)) (f64.store offset=16 (local.get $order) (f64.const 1))
      (return (i32.const 1))))
    (i32.const 0)`,
  after: `(func (export "score") (param $frame i32) (result f64)
    (f64.div
      (f64.load (i32.sub ${LAST_CLOSE} (i32.const 3))) (i32.const 8)))
      (f64.load (i32.sub ${LAST_CLOSE} (i32.const 3))) (i32.const 200)))))`,
});
const module = { type: "wasm", artifact: { content_base64: compileWat(WAT).toBase64() } };
const script = (source: string, language = "typescript") => ({ type: "script", language, source });

Deno.test("the markets with the highest scores get the slots", async (t) => {
  const { user, endService } = await serveMarkets(SYMBOLS, { PYTHON: "on" });
  const best = await bestMarkets(user);
  expect(new Set(best).size).toBe(SYMBOLS.length);
  for (
    const [kind, runtime] of [["a script", script(SCRIPT)], ["Python", script(PYTHON, "python")], [
      "a module",
      module,
    ]] as const
  ) {
    await t.step(`${kind}: the market that has risen most is entered, and no other`, async () => {
      expect(await entered(user, { runtime, portfolio: { positions_max: 1, rank: "score" } })).toEqual(best);
    });
  }
  await t.step("as listed, the first market has the slot", async () => {
    const listed = await entered(user, { runtime: script(SCRIPT), portfolio: { positions_max: 1 } });
    expect(new Set(listed)).toEqual(new Set(["AAA@LAB"]));
  });
  await t.step("an optimization ranks as a backtest does", async () => {
    const made = await user.send("POST", "/api/optimizations", {
      optimization: {
        ...{
          symbol: "AAA",
          exchange: "LAB",
          start_date: START,
          end_date: END,
          initial_balance: BACKTEST.initial_balance,
        },
        strategy: "mine",
        parameters: {
          ...{ timeframe: "1h", instruments: INSTRUMENTS, portfolio: { positions_max: 1, rank: "score" } },
          runtime: script(SCRIPT),
        },
        space: { "execution.commission": { values: [0, 0.001] } },
      },
    });
    expect([made.status, made.at("/error")]).toEqual([202, undefined]);
    const path = `/api/optimizations/${made.at("/optimization/id")}`;
    await user.poll(path, "/optimization/status");
    const trials = (await user.get(`${path}/trials`)).list("/trials").map((trial) => Object(trial));
    for (const { parameters, metrics } of trials) {
      const commission = parameters["execution.commission"];
      const portfolio = { positions_max: 1, rank: "score" };
      const record = await run(user, { runtime: script(SCRIPT), portfolio, execution: { commission } });
      expect(record.result.metrics.final_equity).toBe(metrics.final_equity);
    }
    expect(trials.length).toBe(2);
  });
  await t.step("a score that fails names its market and its candle", async () => {
    const throws = SCRIPT.replace("close[i] / close[i - 24]", "i === 30 ? null.x : 1");
    for (
      const [runtime, words] of [
        [script(throws), /^Cannot rank at candle 30 .*TypeError.*\(in AAA@LAB\)$/],
        [script(SCRIPT.replace("close[i] / close[i - 24]", '"high"')), /score must return a number, not string/],
        [
          script(PYTHON.replace("candles.close[-25]", "0"), "python"),
          /^Cannot rank at candle 25 .*ZeroDivisionError.*\(in AAA@LAB\)$/,
        ],
        [
          script("strategy(() => ({ decide() {} }));"),
          /^Cannot rank by score: the strategy has no function score; add one, or rank as listed$/,
        ],
      ] as const
    ) {
      const record = await run(user, { runtime, portfolio: { rank: "score" } });
      expect([record.status, record.error.code]).toEqual(["failed", "STRATEGY_FAILED"]);
      expect(record.error.message).toMatch(words);
    }
  });
  await t.step("a strategy that gives no score is refused by name", async () => {
    const refusal = async (strategy: string, own: object) => {
      const made = await user.send("POST", "/api/backtests", {
        backtest: {
          ...REQUEST,
          strategy,
          parameters: { timeframe: "1h", instruments: INSTRUMENTS, portfolio: { rank: "score" }, ...own },
        },
      });
      return [made.status, made.at("/error/issues/0/path"), made.at("/error/issues/0/message")];
    };
    const path = "/backtest/parameters/portfolio/rank";
    const none = "gives no score, which scripts and modules may have";
    expect(await refusal("SMA Cross", {})).toEqual([400, path, `must be listed: SMA Cross ${none}`]);
    expect(await refusal("Equal Weight", {})).toEqual(
      [400, path, "must be listed: Equal Weight decides on all markets at once"],
    );
    const remote = { type: "remote", endpoint: "https://strategies.example.com/decide" };
    const asked =
      "is an endpoint, which is asked for decisions and not for scores: one of mode portfolio ranks by itself";
    expect(await refusal("far", { runtime: remote })).toEqual([400, path, `must be listed: far ${asked}`]);
  });
  await endService();
});

/** The market with the largest rise of a day at each decision to enter, by the candles. */
async function bestMarkets(user: TestClient): Promise<string[]> {
  const closes = await Promise.all(INSTRUMENTS.map(async ({ symbol }) => {
    const query = `symbol=${symbol}&exchange=LAB&timeframe=1h&startDate=2024-01-02&endDate=${END}&limit=5000`;
    return (await user.get(`/api/market-data/ticks?${query}`)).list("/ticks").map((tick) => Number(Object(tick).close));
  }));
  const best: string[] = [];
  // An order of the last candle has no next open.
  for (let i = 24; i < closes[0]!.length - 1; i += 48) {
    const rises = closes.map((close) => close[i]! / close[i - 24]!);
    best.push(`${SYMBOLS[rises.indexOf(Math.max(...rises))]}@LAB`);
  }
  return best;
}

/** The markets of a run's trades, in their order. */
async function entered(user: TestClient, own: object): Promise<string[]> {
  const record = await run(user, own);
  expect([record.status, record.error]).toEqual(["completed", null]);
  const trades = (await user.get(`/api/backtests/${record.id}/trades?limit=200`)).list("/trades").map(Object);
  return trades.map(({ instrument }) => instrument);
}

async function run(user: TestClient, own: object) {
  const parameters = { timeframe: "1h", instruments: INSTRUMENTS, ...own };
  const made = await user.send("POST", "/api/backtests", { backtest: { ...REQUEST, strategy: "mine", parameters } });
  expect([made.status, made.at("/error")]).toEqual([202, undefined]);
  return Object((await user.finish(String(made.at("/backtest/id")))).at("/backtest"));
}
