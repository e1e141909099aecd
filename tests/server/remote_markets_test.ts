/** Endpoints over many markets with one account, in a service with the permissions of the task. */
import { expect } from "@std/expect";
import { denoArguments } from "../../cli/commands.ts";
import { BACKTEST, type TestClient } from "../support/client.ts";
import { serveMarkets } from "../support/made_markets.ts";
import { ROOT } from "../support/pages.ts";
import { until } from "../support/until.ts";
import { type AllRequest, LOOKBACK, startEndpoint } from "./remote_markets_endpoint.ts";

const SYMBOLS = ["AAA", "BBB", "CCC"];
const instruments = (...symbols: readonly string[]) => symbols.map((symbol) => ({ symbol, exchange: "LAB" }));
const THREE = instruments(...SYMBOLS);
const REQUEST = {
  ...BACKTEST,
  ...{
    symbol: "AAA",
    exchange: "LAB",
    strategy: "mine",
    start_date: "2024-01-01",
    end_date: "2024-02-01",
    fresh: true,
  },
};
const COSTS = { commission: 0.001 };

const FOLLOW = `strategy(() => ({ warmup: 25, decide(i, { close }, account, orders) {
  plot("before", close[i - 24]);
  plot("rise", close[i] / close[i - 24] - 1, "rises");
  if (close[i] > close[i - 24]) {
    if (account.quantity <= 0) orders.buy({ size: 0.2, sizeBy: "equity_fraction", tag: "up" });
  } else if (account.quantity > 0) orders.close();
} }));`;
const SCRIPT = { type: "script", source: FOLLOW };

