/** Members of the script interface and the ported strategies, registered and submitted over HTTP, in each language that has them. */
import { expect } from "@std/expect";
import { buildInterpreter } from "../../workers/sandbox/python/build_interpreter.ts";
import { BACKTEST, type TestClient } from "../support/client.ts";
import { startTestService } from "../support/service.ts";

await buildInterpreter();
const STRATEGIES = new URL("../../strategies/", import.meta.url);

type Language = "typescript" | "python";

/** The same strategy in both languages. */
const MEMBERS: Readonly<Record<string, Readonly<Record<Language, string>>>> = {
  "own-series": {
    typescript: `strategy(() => ({
      changes: [] as number[],
      profits: [] as number[],
      decide(i, { close, open }, account, orders) {
        this.changes.push(close[i] / open[i] - 1);
        const { upper, lower } = bollinger(this.changes, 20, 1);
        const isLucky = !(sma(this.profits, 3) < -50);
        if (account.quantity === 0 && this.changes.at(-1) < lower && isLucky) orders.buy();
        else if (account.quantity > 0 && this.changes.at(-1) > upper) orders.close();
      },
      onClose({ profit }) { this.profits.push(profit); },
    }));`,
    python: `class Own(Strategy):
    def __init__(self):
        self.changes, self.profits = [], []

    def decide(self, i, candles, account, orders):
        self.changes.append(candles.close[i] / candles.open[i] - 1)
        bands = bollinger(self.changes, 20, 1)
        is_lucky = not sma(self.profits, 3) < -50
        if account.quantity == 0 and self.changes[-1] < bands.lower and is_lucky:
            orders.buy()
        elif account.quantity > 0 and self.changes[-1] > bands.upper:
            orders.close()

    def on_close(self, trade):
        self.profits.append(trade.profit)
`,
  },
  resampled: {
    typescript: `strategy(() => ({
      prepare(candles) { this.trend = ema(resample(candles, "4h").close, 3); },
      decide(i, { close }, account, orders) {
        if (account.quantity === 0 && close[i] > this.trend[i]) orders.buy();
        else if (account.quantity > 0 && close[i] < this.trend[i]) orders.close();
      },
    }));`,
    python: `class Resampled(Strategy):
    def prepare(self, candles):
        self.trend = ema(resample(candles, "4h").close, 3)

    def decide(self, i, candles, account, orders):
        if account.quantity == 0 and candles.close[i] > self.trend[i]:
            orders.buy()
        elif account.quantity > 0 and candles.close[i] < self.trend[i]:
            orders.close()
`,
  },
  "every-member": {
    typescript: `strategy((_parameters: object, { firstIndex, timeframeMs }: Series) => ({
      warmup: 30,
      total: firstIndex + timeframeMs,
      count(...values: (number | null)[]) { for (const value of values) if (value === value) this.total += value ?? 1; },
      prepare({ time, close }) { this.hour = local(time, "America/New_York").hour; this.calm = sma(close, 9); },
      decide(i, { time, open, high, low, close, volume }, account, orders) {
        const { day, hour, minute, month, weekday, year } = utc(time[i]);
        this.count(this.hour[i], day, hour, minute, month, weekday, year, open[i], high[i], low[i], volume[i]);
        this.count(account.cash, account.equity, account.quantity, account.entryPrice, account.initialBalance);
        for (const t of orders.trades) {
          this.count(t.trade, t.quantity, t.entryPrice, t.order, t.entryIndex, t.entryTime, t.stopLoss, t.takeProfit);
          this.count(t.trailingStop, t.profit, t.bestPrice, t.worstPrice, t.tag === null ? 0 : t.tag.length);
        }
        for (const t of account.closedTrades.slice(0, 2)) {
          this.count(t.trade, t.order, t.quantity, t.entryIndex, t.entryTime, t.entryPrice, t.exitIndex, t.exitTime);
          this.count(t.exitPrice, t.exitReason.length, t.profit, t.fees, t.bestPrice, t.worstPrice);
        }
        plot("total", this.total % 100, "own");
        const tag = String(Math.floor(Math.abs(this.total) % 1e6));
        const [last = 0] = orders.working;
        if (orders.isWorking(last) && i % 7 === 0) orders.replace(last, "buy", { stopPrice: close[i] * 1.001, size: 1, tag });
        if (orders.isWorking(last) && i % 11 === 0) orders.cancel(last);
        if (i % 40 === 39) orders.cancelAll();
        if (crossesAbove(close, this.calm, i)) {
          orders.buy({ size: 0.1, sizeBy: "equity_fraction", trailFraction: 0.02, timeStopCandles: 9, tag });
          orders.buy({ limitPrice: close[i] * 0.999, candlesMax: 20, stopLossFraction: 0.01, takeProfitFraction: 0.02, size: 2, tag });
        } else if (crossesBelow(close, this.calm, i)) {
          orders.sell({ size: 1, reduceOnly: true, trailDistance: close[i] * 0.01, tag });
          orders.buy({ stopPrice: close[i] * 1.002, stopLoss: close[i] * 0.9, takeProfit: close[i] * 1.2, size: 1, tag });
        }
        for (const t of orders.trades.slice(0, 1)) {
          if (i % 5 === 0) orders.protect(t.trade, { stopLoss: t.entryPrice * 0.97 });
          if (i - t.entryIndex > 12) orders.closeTrade(t.trade, 0.5, tag);
        }
        if (i % 90 === 0) orders.close(1, tag);
      },
      onFill(fill) {
        this.count(fill.order, fill.trade, fill.side.length, fill.quantity, fill.price, fill.fee, fill.index, fill.time);
        this.count(fill.tag === null ? 0 : fill.tag.length, fill.exitReason === null ? 0 : fill.exitReason.length);
      },
      onClose(trade) { this.count(trade.profit, trade.fees); },
      score(i, { close }) { return close[i]; },
    }));`,
    python: `class Every(Strategy):
    warmup = 30

    def __init__(self):
        self.total = self.first_index + self.timeframe_ms

    def count(self, *values):
        for value in values:
            if value == value:
                self.total += 1 if value is None else value

    def prepare(self, candles):
        self.hour = local(candles.time, "America/New_York").hour
        self.calm = sma(candles.close, 9)

    def decide(self, i, candles, account, orders):
        t = utc(candles.time[i])
        close = candles.close[i]
        self.count(self.hour[i], t.day, t.hour, t.minute, t.month, t.weekday, t.year)
        self.count(candles.open[i], candles.high[i], candles.low[i], candles.volume[i])
        self.count(account.cash, account.equity, account.quantity, account.entry_price, account.initial_balance)
        for t in orders.trades:
            self.count(t.trade, t.quantity, t.entry_price, t.order, t.entry_index, t.entry_time, t.stop_loss, t.take_profit)
            self.count(t.trailing_stop, t.profit, t.best_price, t.worst_price, 0 if t.tag is None else len(t.tag))
        for t in account.closed_trades[:2]:
            self.count(t.trade, t.order, t.quantity, t.entry_index, t.entry_time, t.entry_price, t.exit_index, t.exit_time)
            self.count(t.exit_price, len(t.exit_reason), t.profit, t.fees, t.best_price, t.worst_price)
        plot("total", self.total % 100, "own")
        tag = str(int(abs(self.total) % 1e6))
        last = orders.working[0] if orders.working else 0
        if orders.is_working(last) and i % 7 == 0:
            orders.replace(last, "buy", stop_price=close * 1.001, size=1, tag=tag)
        if orders.is_working(last) and i % 11 == 0:
            orders.cancel(last)
        if i % 40 == 39:
            orders.cancel_all()
        if crosses_above(candles.close, self.calm, i):
            orders.buy(size=0.1, size_by="equity_fraction", trail_fraction=0.02, time_stop_candles=9, tag=tag)
            orders.buy(limit_price=close * 0.999, candles_max=20, stop_loss_fraction=0.01, take_profit_fraction=0.02, size=2, tag=tag)
        elif crosses_below(candles.close, self.calm, i):
            orders.sell(size=1, reduce_only=True, trail_distance=close * 0.01, tag=tag)
            orders.buy(stop_price=close * 1.002, stop_loss=close * 0.9, take_profit=close * 1.2, size=1, tag=tag)
        for t in orders.trades[:1]:
            if i % 5 == 0:
                orders.protect(t.trade, stop_loss=t.entry_price * 0.97)
            if i - t.entry_index > 12:
                orders.close_trade(t.trade, 0.5, tag)
        if i % 90 == 0:
            orders.close(1, tag)

    def on_fill(self, fill):
        self.count(fill.order, fill.trade, len(fill.side), fill.quantity, fill.price, fill.fee, fill.index, fill.time)
        self.count(0 if fill.tag is None else len(fill.tag), 0 if fill.exit_reason is None else len(fill.exit_reason))

    def on_close(self, trade):
        self.count(trade.profit, trade.fees)

    def score(self, i, candles):
        return candles.close[i]
`,
  },
};

