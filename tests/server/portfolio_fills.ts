/** One rule for many markets that reads its fills and closed trades, in both languages. Every field of them is in its tags. */
import { expect } from "@std/expect";
import type { TestClient } from "../support/client.ts";
import { finishOptimization, submitOptimization } from "../support/optimizations.ts";

const TYPESCRIPT = `portfolio(({ wait = 6 }: { wait?: number }) => ({
  total: 0,
  count(...values: (number | string | null)[]) {
    for (const value of values) this.total += typeof value === "string" ? value.length : value ?? 1;
  },
  decide(now, markets, account, orders) {
    const closed = account.closedTrades;
    if (closed.length > 1 && closed[0].exitTime < closed[1].exitTime) throw new Error("an older one comes first");
    const { hour } = utc(now);
    if (hour % 8 === 0) orders.target({ [markets[2].id]: hour === 8 ? 0.2 : 0 }, { partial: true, tag: "weight" });
    for (const { id, i, quantity } of markets.slice(0, 2)) {
      const last = closed.find(({ market }) => market === id);
      const mayEnter = last === undefined || last.profit > 0 || i - last.exitIndex >= wait;
      const guards = { stopLossFraction: 0.01, takeProfitFraction: 0.02, timeStopCandles: 9 };
      const tag = String(Math.floor(Math.abs(this.total) % 1e9));
      if (quantity === 0 && mayEnter) orders.of(id).buy({ size: 0.2, sizeBy: "equity_fraction", ...guards, tag });
    }
  },
  onFill(f) {
    this.count(f.market, f.order, f.trade, f.side, f.quantity, f.price, f.fee, f.index, f.time, f.tag, f.exitReason);
    const { log } = console;
    log("fill", f.market, f.side, f.trade);
  },
  onClose(t) {
    this.count(t.market, t.trade, t.order, t.tag, t.quantity, t.entryIndex, t.entryTime, t.entryPrice, t.exitIndex);
    this.count(t.exitTime, t.exitPrice, t.exitReason, t.profit, t.fees, t.bestPrice, t.worstPrice);
    const { log } = console;
    log("close", t.market, t.exitReason, t.trade);
  },
}));`;
const PYTHON = `class Careful(Portfolio):
    wait: int = 6

    def __init__(self):
        self.total = 0

    def count(self, *values):
        for value in values:
            self.total += 1 if value is None else len(value) if isinstance(value, str) else value

    def decide(self, now, markets, account, orders):
        closed = account.closed_trades
        if len(closed) > 1 and closed[0].exit_time < closed[1].exit_time:
            raise ValueError("an older one comes first")
        hour = utc(now).hour
        if hour % 8 == 0:
            orders.target({markets[2].id: 0.2 if hour == 8 else 0}, partial=True, tag="weight")
        for m in markets[:2]:
            last = next((t for t in closed if t.market == m.id), None)
            may_enter = last is None or last.profit > 0 or m.i - last.exit_index >= self.wait
            guards = dict(stop_loss_fraction=0.01, take_profit_fraction=0.02, time_stop_candles=9)
            tag = str(int(abs(self.total) % 1e9))
            if m.quantity == 0 and may_enter:
                orders.of(m.id).buy(size=0.2, size_by="equity_fraction", tag=tag, **guards)

    def on_fill(self, f):
        self.count(f.market, f.order, f.trade, f.side, f.quantity, f.price, f.fee, f.index, f.time, f.tag, f.exit_reason)
        print("fill", f.market, f.side, f.trade)

    def on_close(self, t):
        self.count(t.market, t.trade, t.order, t.tag, t.quantity, t.entry_index, t.entry_time, t.entry_price, t.exit_index)
        self.count(t.exit_time, t.exit_price, t.exit_reason, t.profit, t.fees, t.best_price, t.worst_price)
        print("close", t.market, t.exit_reason, t.trade)
`;
const SOURCES = { typescript: TYPESCRIPT, python: PYTHON };

/** Runs it registered, inline and as trials, in both languages. @param request Of a backtest over three markets. */
export async function tellFills(user: TestClient, request: object, instruments: readonly object[]): Promise<void> {
  const asked = { ...request, end_date: "2024-01-20", strategy: "mine" };
  const common = { timeframe: "1h", instruments, execution: { commission: 0.001 } };
  const runs = [];
  for (const [language, source] of Object.entries(SOURCES)) {
    const runtime = { type: "script", language, source };
    const slug = `told-${language}`;
    const registered = await user.send("POST", "/api/strategies", {
      strategy: { slug, name: slug, runtime_type: "script", language, initial_version: { runtime_config: runtime } },
    });
    expect([language, registered.status, registered.at("/error")]).toEqual([language, 201, undefined]);
    runs.push(await runOf(user, { ...asked, parameters: { ...common, runtime } }));
    runs.push(await runOf(user, { ...asked, parameters: { ...common, runtime: { slug } } }));
    await tryPoints(user, { ...asked, parameters: { ...common, runtime: { slug } } });
  }
  const [{ trades, log }] = [runs[0]!];
  for (const run of runs) expect(run).toEqual(runs[0]);
  const reasons = trades.map(({ exit_reason }) => exit_reason);
  expect(new Set(reasons)).toEqual(new Set(["stop_loss", "take_profit", "time_stop", "signal", null]));
  // Each closed trade was told once, with its market.
  const closed = trades.filter(({ exit_reason }) => exit_reason !== null);
  const told = [...log.matchAll(/close (\S+) (\w+) \d+/g)].map(([, market, reason]) => `${market} ${reason}`);
  expect(told.toSorted()).toEqual(closed.map((trade) => `${trade.instrument} ${trade.exit_reason}`).toSorted());
  expect(log.match(/fill \S+ buy/g)?.length).toBe(trades.length);
}

interface Trade {
  readonly instrument: string;
  readonly exit_reason: string | null;
}

async function runOf(user: TestClient, backtest: object) {
  const sent = await user.send("POST", "/api/backtests", { backtest });
  expect([sent.status, sent.at("/error")]).toEqual([202, undefined]);
  const done = await user.finish(String(sent.at("/backtest/id")));
  expect([done.at("/backtest/status"), done.at("/backtest/error")]).toEqual(["completed", null]);
  const { lookahead, determinism } = Object(done.at("/backtest/result/integrity"));
  expect([lookahead.status, determinism.status]).toEqual(["passed", "passed"]);
  const id = String(done.at("/backtest/id"));
  const trades: readonly Trade[] = (await user.get(`/api/backtests/${id}/trades?limit=200`)).list("/trades").map(
    Object,
  );
  return { trades, log: (await user.get(`/api/backtests/${id}/log`)).text.replaceAll(id, "") };
}

/** A trial of an optimization is a backtest of its point. */
async function tryPoints(user: TestClient, request: object): Promise<void> {
  const { fresh: _fresh, ...optimization }: Record<string, unknown> = { ...request };
  const id = await submitOptimization(user, { ...optimization, space: { wait: { values: [2, 9] } } });
  const ended = await finishOptimization(user, id);
  expect(ended.at("/optimization")).toMatchObject({ status: "completed", error: null, trials: { failed: 0 } });
  const trials = (await user.get(`/api/optimizations/${id}/trials`)).list("/trials").map(Object);
  expect(new Set(trials.map(({ metrics }) => metrics.total_return)).size).toBe(2);
  for (const { number, metrics } of trials.slice(1)) {
    const started = await user.send("POST", `/api/optimizations/${id}/trials/${number}/backtest`);
    const done = await user.finish(String(started.at("/backtest/id")));
    expect(done.at("/backtest/result/metrics")).toEqual(metrics);
  }
}