Deno.test("endpoints run over many markets with one account", async (t) => {
  const endpoint = startEndpoint();
  const { service, user, endService } = await serveMarkets(SYMBOLS, { REMOTE_ENDPOINT_ALLOW: endpoint.host });
  const at = (path: string, more: object = {}) => ({
    type: "remote",
    endpoint: `http://${endpoint.host}${path}`,
    ...more,
  });
  const run = (parameters: object) => finish(user, { timeframe: "1h", execution: COSTS, ...parameters });

  for (const mode of ["batch", "step"]) {
    const runtime = at("/follow", { mode, lookbackCandles: LOOKBACK });
    await t.step(`mode ${mode}: one instrument is the run over one market`, async () => {
      // The first decisions see candles from before the range.
      const late = { timeframe: "1h", execution: COSTS, runtime };
      const one = await finish(user, late, "mine", "2024-01-05");
      const many = await finish(user, { ...late, instruments: instruments("AAA") }, "mine", "2024-01-05");
      // Their checks look at other candles.
      const statusesOf = ({ integrity }: { readonly integrity: object }) =>
        Object.values(integrity).map((finding) => Object(finding).status);
      expect([many.result.metrics, many.result.bounds]).toEqual([one.result.metrics, one.result.bounds]);
      expect(statusesOf(many.result)).toEqual(statusesOf(one.result));
      for (const list of ["trades", "orders"]) {
        const [single, portfolio] = [await listOf(user, one.id, list), await listOf(user, many.id, list)];
        expect(single.length).toBeGreaterThan(20);
        expect(portfolio.map((row) => ({ ...Object(row), instrument: null }))).toEqual(single);
      }
      const drawn = await drawnBy(user, one.id);
      expect(drawn.plots).toEqual([{ name: "before", pane: "price" }, { name: "rise", pane: "rises" }]);
      expect(drawn).toEqual(
        await drawnBy(user, (await finish(user, { ...late, runtime: SCRIPT }, "mine", "2024-01-05")).id),
      );
    });
    await t.step(`mode ${mode}: three instruments trade as the same rules in a script`, async () => {
      const remote = await run({ runtime, instruments: THREE });
      const script = await run({ runtime: SCRIPT, instruments: THREE });
      expect(remote.result.metrics).toEqual(script.result.metrics);
      expect(await listOf(user, remote.id, "trades")).toEqual(await listOf(user, script.id, "trades"));
      const { lookahead, determinism } = remote.result.integrity;
      expect([lookahead.status, determinism.status]).toEqual(["passed", "passed"]);
      expect(determinism.evidence).toContain("AAA@LAB, BBB@LAB, CCC@LAB");
      expect((await drawnBy(user, remote.id)).plots.length).toBe(6);
      expect(await drawnBy(user, remote.id)).toEqual(await drawnBy(user, script.id));
    });
  }
  await t.step("requests about one market are those of version 1, with the name of that market alone", () => {
    const named = new Set<string>();
    for (const request of endpoint.seen.get("/follow")!) {
      expect(request).toMatchObject({ version: 1 });
      named.add(JSON.stringify([Object(request).symbol, Object(request).exchange]));
      expect(request).not.toHaveProperty("markets");
    }
    expect([...named].sort()).toEqual(THREE.map(({ symbol, exchange }) => JSON.stringify([symbol, exchange])).sort());
  });

  const portfolio = (path: string, more: object = {}) => at(path, { mode: "portfolio", ...more });
  await t.step("an endpoint for all markets trades as the built-in does", async () => {
    const runtime = portfolio("/rotate", { every: "day", lookbackCandles: 48 });
    const remote = await run({ runtime, instruments: THREE });
    const own = { top: 2, lookback: 48, skip: 0, filter: -1, every: "day" };
    const builtin = await finish(
      user,
      { timeframe: "1h", execution: COSTS, ...own, instruments: THREE },
      "Momentum Rotation",
    );
    expect(remote.result.metrics).toEqual(builtin.result.metrics);
    expect(remote.result.portfolio).toEqual(builtin.result.portfolio);
    const trades = await listOf(user, remote.id, "trades");
    expect(trades).toEqual(await listOf(user, builtin.id, "trades"));
    expect(trades.length).toBeGreaterThan(20);
    const { lookahead, determinism } = remote.result.integrity;
    expect([lookahead.status, determinism.status]).toEqual(["passed", "passed"]);
    // A value at each moment that it was asked about.
    const { plots, values } = await drawnBy(user, remote.id);
    expect(plots).toMatchObject([{ name: "equity" }]);
    expect(values.filter(([equity]) => equity !== null).length).toBe(31);
  });
  await t.step("its requests have the closed candles of all markets, and no more than it looks back", () => {
    const requests = endpoint.seen.get("/rotate") as readonly AllRequest[];
    // A month of days, and the moments that were asked again.
    expect(requests.length).toBe(31 + 8);
    for (const { version, mode, now, markets } of requests) {
      expect([version, mode, markets.map(({ id }) => id)]).toEqual([
        2,
        "portfolio",
        SYMBOLS.map((name) => `${name}@LAB`),
      ]);
      for (const { candles: { time, close } } of markets) {
        expect(time.at(-1)! + 3_600_000).toBe(now);
        expect(close.length).toBeLessThanOrEqual(49);
      }
    }
  });
  await t.step("orders of single markets, with its own names", async () => {
    const record = await run({ runtime: portfolio("/orders"), instruments: THREE });
    const trades = await listOf(user, record.id, "trades");
    expect(new Set(trades.map((trade) => Object(trade).instrument))).toEqual(new Set(["BBB@LAB"]));
    expect([trades.length > 20, trades[0]]).toEqual([true, expect.objectContaining({ tag: "day" })]);
    const placed = (await listOf(user, record.id, "orders")).map((order) => Object(order));
    expect(placed.filter(({ instrument, status }) => instrument === "AAA@LAB" && status === "cancelled").length)
      .toBeGreaterThan(20);
  });
  await t.step("hindcast strategy serve passes decisions and plots on, of one market and of all", async () => {
    const made = await user.send("POST", "/api/tokens", { token: { name: "my model", scope: "serve" } });
    const program = new Deno.Command(Deno.execPath(), {
      args: [
        ...denoArguments("hindcast", ".data"),
        ...["strategy", "serve", `http://${endpoint.host}/both`, "--name", "mine"],
      ],
      cwd: ROOT,
      env: { NO_COLOR: "1", HINDCAST_URL: service.url, HINDCAST_TOKEN: String(made.at("/secret")) },
      ...{ stdout: "null", stderr: "inherit" },
    }).spawn();
    for (const more of [{ mode: "portfolio", every: "day", lookbackCandles: 48 }, { lookbackCandles: LOOKBACK }]) {
      const served = await run({ runtime: { type: "remote", endpoint: "serve:mine", ...more }, instruments: THREE });
      const called = await run({ runtime: at("/both", more), instruments: THREE });
      expect(served.result.metrics).toEqual(called.result.metrics);
      const drawn = await drawnBy(user, served.id);
      expect([drawn.plots.length > 0, drawn]).toEqual([true, await drawnBy(user, called.id)]);
    }
    program.kill("SIGKILL");
    await program.status;
  });
  await t.step("an instrument that is no member is not entered, by name", async () => {
    const members = [...instruments("AAA", "CCC"), { symbol: "BBB", exchange: "LAB", from: "2024-01-20" }];
    const record = await run({ runtime: portfolio("/orders"), instruments: [members[0], members[2], members[1]] });
    const refused = (await listOf(user, record.id, "orders")).map((order) => Object(order))
      .filter(({ instrument, status }) => instrument === "BBB@LAB" && status === "rejected");
    expect(refused.length).toBeGreaterThan(10);
    expect(refused.some(({ reason }) => /member/.test(reason))).toBe(true);
  });
  await t.step("chance is found out", async () => {
    const record = await run({ runtime: portfolio("/chance", { every: "day" }), instruments: THREE });
    expect(record.result.integrity.determinism).toMatchObject({
      status: "failed",
      evidence: expect.stringContaining("On an equal request, the endpoint decided differently for 2024-01-"),
    });
  });
  for (const [path, code, message] of FAULTS) {
    await t.step(`${path} fails the run with the reason`, async () => {
      const record = await end(user, { timeframe: "1h", runtime: portfolio(path), instruments: THREE });
      expect([record.status, record.error.code]).toEqual(["failed", code]);
      expect(record.error.message).toMatch(message);
      expect(record.error.message).toContain(`${endpoint.host} for 2024-01-01T01:00:00.000Z: `);
      expect(record.error.message.length).toBeLessThan(500);
    });
  }
  await t.step("what cannot be is refused at submission", () => refusals(user, portfolio));
  await t.step("a cancelled run ends within a second", async () => {
    const made = await submit(user, { timeframe: "1h", runtime: portfolio("/held"), instruments: THREE });
    const id = String(made.at("/backtest/id"));
    await until(() => endpoint.seen.has("/held"));
    const begun = performance.now();
    expect((await user.send("POST", `/api/backtests/${id}/cancel`)).status).toBe(202);
    expect((await user.finish(id)).at("/backtest/status")).toBe("cancelled");
    expect(performance.now() - begun).toBeLessThan(1_000);
    endpoint.release();
  });
  await endService();
  await endpoint.server.shutdown();
});

