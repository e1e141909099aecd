/** Scripts through the door that users take: registered, submitted and run over HTTP, each in its own check. */
import { expect } from "@std/expect";
import { SIZES_BY } from "../../engine/strategy.ts";
import { BUILTINS } from "../../strategies/builtin/catalogue.ts";
import { LAYOUT } from "../../workers/sandbox/contracts/layout.ts";
import type { TestClient } from "../support/client.ts";
import { startTestService } from "../support/service.ts";
import { deciding } from "../workers/sandbox/script/scripts.ts";
import { RANGE, registration } from "./foreign_code.ts";

const FOLDER = new URL("../../strategies/scripts/", import.meta.url);
/** A stop and a target that are so near that candles of the check, and of the sample, touch both. */
const TIGHT = "stopLossFraction: 0.002, takeProfitFraction: 0.002";
/** The sample rises at once: a coarser grid never buys. */
const PARAMETERS: Readonly<Record<string, object>> = { grid: { spacing: 0.0005 } };
const FLAT = "account.quantity === 0 && orders.working.length === 0";
const price = (factor: number) => `candles.close[i] * ${factor}`;
const entering = (options: string) => `if (${FLAT}) orders.buy({ ${TIGHT}, ${options} });`;

/** Lines of `decide` for each option of an order, beside the tight stop and target. */
const OPTIONS: Readonly<Record<string, string>> = {
  limitPrice: entering(`limitPrice: ${price(1)}`),
  stopPrice: entering(`stopPrice: ${price(1)}`),
  stopLoss: `if (${FLAT}) orders.buy({ takeProfitFraction: 0.002, stopLoss: ${price(0.998)} });`,
  takeProfit: `if (${FLAT}) orders.buy({ stopLossFraction: 0.002, takeProfit: ${price(1.002)} });`,
  stopLossFraction: entering("stopLossFraction: 0.001"),
  takeProfitFraction: entering("takeProfitFraction: 0.001"),
  trailDistance: entering("trailDistance: 0.5"),
  trailFraction: entering("trailFraction: 0.002"),
  size: entering("size: 1"),
  candlesMax: entering(`limitPrice: ${price(0.999)}, candlesMax: 2`),
  timeStopCandles: entering("timeStopCandles: 2"),
  sizeBy: SIZES_BY.slice(1).map((unit, n) => `if (i % 3 === ${n}) { ${entering(`size: 0.5, sizeBy: "${unit}"`)} }`)
    .join("\n"),
  reduceOnly: `${entering('tag: "in"')} if (account.quantity > 0) orders.sell({ reduceOnly: true, size: 0.1 });`,
  tag: entering('tag: "in"'),
};

/** The acts that are no option of an order. */
const ACTS: Readonly<Record<string, string>> = {
  "a stop-limit order": entering(`stopPrice: ${price(1)}, limitPrice: ${price(1.001)}`),
  "a short with both": `if (${FLAT}) orders.sell({ ${TIGHT} });`,
  "a partial close": `${entering("")} else if (account.quantity > 0) orders.close(0.5, "half");`,
  "a close of one trade": `${
    entering("")
  } else if (orders.trades.length > 0) orders.closeTrade(orders.trades[0].trade, 0.5);`,
  "a cancel": `if (i % 7 === 0) this.order = orders.buy({ ${TIGHT}, limitPrice: ${price(0.98)} });
    if (i % 7 === 3 && this.order !== undefined && orders.isWorking(this.order)) orders.cancel(this.order); ${
    entering("")
  }`,
  "a cancel of all": `if (i % 5 === 0) orders.cancelAll(); ${entering(`limitPrice: ${price(0.999)}`)}`,
  "a replace": `if (orders.working.length > 0) orders.replace(orders.working[0], "buy", { ${TIGHT} });
    else if (account.quantity === 0) orders.buy({ ${TIGHT}, limitPrice: ${price(0.99)} });`,
  "protect": `if (${FLAT}) orders.buy({ ${TIGHT} });
    for (const { trade, entryPrice } of orders.trades) {
      orders.protect(trade, { stopLoss: entryPrice * 0.998, takeProfit: entryPrice * 1.002 });
    }`,
  "a log and a plot": `const { info } = console; info(i); plot("close", candles.close[i]); ${entering("")}`,
};

