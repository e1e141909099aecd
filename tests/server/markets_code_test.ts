/** Users' code over many markets with one account, in a service with the permissions of the task. */
import { expect } from "@std/expect";
import { buildInterpreter } from "../../workers/sandbox/python/build_interpreter.ts";
import { BACKTEST, type TestClient } from "../support/client.ts";
import { serveMarkets } from "../support/made_markets.ts";
import { readExample } from "./foreign_code.ts";

await buildInterpreter();
const SCRIPTS = new URL("../../strategies/", import.meta.url);
const read = (path: string) => Deno.readTextFile(new URL(path, SCRIPTS));
const SYMBOLS = ["AAA", "BBB", "CCC"];
const REQUEST = {
  ...BACKTEST,
  symbol: "AAA",
  exchange: "LAB",
  start_date: "2024-01-01",
  end_date: "2024-03-01",
  fresh: true,
};
const OWN = { timeframe: "1h", fast: 12, slow: 48, direction: "both", execution: { commission: 0.001 } };
/** A strategy that logs, plots and tags beside its orders. */
const TALKS = `// It talks.
strategy(({ fast }: { fast: number }) => ({
  warmup: fast + 1,
  prepare({ close }) { this.mean = sma(close, fast); },
  decide(i, { close }, account, orders) {
    if (i % 200 === 0) console["log"]("at", i);
    plot("mean", this.mean[i]);
    plot("share", account.quantity * close[i] / account.equity);
    if (account.quantity === 0 && close[i] > this.mean[i]) orders.buy({ tag: "up", stopLossFraction: 0.01 });
    else if (account.quantity > 0 && close[i] < this.mean[i]) orders.close(1, "down");
  },
}));`;
const TALKS_IN_PYTHON = `class Talks(Strategy):
    """It talks."""
    fast: int = 10

    @property
    def warmup(self): return self.fast + 1

    def prepare(self, candles): self.mean = sma(candles.close, self.fast)

    def decide(self, i, candles, account, orders):
        if i % 200 == 0: print("at", i)
        plot("mean", self.mean[i])
        plot("share", account.quantity * candles.close[i] / account.equity)
        if account.quantity == 0 and candles.close[i] > self.mean[i]: orders.buy(tag="up", stop_loss_fraction=0.01)
        elif account.quantity > 0 and candles.close[i] < self.mean[i]: orders.close(1, "down")
`;

Deno.test("code of every kind runs over many markets, a strategy for each", async (t) => {
  const { user, endService } = await serveMarkets(SYMBOLS, { PYTHON: "on" });
  const wasm = { type: "wasm", artifact: { content_base64: (await readExample("c/sma_cross.wasm")).toBase64() } };
  const kinds: readonly (readonly [string, object])[] = [
    ["a script", script(await read("scripts/sma_cross.ts"))],
    ["a script that talks", script(TALKS)],
    ["a module", wasm],
    ["Python", script(await read("scripts_python/sma_cross.py"), "python")],
    ["Python that talks", script(TALKS_IN_PYTHON, "python")],
  ];
  for (const [name, runtime] of kinds) {
    const own = name.includes("talks") ? { timeframe: "1h", fast: 12, execution: OWN.execution } : OWN;
    await t.step(
      `${name}: one instrument is the run over one market, byte for byte`,
      () => sameAsOne(user, own, runtime),
    );
    await t.step(`${name}: three instruments`, () => three(user, own, runtime));
  }
  await t.step("a failure names its market, and leaves the log of all", () => failure(user));
  await t.step("each market has globals of its own", () => apart(user));
  await t.step("they trade as the built-in does", async () => {
    const builtin = await complete(user, { strategy: "SMA Cross", parameters: { ...OWN, ...THREE } });
    for (const [name, runtime] of kinds.filter(([name]) => !name.includes("talks"))) {
      const ours = await complete(user, { strategy: name, parameters: { ...OWN, ...THREE, runtime } });
      expect([name, Object(ours.result).metrics]).toEqual([name, Object(builtin.result).metrics]);
      expect(await listOf(user, ours.id, "trades")).toEqual(await listOf(user, builtin.id, "trades"));
    }
  });
  await endService();
});

const script = (source: string, language = "typescript") => ({ type: "script", language, source });
const instruments = (...symbols: readonly string[]) => ({
  instruments: symbols.map((symbol) => ({ symbol, exchange: "LAB" })),
});
const THREE = instruments(...SYMBOLS);