const FAULTS: readonly (readonly [path: string, code: string, message: RegExp])[] = [
  [
    "/first",
    "INVALID_SIGNAL",
    /\/version must be 2, not 1: an endpoint that knows version 1 alone decides on one market/,
  ],
  ["/old", "ENDPOINT_FAILED", /HTTP 400: version 2 is not known/],
  ["/nobody", "INVALID_SIGNAL", /\/targets\/ZZZ names no market of the run/],
  ["/huge", "INVALID_SIGNAL", /\/targets\/AAA must be a number from -1000 to 1000, not 1e\+308/],
  ["/infinite", "INVALID_SIGNAL", /\/targets\/AAA must be a number from -1000 to 1000, not Infinity/],
  ["/twice", "INVALID_SIGNAL", /\/targets\/AAA@LAB names a market for the second time/],
  ["/text", "INVALID_SIGNAL", /\/orders\/AAA must be a list, not "buy"/],
  ["/misspelt", "INVALID_SIGNAL", /\/target is not a key/],
  ["/many", "INVALID_SIGNAL", /\/targets\/X0 names no market/],
  ["/long", "ENDPOINT_FAILED", /more than|too long|bytes/],
  ["/series", "INVALID_SIGNAL", /\/plots\/a must be a finite number or null, not \[1\]/],
  ["/negative", "INVALID_SIGNAL", /\/min_trade must be a number from 0 to 1, not -1/],
];

async function refusals(user: TestClient, portfolio: (path: string, more?: object) => object): Promise<void> {
  const alone = await submit(user, { timeframe: "1h", runtime: portfolio("/rotate") });
  expect([alone.status, alone.at("/error/issues/0/path"), alone.at("/error/issues/0/message")]).toEqual([
    400,
    "/backtest/parameters/instruments",
    "is required, or a universe: mine decides on many markets",
  ]);
  const wide = await submit(user, {
    timeframe: "1h",
    runtime: portfolio("/rotate", { lookbackCandles: 10_000 }),
    instruments: Array.from({ length: 30 }, (_, n) => ({ symbol: `N${n}`, exchange: "LAB" })),
  });
  expect([wide.status, wide.at("/error/issues/0/message")]).toEqual([
    400,
    expect.stringMatching(
      /^must make requests of at most 200000 candles: 30 instruments of 10001 candles are 300030; /,
    ),
  ]);
  const seldom = await submit(user, { timeframe: "1h", runtime: portfolio("/rotate", { every: "year" }) });
  expect([seldom.status, seldom.at("/error/issues/0/path")]).toEqual([400, "/backtest/parameters/runtime/every"]);
  const tuned = await user.send("POST", "/api/optimizations", {
    optimization: {
      ...{ ...REQUEST, fresh: undefined },
      parameters: { timeframe: "1h", runtime: portfolio("/rotate") },
      space: { level: { min: 1, max: 3, step: 1 } },
    },
  });
  expect(tuned.status).toBe(400);
}

/** The plots of a run, and their values. */
async function drawnBy(user: TestClient, id: string) {
  const series = await user.get(`/api/backtests/${id}/series?limit=1000`);
  const values: readonly (readonly unknown[])[] = series.list("/series").map((point) => Object(point).values);
  return { plots: series.list("/plots"), values };
}

async function submit(user: TestClient, parameters: object, strategy = "mine", start = REQUEST.start_date) {
  const backtest = { ...REQUEST, start_date: start, strategy, parameters };
  return await user.send("POST", "/api/backtests", { backtest });
}

async function end(user: TestClient, parameters: object, strategy = "mine", start = REQUEST.start_date) {
  const made = await submit(user, parameters, strategy, start);
  if (made.status !== 202) throw new Error(`${made.status} ${made.text}`);
  return Object((await user.finish(String(made.at("/backtest/id")))).at("/backtest"));
}

async function finish(user: TestClient, parameters: object, strategy = "mine", start = REQUEST.start_date) {
  const record = await end(user, parameters, strategy, start);
  expect([record.status, record.error]).toEqual(["completed", null]);
  return record;
}

async function listOf(user: TestClient, id: string, list: string): Promise<readonly unknown[]> {
  return (await user.get(`/api/backtests/${id}/${list}?limit=200`)).list(`/${list}`);
}