/** Registers a strategy, runs it by its slug and inline. @returns Its trades, and its integrity and notes. */
async function tryIt(user: TestClient, slug: string, language: Language, source: string) {
  const config = { type: "script", language, source };
  const made = await user.send("POST", "/api/strategies", {
    strategy: { slug, name: slug, runtime_type: "script", language, initial_version: { runtime_config: config } },
  });
  expect([slug, made.status, made.at("/error")]).toEqual([slug, 201, undefined]);
  const runs = await Promise.all([{ slug }, config].map(async (runtime) => {
    const backtest = {
      ...BACKTEST,
      end_date: "2024-02-01",
      fresh: true,
      strategy: slug,
      parameters: { timeframe: "1h", runtime },
    };
    const sent = await user.send("POST", "/api/backtests", { backtest });
    expect([slug, sent.status, sent.at("/error")]).toEqual([slug, 202, undefined]);
    const done = await user.finish(sent.at("/backtest/id"));
    expect([slug, done.at("/backtest/status"), done.at("/backtest/error")]).toEqual([slug, "completed", null]);
    const { lookahead, determinism } = Object(done.at("/backtest/result/integrity"));
    expect([slug, lookahead.status, determinism.status]).toEqual([slug, "passed", "passed"]);
    const trades = (await user.get(`/api/backtests/${done.at("/backtest/id")}/trades?limit=200`)).list("/trades");
    return { trades, notes: done.list("/backtest/result/notes") };
  }));
  expect(runs[1]).toEqual(runs[0]);
  return runs[0]!;
}

