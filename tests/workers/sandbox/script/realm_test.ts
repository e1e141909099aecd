/** A script sees candles, asks for indicators and places orders. */
import { expect } from "@std/expect";
import { atr } from "../../../../engine/indicators/atr.ts";
import { macd } from "../../../../engine/indicators/macd.ts";
import { sma } from "../../../../engine/indicators/sma.ts";
import { LIMIT, MARKET, STOP, STOP_LIMIT } from "../../../../engine/strategy.ts";
import { LAYOUT } from "../../../../workers/sandbox/contracts/layout.ts";
import { makeColumns } from "../../../../workers/sandbox/script/realm/columns.ts";
import { makeMemory } from "../../../../workers/sandbox/script/realm/memory.ts";
import { makePlots } from "../../../../workers/sandbox/script/realm/output.ts";
import { dailyCandles } from "../wasm/modules.ts";
import { deciding, failureOf, playScript } from "./scripts.ts";

const CLOSES = [10, 11, 12, 11, 13, 14, 12, 15];

Deno.test("a script reads its parameters, keeps columns in `this`, and trades", async () => {
  const { result, log } = await playScript(
    `strategy(({ period = 3, stop }: { period?: number; stop: number }) => ({
  warmup: period + 1,
  prepare({ close }) { this.mean = sma(close, period); console.log("stop", stop); },
  decide(i, { close }, account, orders) {
    if (account.quantity === 0 && close[i] > this.mean[i]) orders.buy({ stopLossFraction: stop, tag: "grün" });
    else if (account.quantity > 0 && close[i] < this.mean[i]) orders.close();
  },
}));`,
    CLOSES,
    { parameters: { stop: 0.5 } },
  );
  expect(log).toEqual(["stop 0.5"]);
  // The first decision sees four candles, and 11 is below the mean of 11, 12 and 11.
  expect([...result.orders.time].map((time) => time / 86_400_000)).toHaveLength(result.orders.count);
  expect(result.orders.tag[0]).toBe("grün");
  expect(result.trades.count).toBeGreaterThan(0);
});

Deno.test("a script knows the length of its candles and where its range begins", async () => {
  const source =
    `strategy((_, { timeframeMs, firstIndex }) => ({ decide() { console.log(timeframeMs, firstIndex); } }));`;
  const hours = await playScript(source, CLOSES, { timeframeMs: 3_600_000, firstIndex: CLOSES.length - 1 });
  expect(hours.log).toEqual([`3600000 ${CLOSES.length - 1}`]);
  // A twelfth of a year stands for months.
  const months = await playScript(source, [10], { timeframeMs: null });
  expect(months.log).toEqual([`${365.2425 * 86_400_000 / 12} 0`]);
});

Deno.test("candles, indicators and their joins end with the deciding candle", async () => {
  const candles = dailyCandles(CLOSES);
  const { log } = await playScript(
    deciding(
      `const row = (column) => Array.from(column.slice(0, ${CLOSES.length}));
      console.log([candles.close, this.mean, this.lines.signal, this.range, this.middle, this.before].map(row));`,
      `this.mean = sma(candles.close, 3);
      this.lines = macd(candles.close, 2, 3, 2);
      this.range = atr(candles.high, candles.low, candles.close, 2);
      this.middle = sma(divide(add(candles.high, candles.low), 2), 2);
      this.before = shift(candles.close, 2);`,
    ),
    candles,
  );
  const { high, low, close } = candles;
  const whole = [
    close,
    sma(close, 3),
    macd(close, { fast: 2, slow: 3, signal: 2 }).signal,
    atr(high, low, close, 2),
    sma(high.map((top, i) => (top + low[i]!) / 2), 2),
    close.map((_, i) => close[i - 2] ?? NaN),
  ];
  const seen: (number | null)[][][] = log.map((line) => JSON.parse(line));
  expect(seen).toHaveLength(CLOSES.length);
  seen.forEach((columns, i) => {
    const shown = whole.map((column) =>
      [...column].map((value, row) => row <= i && !Number.isNaN(value) ? value : null)
    );
    expect(columns).toEqual(shown);
  });
});

