/** Inputs of endpoints, in every mode and through `serve:`, in a service with the permissions of the task. */
import { expect } from "@std/expect";
import type { TestClient } from "../support/client.ts";
import { importStock, inline, INPUTS, REQUEST, run, stockAt } from "../support/input_runs.ts";
import { serveMarkets } from "../support/made_markets.ts";
import { blockIn, readPage } from "../support/pages.ts";
import { finishOptimization } from "../support/optimizations.ts";
import { follow, type InputsRequest, LOOKBACK, startEndpoint } from "./remote_inputs_endpoint.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const TWO = ["AAA", "BBB"].map((symbol) => ({ symbol, exchange: "LAB" }));

/** The endpoint's rule in a script. */
const TWIN = `strategy(() => ({
  warmup: ${LOOKBACK},
  prepare({ inputs }) { this.mean = sma(inputs.daily.close, 3); },
  decide(i, { close }, account, orders) {
    if (account.quantity === 0 && close[i] > this.mean[i]) orders.buy({ size: 0.2, sizeBy: "equity_fraction" });
    if (account.quantity > 0 && close[i] < this.mean[i]) orders.close();
  },
}));`;

Deno.test("endpoints get other candles once they have closed", async (t) => {
  const endpoint = startEndpoint();
  const { service, user, endService } = await serveMarkets(["AAA", "BBB"], { REMOTE_ENDPOINT_ALLOW: endpoint.host });
  await importStock(service.url);
  const at = (path: string, mode: string) => ({
    type: "remote",
    endpoint: `http://${endpoint.host}${path}`,
    ...{ mode, lookbackCandles: LOOKBACK },
  });
  const twin = await run(user, { inputs: INPUTS, runtime: inline(TWIN) });
  const twins = await run(user, { inputs: INPUTS, runtime: inline(TWIN), instruments: TWO });

  for (const mode of ["batch", "step"]) {
    await t.step(`mode ${mode} trades as the same rule in a script`, async () => {
      const record = await run(user, { inputs: INPUTS, runtime: at("/follow", mode) });
      await requireTwin(user, record, twin);
      expect(record.result.data.inputs).toEqual(twin.result.data.inputs);
    });
    await t.step(`mode ${mode}: each of many markets has its own`, async () => {
      const record = await run(user, { inputs: INPUTS, runtime: at("/follow", mode), instruments: TWO });
      await requireTwin(user, record, twins);
    });
  }
  await t.step("mode portfolio gets them of every market", async () => {
    const record = await run(user, { inputs: INPUTS, runtime: at("/all", "portfolio"), instruments: TWO });
    await requireTwin(user, record, twins);
    for (const { version, markets = [] } of endpoint.seen.get("/all")!) {
      expect([version, markets.length]).toEqual([2, 2]);
      for (const { candles, inputs } of markets) requireClosed({ candles, inputs }, 1);
    }
  });
  await t.step("no request has a candle that had not closed by its last one", () => {
    const requests = endpoint.seen.get("/follow")!;
    expect(requests.length).toBeGreaterThan(2_000);
    for (const request of requests) {
      expect(request.version).toBe(1);
      requireClosed(request, request.asked);
    }
  });
  await t.step("the page's example decides the same", async () => {
    const requests = endpoint.seen.get("/follow")!.filter(({ asked }) => asked > 1);
    const code = blockIn(await readPage("strategies/REMOTE.md"), "python", "def decide(request)");
    const print = "import json, sys; print(json.dumps([decide(each) for each in json.load(sys.stdin)]))";
    const python = new Deno.Command("python3", { args: ["-c", `${code}\n${print}`], stdin: "piped", stdout: "piped" })
      .spawn();
    const writer = python.stdin.getWriter();
    await writer.write(new TextEncoder().encode(JSON.stringify(requests)));
    await writer.close();
    const { stdout } = await python.output();
    const decided = requests.map((request) => Object(follow(request)).decisions);
    expect(JSON.parse(new TextDecoder().decode(stdout))).toEqual(decided);
    expect(decided.flat(2).length).toBeGreaterThan(1_000);
  });
  await t.step("in mode batch a look at a later day is caught; in mode step there is none to look at", async () => {
    const looked = await run(user, { inputs: INPUTS, runtime: at("/ahead", "batch") });
    expect(looked.result.integrity.lookahead).toMatchObject({
      status: "failed",
      evidence: expect.stringContaining("the endpoint decided differently"),
    });
    const step = await run(user, { inputs: INPUTS, runtime: at("/ahead", "step") });
    await requireTwin(user, step, twin);
  });
  await t.step("a program that fetches its requests gets them, too", () => served(user, twin));
  await t.step("trials are backtests with the same inputs", () => trials(user, at("/follow", "batch"), twin));
  await t.step("a decision on more candles than a request may have is refused", () => refusals(user, at));
  await endService();
  await endpoint.server.shutdown();
});

type Ended = Readonly<Record<string, unknown>> & { readonly id: string; readonly result: Result };
interface Result {
  readonly metrics: object;
  readonly integrity: Readonly<Record<string, { readonly status: string }>>;
}