async function run(user: TestClient, strategy: string, parameters: object): Promise<{ id: string; result: object }> {
  const backtest = { ...RANGE, strategy, parameters: { timeframe: "1h", ...parameters } };
  const submitted = await user.send("POST", "/api/backtests", { backtest });
  expect([submitted.status, submitted.at("/error")]).toEqual([202, undefined]);
  const done = await user.finish(submitted.at("/backtest/id"));
  expect([done.at("/backtest/status"), done.at("/backtest/error")]).toEqual(["completed", null]);
  return { id: String(done.at("/backtest/id")), result: Object(done.at("/backtest/result")) };
}

async function tradesOf(user: TestClient, strategy: string, parameters: object): Promise<readonly unknown[]> {
  const { id } = await run(user, strategy, parameters);
  return (await user.get(`/api/backtests/${id}/trades?limit=200`)).list("/trades");
}

Deno.test("each order option of a script passes its check and runs, where candles touch stop and target", async (t) => {
  const declared = [...LAYOUT.doubleOptions, "candlesMax", "timeStopCandles", "sizeBy", "reduceOnly", "tag"];
  expect(Object.keys(OPTIONS).sort()).toEqual(declared.sort());
  const service = await startTestService();
  const user = await service.user();
  let ambiguous = 0;
  for (const [n, [name, lines]] of Object.entries({ ...OPTIONS, ...ACTS }).entries()) {
    await t.step(name, async () => {
      const runtime = { type: "script", source: deciding(lines), lookbackCandles: 200 };
      const created = await user.send("POST", "/api/strategies", { strategy: registration(`option-${n}`, runtime) });
      expect([created.status, created.at("/error")]).toEqual([201, undefined]);
      const registered = await run(user, `option-${n}`, {});
      const given = await run(user, "given", { runtime });
      expect(Reflect.get(given.result, "metrics")).toEqual(Reflect.get(registered.result, "metrics"));
      if (Reflect.get(given.result, "bounds") !== null) ambiguous++;
    });
  }
  // The others close before both are touched, or have one of them at a time.
  expect(ambiguous).toBeGreaterThan(12);
  await service.close();
});

Deno.test("each built-in strategy's script is registered, submitted and trades as the built-in does", async (t) => {
  const service = await startTestService();
  const user = await service.user();
  for (const { slug, name, parameter_schema, lookback_candles } of BUILTINS) {
    await t.step(slug, async () => {
      const source = await Deno.readTextFile(new URL(`${slug.replaceAll("-", "_")}.ts`, FOLDER));
      const strategy = {
        ...registration(`script-${slug}`, { type: "script", source, lookbackCandles: lookback_candles }),
        parameter_schema,
        lookback_candles,
      };
      const created = await user.send("POST", "/api/strategies", { strategy });
      expect([created.status, created.at("/error")]).toEqual([201, undefined]);
      const parameters = PARAMETERS[slug] ?? {};
      const expected = await tradesOf(user, name, parameters);
      expect(expected.length).toBeGreaterThan(0);
      expect(await tradesOf(user, `script-${slug}`, parameters)).toEqual(expected);
    });
  }
  await service.close();
});

/** Puts a request of its own in the place of an indicator's. */
const FORGED = (request: string) =>
  `const { push } = Array.prototype;
Array.prototype.push = function (value) { return push.call(this, Object(value).name === "sma" ? ${request} : value); };
${deciding("", "sma(candles.close, 2);")}`;