Deno.test("a script sees the account as the simulator has it at each close, also at candles that are decided on together", async () => {
  const closes = Array.from({ length: 700 }, (_, i) => 100 + (i * 37 % 11) / 7);
  const { result, plots } = await playScript(
    deciding(`plot("equity", account.equity); plot("quantity", account.quantity); plot("cash", account.cash);
      if (i % 97 === 5) orders.buy({ size: 0.3, stopLossFraction: 0.01 });
      if (i % 97 === 60) orders.close(0.5);
      if (i % 193 === 7) orders.sell({ limitPrice: 101, size: 0.7, candlesMax: 9 });`),
    closes,
  );
  const [equity, quantity, cash] = plots.map(({ values }) => values);
  expect(result.trades.count).toBeGreaterThan(10);
  // The last position is closed after the last decision.
  const decided = closes.length - 1;
  expect(equity!.subarray(0, decided)).toEqual(result.equity.subarray(0, decided));
  expect(quantity!.subarray(0, decided)).toEqual(result.position.subarray(0, decided));
  expect(cash!.map((money, i) => money + quantity![i]! * closes[i]!)).toEqual(equity);
});

Deno.test("a script that hides the names of what it reads finds all of it, and has decided once on each candle", async () => {
  const { log } = await playScript(
    `strategy(() => ({
  decide(i, candles, account, orders) {
    if (i === 0) orders.buy({ tag: "in" });
    if (i < 3) return console.log(i);
    const column = candles["vol" + "ume"];
    console.log(i, column[i], column[i + 1], candles["clo" + "se"][0], orders["trad" + "es"].length);
  },
}));`,
    { ...dailyCandles([10, 11, 12, 13, 14]), volume: Float64Array.of(1, 2, 3, 4, 5) },
  );
  expect(log).toEqual(["0", "1", "2", "3 4 NaN 10 1", "4 5 NaN 10 1"]);
});

Deno.test("a script sees each candle at its close, with a long lookback and orders in between", async () => {
  const closes = Array.from({ length: 1500 }, (_, i) => 100 + i * 7 % 13);
  const { log } = await playScript(
    deciding(
      `const { close } = candles;
      // The whole lookback at first, then the newest candle; none behind it.
      for (let n = this.seen; n <= i; n++) if (close[n] !== 100 + n * 7 % 13 || this.mean[n] !== close[n]) console.log("wrong", n, i);
      if (!Number.isNaN(close[i + 1]) || !Number.isNaN(this.mean[i + 1])) console.log("ahead", i);
      this.seen = i + 1;
      if (i % 5 === 0 && i % 700 < 350) orders.buy({ size: 0.01 });
      if (i === 1499) console.log("seen", this.seen);`,
      "this.mean = sma(candles.close, 1); this.seen = 0;",
    ),
    closes,
    { firstIndex: 610 },
  );
  expect(log).toEqual(["seen 1500"]);
});

Deno.test("an order that another one's options place has the name that its call returned", async () => {
  const { log } = await playScript(
    deciding(`if (i === 0) {
      let inner;
      const outer = orders.buy({ size: 1, get limitPrice() { inner = orders.buy({ size: 1, limitPrice: 4 }); return 5; } });
      this.names = [outer, inner];
    }
    if (i === 1) orders.cancel(this.names[0]);
    if (i === 2) console.log([0, ...this.names].map((order) => orders.isWorking(order)));
    if (i === 3) console.log(orders.working.map((order) => order === this.names[1]));`),
    [10, 10, 10, 10],
  );
  expect(log).toEqual(["[false,false,true]", "[true]"]);
});

Deno.test("orders of every type arrive with their prices, sizes and guards", async () => {
  const { result } = await playScript(
    deciding(`if (i > 0) return;
    orders.buy();
    orders.buy({ limitPrice: 5, size: 2, candlesMax: 1 });
    orders.sell({ stopPrice: 6, size: 0.25, sizeBy: "equity_fraction", reduceOnly: true });
    orders.sell({ stopPrice: 6, limitPrice: 5.5, size: 1, tag: "both" });`),
    [10, 10, 10],
  );
  const { orders } = result;
  expect([...orders.type].slice(0, 4)).toEqual([MARKET, LIMIT, STOP, STOP_LIMIT]);
  expect([...orders.limitPrice].slice(0, 4)).toEqual([NaN, 5, NaN, 5.5]);
  expect([...orders.stopPrice].slice(0, 4)).toEqual([NaN, NaN, 6, 6]);
  expect([...orders.side].slice(0, 4)).toEqual([1, 1, -1, -1]);
  expect(orders.tag[3]).toBe("both");
});