async function tradesOf(user: TestClient, { id }: Ended): Promise<readonly unknown[]> {
  return (await user.get(`/api/backtests/${id}/trades?limit=200`)).list("/trades");
}

async function requireTwin(user: TestClient, record: Ended, twin: Ended): Promise<void> {
  const trades = await tradesOf(user, record);
  expect(trades.length).toBeGreaterThan(10);
  expect(trades).toEqual(await tradesOf(user, twin));
  expect(record.result.metrics).toEqual(twin.result.metrics);
  const { lookahead, determinism, warm_up: warmUp } = record.result.integrity;
  expect([lookahead!.status, determinism!.status]).toEqual(["passed", "passed"]);
  expect(warmUp!.status).not.toBe("failed");
}

/** Each input ends with the newest candle that had closed at the close of the request's last, which is found anew. */
function requireClosed({ candles: { time }, inputs }: Pick<InputsRequest, "candles" | "inputs">, asked: number): void {
  const { daily, stock } = inputs;
  const end = time.at(-1)! + HOUR_MS;
  expect(daily!.candles.time.at(-1)).toBe(Math.floor(end / DAY_MS) * DAY_MS - DAY_MS);
  expect(stock!.candles.close.at(-1)).toBe(stockAt(end));
  for (const { newest, candles } of [daily!, stock!]) {
    expect([newest.length, newest.at(-1)]).toEqual([time.length, candles.time.length - 1]);
  }
  for (let j = time.length - asked; j < time.length; j++) {
    const closed = Math.floor((time[j]! + HOUR_MS) / DAY_MS) * DAY_MS - DAY_MS;
    expect([j, daily!.candles.time[daily!.newest[j]!]]).toEqual([j, closed]);
    expect([j, stock!.candles.close[stock!.newest[j]!]]).toEqual([j, stockAt(time[j]! + HOUR_MS)]);
  }
}

/** Answers in the place of a user's program until the run has ended. */
async function served(user: TestClient, twin: Ended): Promise<void> {
  const runtime = { type: "remote", endpoint: "serve:mine", lookbackCandles: LOOKBACK };
  let ended = false;
  const running = run(user, { inputs: INPUTS, runtime }).finally(() => ended = true);
  let answer: object | undefined;
  while (!ended) {
    const body = { wait: 1, ...(answer === undefined ? {} : { answer }) };
    const said = await user.send("POST", "/api/endpoints/mine/next", body);
    answer = said.at("/request") === null
      ? undefined
      : { id: said.at("/request/id"), body: follow(Object(said.at("/request/body"))) };
  }
  await requireTwin(user, await running, twin);
}

async function trials(user: TestClient, runtime: object, twin: Ended): Promise<void> {
  const { fresh: _fresh, parameters: _parameters, ...rest } = REQUEST;
  const submitted = await user.send("POST", "/api/optimizations", {
    optimization: {
      ...{ ...rest, strategy: "mine", parameters: { timeframe: "1h", inputs: INPUTS, runtime } },
      space: { level: { values: [1, 2] } },
    },
  });
  expect([submitted.status, submitted.at("/error")]).toEqual([202, undefined]);
  const id = String(submitted.at("/optimization/id"));
  await finishOptimization(user, id);
  const listed = (await user.get(`/api/optimizations/${id}/trials`)).list("/trials").map((trial) => Object(trial));
  expect(listed.length).toBe(2);
  for (const { metrics } of listed) {
    expect(metrics.total_return).toBe(Object(twin.result.metrics).total_return);
  }
}

async function refusals(user: TestClient, at: (path: string, mode: string) => object): Promise<void> {
  const other = { symbol: "BBB", exchange: "LAB" };
  const minutes = { own: { timeframe: "1m" }, other: { timeframe: "1m", ...other } };
  const submit = async (mode: string, lookbackCandles: number, more: object) => {
    const runtime = { ...at("/follow", mode), lookbackCandles };
    const parameters = { timeframe: "1h", runtime, ...more };
    return await user.send("POST", "/api/backtests", { backtest: { ...REQUEST, strategy: "mine", parameters } });
  };
  const wide = await submit("batch", 1000, { inputs: minutes });
  expect([wide.status, wide.at("/error/issues/0/path"), wide.at("/error/issues/0/message")]).toEqual([
    400,
    "/backtest/parameters/inputs",
    // 1,000 hours of minutes and one more, of two inputs, beside 1,001 hours.
    "must make requests of at most 50000 candles, and a decision has 121003: choose coarser timeframes, fewer inputs or a smaller lookbackCandles",
  ]);
  const many = Array.from({ length: 60 }, (_, n) => ({ symbol: `N${n}`, exchange: "LAB" }));
  const all = await submit("portfolio", 60, { inputs: { own: { timeframe: "1m" } }, instruments: many });
  // 61 hours, and 60 of minutes and one more.
  expect([all.status, all.at("/error/issues/0/message")]).toEqual([
    400,
    "must make requests of at most 200000 candles: 60 instruments of 3662 candles are 219720; choose fewer instruments or a smaller lookbackCandles",
  ]);
}
