/** Runs over many markets that fail keep their plots and lines until then, in each kind of code, over HTTP. */
import { expect } from "@std/expect";
import { buildInterpreter } from "../../workers/sandbox/python/build_interpreter.ts";
import type { TestClient } from "../support/client.ts";
import { startTestService } from "../support/service.ts";
import { compilePlots } from "./plot_steps.ts";

await buildInterpreter();
const FAIL_AT = Date.UTC(2024, 1, 26, 1);
const RANGE = { symbol: "DEMO", exchange: "SAMPLE", start_date: "2024-02-24", end_date: "2024-03-01" };
const INSTRUMENTS = ["DEMO", "STOCK"].map((symbol) => ({ symbol, exchange: "SAMPLE" }));

const SCRIPTS: Readonly<Record<string, object>> = {
  "a script of one market": {
    type: "script",
    source: `strategy(({ failAt = Infinity }) => ({
  decide(i, { time, close }) {
    plot("close", close[i]);
    const { log } = console;
    log(time[i]);
    if (time[i] === failAt) throw new Error("as it was told to");
  },
}));`,
  },
  "a script of many markets": {
    type: "script",
    source: `portfolio(({ failAt = Infinity }) => ({
  decide(now, [{ close, time, i }]) {
    plot("close", close[i]);
    const { log } = console;
    log(time[i]);
    if (time[i] === failAt) throw new Error("as it was told to");
  },
}));`,
  },
  "a class of one market": {
    type: "script",
    language: "python",
    source: `class One(Strategy):
    failAt: float = 0.0

    def decide(self, i, candles, account, orders):
        plot("close", candles.close[i])
        print(candles.time[i])
        if candles.time[i] == self.failAt:
            raise ValueError("as it was told to")
`,
  },
  "a class of many markets": {
    type: "script",
    language: "python",
    source: `class Many(Portfolio):
    failAt: float = 0.0

    def decide(self, now, markets, account, orders):
        first = markets[0]
        plot("close", first.close[first.i])
        print(first.time[first.i])
        if first.time[first.i] == self.failAt:
            raise ValueError("as it was told to")
`,
  },
};

/** A failed run's plots by their names, the rows of its series, and its log. */
async function fail(user: TestClient, runtime: object) {
  const parameters = { timeframe: "1h", failAt: FAIL_AT, instruments: INSTRUMENTS, runtime };
  const backtest = { ...RANGE, strategy: "fails", initial_balance: 1000, parameters };
  const submitted = await user.send("POST", "/api/backtests", { backtest });
  expect([submitted.status, submitted.at("/error")]).toEqual([202, undefined]);
  const id = submitted.at("/backtest/id");
  const ended = await user.finish(id);
  expect([ended.at("/backtest/status"), ended.at("/backtest/error/message")]).toEqual([
    "failed",
    expect.stringContaining("as it was told to"),
  ]);
  const series = await user.get(`/api/backtests/${id}/series?limit=1000`);
  const log = (await user.get(`/api/backtests/${id}/log`)).list("/log");
  const names = series.list("/plots").map((plot) => Object(plot).name);
  return { names, rows: series.list("/series").map(Object), log };
}

/** An endpoint that plots the newest close, and fails where it is told to. */
function answer(request: Readonly<Record<string, unknown>>): Response {
  const [first] = Array.isArray(request.markets) ? request.markets : [request];
  const { time, close } = Object(first).candles;
  if (time.at(-1) === Object(request.parameters).failAt) {
    return Response.json({ error: "as it was told to" }, { status: 500 });
  }
  const plots = request.mode === "portfolio" ? { close: close.at(-1) } : { close: [close.at(-1)] };
  return Response.json(request.mode === "portfolio" ? { version: 2, plots } : { version: 1, decisions: [[]], plots });
}

Deno.test("a failed run over many markets keeps its plots and its log", async (t) => {
  const endpoint = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    return answer(await request.json());
  });
  const { port } = endpoint.addr;
  const environment = { PYTHON: "on", REMOTE_ENDPOINT_ALLOW: `127.0.0.1:${port}` };
  const service = await startTestService("PostgreSQL", environment);
  const user = await service.user();
  const remote = (mode: string) => ({ type: "remote", endpoint: `http://127.0.0.1:${port}/`, mode });
  const all = { ...SCRIPTS, "an endpoint": remote("step"), "an endpoint of many markets": remote("portfolio") };
  for (const [name, runtime] of Object.entries(all)) {
    await t.step(name, async () => {
      const { names, rows, log } = await fail(user, runtime);
      const isForAll = name.endsWith("many markets");
      expect(names[0]).toBe(isForAll ? "close" : "DEMO@SAMPLE close");
      // Two days of hours, and of the third the first ones: an endpoint that fails has drawn nothing at its last close.
      const isRemote = "mode" in runtime;
      expect([rows.length, rows.at(-1).timestamp]).toEqual([
        isRemote ? 49 : 50,
        `2024-02-26T0${isRemote ? 0 : 1}:00:00.000Z`,
      ]);
      expect(rows.every(({ values }) => values[0] > 0)).toBe(true);
      if (!isRemote) expect(log.filter((line) => String(line).includes(String(FAIL_AT)))).toHaveLength(1);
    });
  }
  await t.step("a module", async () => {
    const { names, rows } = await fail(user, await compilePlots());
    expect(names.slice(0, 3)).toEqual(["close, twice", "odd", "level"].map((plot) => `DEMO@SAMPLE ${plot}`));
    expect([rows.length, rows.at(-1).timestamp]).toEqual([50, "2024-02-26T01:00:00.000Z"]);
  });
  await service.close();
  await endpoint.shutdown();
});
