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
      expect(JSON.stringify(ours.notes)).not.toContain("have not closed");
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