Deno.test("orders are cancelled, replaced and listed by the numbers that the calls return", async () => {
  const { log } = await playScript(
    deciding(
      `if (i === 0) this.first = orders.buy({ limitPrice: 5 }), this.second = orders.buy({ limitPrice: 4 });
      if (i === 1) orders.cancel(this.first), this.third = orders.replace(this.second, "buy", { limitPrice: 3 });
      if (i === 3) orders.cancelAll();
      console.log(orders.working, [this.first, this.second, this.third ?? 1].map((order) => orders.isWorking(order)));`,
    ),
    [10, 10, 10, 10, 10],
  );
  expect(log).toEqual([
    "[] [true,true,true]",
    "[1,2] [true,true,true]",
    "[3] [false,false,true]",
    "[3] [false,false,true]",
    "[] [false,false,false]",
  ]);
});

Deno.test("trades are listed, protected and closed in part", async () => {
  const { result, log } = await playScript(
    deciding(
      `if (i === 0) orders.buy({ size: 2 });
      if (i === 1) orders.protect(orders.trades[0].trade, { stopLoss: 5 }), orders.closeTrade(orders.trades[0].trade, 0.5);
      console.log(orders.trades);`,
    ),
    [10, 10, 10, 4, 4],
  );
  expect(JSON.parse(log[1]!)).toMatchObject([{ trade: 0, quantity: 2, entryPrice: 10, stopLoss: null }]);
  expect(JSON.parse(log[2]!)).toMatchObject([{ trade: 0, quantity: 1, entryPrice: 10, stopLoss: 5 }]);
  expect(log[4]).toBe("[]");
  expect(result.trades.count).toBe(2);
});

Deno.test("a plotted series has a value where the script plotted one", async () => {
  const { plots } = await playScript(deciding(`if (i % 2 === 0) plot("twice", 2 * candles.close[i]);`), [10, 11, 12]);
  expect(plots.map(({ name, values }) => [name, [...values]])).toEqual([["twice", [20, NaN, 24]]]);
});

Deno.test("a plot's pane is chosen with its first value, and an infinite value is none", async () => {
  const lines = `plot("a", i === 1 ? Infinity : i, "own"); plot("b", i, i === 0 ? "price" : "own"); plot("c", i);`;
  const { plots } = await playScript(deciding(lines), [10, 11, 12]);
  expect(plots.map(({ name, pane, values }) => [name, pane, ...values])).toEqual([
    ["a", "own", 0, NaN, 2],
    ["b", "price", 0, 1, 2],
    ["c", null, 0, 1, 2],
  ]);
});

Deno.test("a plot without a usable name or pane is refused", async () => {
  for (
    const [call, message] of [
      ['plot("timestamp", 1)', "a plot cannot be named timestamp"],
      ['plot("a\\n", 1)', "a plot's name must be a text of 1 to 64 characters, none of them a control character"],
      ['plot("x".repeat(65), 1)', "a plot's name must be a text of 1 to 64 characters"],
      ['plot("a", 1, 2)', "a plot's pane must be a text of 1 to 64 characters"],
      ["for (let n = 0; n < 17; n++) plot(String(n), 1)", "a strategy can plot at most 16 series"],
    ] as const
  ) expect(await failureOf(() => playScript(deciding(call), [10, 11]))).toContain(message);
});

Deno.test("plots that a run has no room for are left out, and the log says so", () => {
  const log: string[] = [];
  const layout = { ...LAYOUT, plotValuesMax: 5 };
  const memory = { ...makeMemory(layout), i: 0 };
  const columns = { ...makeColumns(layout, memory), capacity: () => 2 };
  const { names, plot } = makePlots(layout, { memory, columns, log: (line) => log.push(line) });
  for (const name of ["a", "b", "c", "c"]) plot(name, 1);
  expect([names, log]).toEqual([
    ["a", "b"],
    ["the plot c is not kept: a run keeps 5 values of all plots together"],
  ]);
});

Deno.test("utc gives the parts of a time", async () => {
  const { log } = await playScript(deciding(`if (i === 0) console.log(utc(Number("1709251140000")));`), [10, 10]);
  expect(log).toEqual(['{"year":2024,"month":2,"day":29,"weekday":4,"hour":23,"minute":59}']);
});

Deno.test("each simulation of a run begins anew", async () => {
  const source = `let calls = 0;\n${deciding("calls++; if (i === 1) orders.buy({ size: calls });")}`;
  const [first, second] = [await playScript(source, CLOSES), await playScript(source, CLOSES)];
  expect([...first.result.equity]).toEqual([...second.result.equity]);
});