async function sameAsOne(user: TestClient, own: object, runtime: object): Promise<void> {
  // Its warm-up has candles from before the range.
  const asked = { strategy: "mine", start_date: "2024-01-10" };
  const one = await complete(user, { ...asked, parameters: { ...own, runtime } });
  const many = await complete(user, { ...asked, parameters: { ...own, ...instruments("AAA"), runtime } });
  expect(Object(many.result).metrics).toEqual(Object(one.result).metrics);
  expect(Object(many.result).bounds).toEqual(Object(one.result).bounds);
  for (const list of ["trades", "orders"] as const) {
    const [single, portfolio] = [await listOf(user, one.id, list), await listOf(user, many.id, list)];
    expect(single.length).toBeGreaterThan(10);
    expect(portfolio.map((row) => ({ ...Object(row), instrument: null }))).toEqual(single);
  }
  for (const path of ["log", "series?limit=5000", "returns?format=csv"]) {
    const [single, portfolio] = [
      await user.get(`/api/backtests/${one.id}/${path}`),
      await user.get(`/api/backtests/${many.id}/${path}`),
    ];
    expect(portfolio.text.replaceAll(many.id, one.id)).toBe(single.text);
  }
}

async function three(user: TestClient, own: object, runtime: object): Promise<void> {
  const record = await complete(user, { strategy: "mine", parameters: { ...own, ...THREE, runtime } });
  const { integrity, portfolio } = Object(record.result);
  expect([integrity.lookahead.status, integrity.determinism.status]).toEqual(["passed", "passed"]);
  expect(portfolio.contributions.map(({ instrument }: { instrument: string }) => instrument)).toEqual([
    "AAA@LAB",
    "BBB@LAB",
    "CCC@LAB",
  ]);
  expect(portfolio.contributions.every(({ trades }: { trades: number }) => trades > 0)).toBe(true);
  const log = (await user.get(`/api/backtests/${record.id}/log`)).text;
  const plots = (await user.get(`/api/backtests/${record.id}/series`)).list("/plots");
  if (!JSON.stringify(runtime).includes("talk")) return;
  for (const { instrument } of portfolio.contributions) {
    expect(log).toContain(`${instrument}: at 200`);
    expect(plots).toEqual(expect.arrayContaining([{ name: `${instrument} mean`, pane: `${instrument} mean` }]));
  }
}

async function failure(user: TestClient): Promise<void> {
  const source = `strategy(() => ({ decide(i, { close }) {
    if (i === 0) console["log"]("begun");
    if (i === 20 && close[0] > 101 && close[0] < 102) throw new Error("no");
  } }));`;
  const record = await run(user, {
    strategy: "mine",
    parameters: { ...THREE, timeframe: "1h", runtime: script(source) },
  });
  expect(record).toMatchObject({
    status: "failed",
    error: {
      code: "STRATEGY_FAILED",
      message: expect.stringMatching(/^Cannot go on at candle 20 .*no.*\(in CCC@LAB\)$/),
    },
  });
  const log = (await user.get(`/api/backtests/${record.id}/log`)).text;
  for (const symbol of SYMBOLS) expect(log).toContain(`${symbol}@LAB: begun`);
}

/** An instance counts its own candles: no global, module or class of one is another's. */
async function apart(user: TestClient): Promise<void> {
  const counting = `globalThis.count = 0; strategy(() => ({ decide(i) {
    globalThis.count++; Array.prototype.seen = (Array.prototype.seen ?? 0) + 1;
    if (i === 99) console["log"](globalThis.count, [].seen);
  } }));`;
  const inPython = `class Counts(Strategy):
    seen = []

    def decide(self, i, candles, account, orders):
        Counts.seen.append(i)
        if i == 99: print(len(Counts.seen), 100)
`;
  for (const runtime of [script(counting), script(inPython, "python")]) {
    const record = await complete(user, { strategy: "mine", parameters: { ...THREE, timeframe: "1h", runtime } });
    const log = (await user.get(`/api/backtests/${record.id}/log`)).text;
    for (const symbol of SYMBOLS) expect(log).toContain(`${symbol}@LAB: 100 100`);
  }
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

async function listOf(user: TestClient, id: string, list: "trades" | "orders"): Promise<readonly unknown[]> {
  return (await user.get(`/api/backtests/${id}/${list}?limit=200`)).list(`/${list}`);
}