const REFUSED: Readonly<Record<string, readonly [source: string, message: RegExp]>> = {
  "a period beyond all candles": [
    deciding("", "sma(candles.close, 1e9);"),
    /RangeError: sma: period must be .* not 1000000000 at prepare \(strategy\.ts:2:/,
  ],
  "a forged period": [
    FORGED("{ name: 'sma', inputs: [0], numbers: [1e9], texts: [] }"),
    /Cannot compute sma with a period of 1000000000/,
  ],
  "a forged indicator": [
    FORGED("{ name: 'constructor', inputs: [0], numbers: [2], texts: [] }"),
    /Cannot compute constructor/,
  ],
  "a forged column": [FORGED("{ name: 'sma', inputs: [99], numbers: [2], texts: [] }"), /it asks for no column/],
  "a request that is none": [FORGED("7"), /its requests are none/],
  "a member that is not there": [
    deciding("\n  if (account.quantiy === 0) orders.buy();"),
    /account\.quantiy at decide \(strategy\.ts:4:\d+\) is not known: did you mean quantity\?/,
  ],
  "a proxy as error": [
    `const trap = () => { throw made(); }; const made = () => new Proxy({}, { getPrototypeOf: trap, get: trap });
    throw made();`,
    /Cannot start: /,
  ],
};

Deno.test("a mistake of a script, or a forged request, is refused at once and with its reason", async (t) => {
  const service = await startTestService();
  const user = await service.user();
  for (const [name, [source, message]] of Object.entries(REFUSED)) {
    await t.step(name, async () => {
      const answer = await user.send("POST", "/api/strategies", {
        strategy: registration("refused", { type: "script", source }),
      });
      expect([answer.status, answer.at("/error/code")]).toEqual([400, "INVALID_SCRIPT"]);
      expect(answer.at("/error/message")).toMatch(message);
      expect(answer.at("/error/message")).not.toMatch(/Cannot use the script.*Cannot use the script/s);
    });
  }
  await service.close();
});

Deno.test("a log of the most lines is sent in pieces, and one that was taken over fails the run with its reason", async () => {
  const service = await startTestService();
  const user = await service.user();
  const submit = async (source: string) => {
    const parameters = { timeframe: "1h", runtime: { type: "script", source } };
    const submitted = await user.send("POST", "/api/backtests", {
      backtest: { ...RANGE, strategy: "logs", parameters },
    });
    expect([submitted.status, submitted.at("/error")]).toEqual([202, undefined]);
    return await user.finish(submitted.at("/backtest/id"));
  };
  const full = await submit(deciding('const { log } = console; log("\\"".repeat(5000));'));
  expect([full.at("/backtest/status"), full.at("/backtest/error")]).toEqual(["completed", null]);
  const path = `/api/backtests/${full.at("/backtest/id")}/log`;
  const answer = await user.get(path);
  expect(answer.headers.get("content-length")).toBe(null);
  const lines = answer.list("/log");
  expect([lines.length, String(lines[0]).length]).toEqual([1000, 1024]);
  const input = encodeURIComponent(JSON.stringify({ id: full.at("/backtest/id") }));
  expect((await user.get(`/trpc/backtests.log?input=${input}`)).at("/result/data/log")).toEqual(lines);

  // The check has 512 candles: a script that behaves until then is registered.
  const taken = await submit(`const held = [];
const { push } = Array.prototype;
Array.prototype.push = function (value) { held[0] = this; return push.call(this, value); };
${deciding('const { log } = console; if (i === 600) { log("a"); held[0][0] = "x".repeat(2 ** 26); }')}`);
  expect([taken.at("/backtest/status"), taken.at("/backtest/error/code")]).toEqual(["failed", "STRATEGY_FAILED"]);
  expect(taken.at("/backtest/error/message")).toMatch(/a line of its log has 67108864 characters: at most 1024/);
  expect((await user.get(`/api/backtests/${taken.at("/backtest/id")}/log`)).at("/log")).toEqual([]);
  await service.close();
});