const WRONG: readonly (readonly [name: string, lines: string, message: RegExp])[] = [
  ["an unknown option", "orders.buy({ stopLos: 1 })", /stopLos is no option .*: there are .*stopLoss/],
  ["a price that is no number", "orders.buy({ limitPrice: NaN })", /limitPrice must be a number, not NaN/],
  ["a size without a number", 'orders.buy({ sizeBy: "cash" })', /sizeBy needs a size/],
  ["an unknown unit", 'orders.buy({ size: 1, sizeBy: "lots" })', /sizeBy must be one of units, equity_fraction/],
  ["a fraction above 1", "orders.close(2)", /fraction to close must be above 0 and at most 1, not 2/],
  ["a tag that is too long", 'orders.buy({ tag: "x".repeat(65) })', /a tag can have at most 64 bytes, not 65/],
  ["half a surrogate pair", 'orders.buy({ tag: "\\ud800" })', /URI malformed/],
  ["an order of nobody", "orders.cancel(7)", /an order is what buy, sell, close and replace return, not 7/],
  ["too many orders", "for (let n = 0; n < 1025; n++) orders.buy()", /at most 1024 orders/],
  ["an indicator in decide", "sma(candles.close, 3)", /sma is for prepare/],
  ["a size below 0", "orders.buy({ size: -1 })", /size must be a number above 0, not -1/],
  ["capitals that are none", "SMA(candles.close, 3)", /SMA is not defined: did you mean sma\?/],
  ["a misspelt name", "order.buy()", /order is not defined at/],
  ["a misspelt global", "crossAbove(candles.close, candles.open, i)", /not defined: did you mean crossesAbove\?/],
  ["two letters that changed places", "orders.byu()", /orders\.byu is not a function: did you mean buy\?/],
  ["a method that is left out", "orders.flatten()", /orders\.flatten is not a function at/],
  ["a method of the script's own", "this.by()", /this\.by is not a function at/],
  ["a promise", "return (async () => {})()", /decide must not be async/],
  ["a thrown text", 'throw "no"', /it threw no/],
];

Deno.test("a mistake in decide names the candle, the line and the reason", async (t) => {
  for (const [name, lines, message] of WRONG) {
    await t.step(name, async () => {
      const failure = await failureOf(() => playScript(deciding(lines), CLOSES));
      expect(failure).toMatch(message);
      expect(failure).toMatch(/^Cannot (go on at|take the orders of|take order) .*candle 0 \(.*Z\)/);
      if (!/throw|async/.test(lines)) expect(failure).toMatch(/strategy\.ts:3:\d+/);
    });
  }
});

const UNFIT: readonly (readonly [name: string, source: string, message: RegExp])[] = [
  ["no strategy", "const a = 1;", /never calls strategy/],
  ["two strategies", "strategy(() => ({ decide() {} })); strategy(() => ({ decide() {} }));", /called twice/],
  ["no decide", "strategy(() => ({ decied() {} }));", /decied is not known: use warmup, prepare, decide, onFill/],
  ["a warm-up of half a candle", "strategy(() => ({ warmup: 0.5, decide() {} }));", /warmup must be a whole number/],
  [
    "a warm-up of a parameter that is not given",
    "strategy(({ fast = 2, slow }) => ({ warmup: slow + fast, decide() {} }));",
    /not NaN: the run gives no parameter fast, slow$/,
  ],
  ["a trade for its number", deciding("orders.closeTrade({ trade: 1 })"), /give its number, as in trade\.trade/],
  ["a period of 0", deciding("", "sma(candles.close, 0)"), /sma: period must be a whole number .*strategy.ts:2:/],
  ["a column of its own", deciding("", "sma([1, 2], 3)"), /sma: values must be a column of candles/],
  ["an error at the top", "\n\nnull.x;", /Cannot read properties of null .* at strategy\.ts:3:6/],
  ["a name that a global has", "const add = 1;", /Identifier 'add' has already been declared/],
  ["a name that is refused", "\nlet Date = 1;", /Identifier 'Date' has already been declared/],
  ["endless recursion", "function f() { return f() + 1; } f();", /Maximum call stack size exceeded/],
];

Deno.test("a strategy that cannot begin says why", async (t) => {
  for (const [name, source, message] of UNFIT) {
    await t.step(name, async () => expect(await failureOf(() => playScript(source, CLOSES))).toMatch(message));
  }
});
