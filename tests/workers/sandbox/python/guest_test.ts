/** The world of Python scripts: columns that end with the deciding candle, indicators, orders, the account, parameters, errors. */
import { expect } from "@std/expect";
import { failureOf, playScript } from "../script/scripts.ts";
import { failureOfPython, logOfPython, playPython, pythonDeciding } from "./python_scripts.ts";

const CLOSES = [10, 11, 12, 11, 13, 14, 12, 15, 16, 11, 9, 12];

Deno.test("a column ends with the deciding candle", async () => {
  expect(
    await logOfPython("print(i, len(candles.close), candles.close[-1], candles.close[i], list(candles.close[-2:]))"),
  )
    .toEqual([
      "0 1 10.0 10.0 [10.0]",
      "1 2 11.0 11.0 [10.0, 11.0]",
      "2 3 12.0 12.0 [11.0, 12.0]",
      "3 4 11.0 11.0 [12.0, 11.0]",
      "4 5 13.0 13.0 [11.0, 13.0]",
    ]);
  expect(await failureOfPython("candles.close[i + 1]")).toMatch(/IndexError: .*decide \(strategy\.py:6:9\)$/);
  expect(await logOfPython("pass", "print(len(candles.close), len(sma(candles.close, 2)))")).toEqual(["0 0"]);
  expect(await failureOfPython("candles.close[i] = 1.0")).toMatch(/TypeError: cannot modify read-only memory/);
  expect(await logOfPython("if i == 2: print(set(bytes(candles.close.obj)[24:]))")).toEqual(["{0}"]);
});

Deno.test("a column is given that the text does not name", async () => {
  expect(await logOfPython('if i > 2: print(getattr(candles, "hi" + "gh")[-1])')).toEqual(["12.5", "13.5"]);
  expect(await logOfPython('orders.buy(limit_price=1)\nprint(getattr(orders, "work" + "ing"))')).toEqual([
    "()",
    "(1,)",
    "(1, 2)",
    "(1, 2, 3)",
    "(1, 2, 3, 4)",
  ]);
});

Deno.test("indicators are the host's, by position or by name, and give tuples of columns", async () => {
  const prepare = `self.mean = sma(candles.close, period=2)
self.bands = bollinger(candles.close, 2, width=1.0)
upper, middle, lower = self.bands
self.spread = subtract(upper, 1)`;
  expect(await logOfPython("if i > 1: print(self.mean[i], self.bands.middle[i], self.spread[i])", prepare)).toEqual([
    "11.5 11.5 11.0",
    "11.5 11.5 11.0",
    "12.0 12.0 12.0",
  ]);
  expect(await failureOfPython("pass", "sma(candles.close)")).toMatch(
    /TypeError: sma takes values, period: period is mis/,
  );
  expect(await failureOfPython("pass", "sma(candles.close, 0)")).toMatch(
    /ValueError: sma: period must be a whole number/,
  );
  expect(await failureOfPython("pass", "sma([1, 2], 2)")).toMatch(/TypeError: sma: values must be a column/);
  expect(await failureOfPython("sma(candles.close, 2)")).toMatch(/RuntimeError: sma is for prepare/);
});

Deno.test("a cross trades to the byte as the same script in TypeScript", async () => {
  const python = `class Cross(Strategy):
    def prepare(self, candles):
        self.a = sma(candles.close, 2)
        self.b = sma(candles.close, 3)
    def decide(self, i, candles, account, orders):
        if crosses_below(self.a, self.b, i): orders.buy(stop_loss_fraction=0.1, tag="down")
        elif crosses_above(self.a, self.b, i): orders.close(0.5, "up")
`;
  const typescript = `strategy(() => ({
    prepare({ close }) { this.a = sma(close, 2); this.b = sma(close, 3); },
    decide(i, { close }, account, orders) {
      if (crossesBelow(this.a, this.b, i)) orders.buy({ stopLossFraction: 0.1, tag: "down" });
      else if (crossesAbove(this.a, this.b, i)) orders.close(0.5, "up");
    },
  }));`;
  const [ours, theirs] = [await playPython(python, CLOSES), await playScript(typescript, CLOSES)];
  expect(ours.result).toEqual(theirs.result);
  expect(ours.result.orders.count).toBeGreaterThan(1);
});

Deno.test("the account, its trades and working orders are known", async () => {
  const log = await logOfPython(`if i == 0: orders.buy(size=2, take_profit=100); self.low = orders.buy(limit_price=1)
print(account.quantity, account.cash, account.equity, account.entry_price, len(orders.trades), orders.is_working(self.low))
if i == 2: orders.protect(orders.trades[0].trade, stop_loss=5)
if i == 3: orders.cancel(self.low); orders.close_trade(orders.trades[0].trade)`);
  // Candle 0 decides, candle 1 buys 2 at its open of 10.
  expect(log).toEqual([
    "0.0 10000.0 10000.0 nan 0 True",
    "2.0 9980.0 10002.0 10.0 1 True",
    "2.0 9980.0 10004.0 10.0 1 True",
    "2.0 9980.0 10002.0 10.0 1 True",
    "0.0 10002.0 10002.0 nan 0 False",
  ]);
});