Deno.test("members of scripts and the ported strategies run over HTTP, alike in both languages", async (t) => {
  const service = await startTestService("PostgreSQL", { PYTHON: "on" });
  const user = await service.user();
  for (const [name, sources] of Object.entries({ ...MEMBERS, ...await readExamples() })) {
    await t.step(name, async () => {
      const [ours, theirs] = [
        await tryIt(user, `${name}-ts`, "typescript", sources.typescript),
        await tryIt(user, `${name}-py`, "python", sources.python),
      ];
      expect(theirs.trades).toEqual(ours.trades);
      expect(JSON.stringify([ours.notes, theirs.notes])).not.toContain("have not closed");
      if (name in MEMBERS) expect(ours.trades.length).toBeGreaterThan(3);
    });
  }
  await t.step("reading ahead is a note of the run", async () => {
    const source = `strategy(() => ({ decide(i, { close }, account, orders) {
      if (!(close[i + 1] < close[i])) orders.buy();
    } }));`;
    const { notes } = await tryIt(user, "peeking", "typescript", source);
    expect(notes).toEqual(expect.arrayContaining([
      expect.stringMatching(/reads candles that have not closed, at decide \(strategy\.ts:2:\d+\)/),
    ]));
  });
  await service.close();
});

/** Interfaces of the declaration that a strategy for one market meets; inputs and many markets have tests of their own. */
const INTERFACES = [
  "CandleColumns",
  "Account",
  "OpenTrade",
  "ClosedTrade",
  "Fill",
  "Guards",
  "OrderOptions",
  "Orders",
  "Strategy",
  "Series",
];
const FUNCTIONS = ["utc", "local", "resample", "plot", "crossesAbove", "crossesBelow"];

Deno.test("the members above are all that the declaration has", async () => {
  const declaration = await Deno.readTextFile(new URL("scripts/strategy.d.ts", STRATEGIES));
  const members = INTERFACES.flatMap((name) => {
    const body = new RegExp(`interface ${name}\\b[^{]*\\{\\n(.*?)\\n\\}`, "s").exec(declaration)?.[1] ?? "";
    return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map(([, member]) => member!);
  });
  expect(members.length).toBeGreaterThan(80);
  const tried = Object.values(MEMBERS);
  const has = (language: Language, word: string) =>
    tried.some((sources) => new RegExp(`\\b${word}\\b`).test(sources[language]));
  const inPython = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const all = [...members, ...FUNCTIONS];
  expect(all.filter((name) => !has("typescript", name))).toEqual([]);
  expect(all.filter((name) => !has("python", inPython(name)))).toEqual([]);
});

/** The nine ported strategies. */
async function readExamples(): Promise<Record<string, Record<Language, string>>> {
  const read = (path: string) => Deno.readTextFile(new URL(path, STRATEGIES));
  const names = [...Deno.readDirSync(new URL("scripts/examples/", STRATEGIES))].map(({ name }) => name.slice(0, -3));
  const pairs = names.map(async (name) =>
    [
      name.replaceAll("_", "-"),
      {
        typescript: await read(`scripts/examples/${name}.ts`),
        python: await read(`scripts_python/examples/${name}.py`),
      },
    ] as const
  );
  return Object.fromEntries(await Promise.all(pairs));
}