Deno.test("options of orders are checked, and nothing of a refused order is placed", async () => {
  const refused = async (call: string) => (await failureOfPython(call)).replace(/^.*?Z\): | at \w+ \(strategy.*$/g, "");
  expect(await refused("orders.buy(sise=1)")).toMatch(
    /^TypeError: sise is no option of an order: there are limit_price/,
  );
  expect(await refused("orders.buy(size='1')")).toMatch(/^ValueError: size must be a number above 0, not '1'/);
  expect(await refused("orders.buy(size=float('nan'))")).toBe(
    "ValueError: size must be a number above 0, not nan: orders.sell sells",
  );
  expect(await refused("orders.buy(size=-1)")).toMatch(/^ValueError: size must be a number above 0, not -1/);
  expect(await refused("orders.buy(size_by='cash')")).toBe("TypeError: size_by needs a size");
  expect(await refused("orders.buy(size=1, size_by='lots')")).toMatch(
    /^TypeError: size_by must be one of units, equity/,
  );
  expect(await refused("orders.close(2)")).toMatch(/^ValueError: the fraction to close/);
  expect(await refused("orders.byu()")).toMatch(/no attribute 'byu': did you mean buy\?$/);
  expect(await refused("SMA(candles.close, 3)")).toBe("NameError: name 'SMA' is not defined: did you mean sma?");
  expect(await refused("math.sqrt(2)")).toBe("NameError: name 'math' is not defined: write import math at the top");
  expect(await refused("orders.protect(type('Trade', (), {'trade': 1})(), stop_loss=1)")).toMatch(
    /whole number of at least 0, not .*: give trade\.trade$/,
  );
  expect(await refused("orders.cancel(7)")).toMatch(/^TypeError: an order is what buy/);
  expect(await refused("orders.buy(tag='x' * 65)")).toMatch(/^ValueError: a tag can have at most 64 bytes/);
  expect(await refused("for n in range(2000): orders.buy(limit_price=1)")).toMatch(/at most 1024 orders/);
  const caught = await playPython(pythonDeciding("try: orders.buy(size='x')\nexcept ValueError: pass"), CLOSES);
  expect(caught.result.orders.count).toBe(0);
});

Deno.test("class attributes are parameters, with their types", async () => {
  const source = `class Own(Strategy):
    period: int = 20
    stop: float = 0.1
    side: Literal["long", "both"] = "long"
    def decide(self, i, candles, account, orders):
        if i == 0: print(self.period, self.stop, self.side, self.timeframe_ms, self.first_index)
`;
  const typed = `from typing import Literal\n${source}`;
  const play = async (parameters: object) => (await playPython(typed, CLOSES, { parameters })).log;
  expect(await play({})).toEqual(["20 0.1 long 86400000.0 0"]);
  expect(await play({ period: 3, stop: 1, side: "both", "x-note": "mine" })).toEqual(["3 1.0 both 86400000.0 0"]);
  expect(await failureOf(() => play({ perod: 3 }))).toMatch(
    /^Cannot create the strategy: TypeError: perod is no parameter of Own: did you mean period\?/,
  );
  expect(await failureOf(() => play({ period: 1.5 }))).toMatch(
    /the parameter period must be of type integer, not 1\.5/,
  );
  expect(await failureOf(() => play({ side: "short" }))).toMatch(/side must be one of 'long', 'both', not 'short'/);
});

Deno.test("a script is one class, whose errors have their lines", async () => {
  const failure = (source: string) => failureOf(() => playPython(source, CLOSES));
  expect(await failure("x = 1")).toMatch(
    /a script is one class that begins with `class Name\(Strategy\):` or .*, and it defines none/,
  );
  expect(await failure("class A(Strategy): pass\nclass B(Strategy): pass")).toMatch(/it defines A, B/);
  expect(await failure("class A(Strategy):\n  def decide(self, i):\n    pass")).toMatch(
    /takes 2 positional arguments but 5/,
  );
  expect(await failure("class A(Strategy):\n  def on_bar(self): pass")).toMatch(
    /on_bar is not known: use warmup, prepare/,
  );
  expect(await failure("class A(Strategy):\n  def decide(self)\n    pass")).toBe(
    "strategy.py:2:19: SyntaxError: expected ':'",
  );
  expect(await failure("class A(Strategy):\n  async def decide(self, *a): pass")).toMatch(/without async and yield/);
  expect(await failure("class A(Strategy):\n  def decide(self, *a): yield")).toMatch(/without async and yield/);
  expect(await failureOfPython("self.help()", "pass")).toMatch(/AttributeError.* at decide \(strategy\.py:6:9\)$/);
  expect(await failureOfPython("raise MemoryError")).toMatch(/MemoryError/);
});

Deno.test("plots and the log are kept", async () => {
  const { plots } = await playPython(pythonDeciding('plot("x", i * 2, "low")\nif i > 1: plot("y", 1.5)'), [10, 11, 12]);
  expect(plots).toEqual([
    { name: "x", pane: "low", values: Float64Array.of(0, 2, 4) },
    { name: "y", pane: null, values: Float64Array.of(NaN, NaN, 1.5) },
  ]);
  const lines = await logOfPython("for n in range(300): print('line', i, n, sep='-')");
  expect([lines.length, lines[0], lines.at(-1)]).toEqual([
    1000,
    "line-0-0",
    "further lines are dropped: a run keeps 1000",
  ]);
});
