/** Indicators of series that a script fills itself, in both languages: as the columns of the host, candle by candle. */
import { expect } from "@std/expect";
import { sampleCandles } from "../../../../workers/sandbox/sample_candles.ts";
import { blockIn, readPage } from "../../../support/pages.ts";
import { failureOfPython, logOfPython, playPython, pythonDeciding } from "../python/python_scripts.ts";
import { deciding, failureOf, playScript } from "./scripts.ts";

/** Calls with one column, and the names of its parts. */
const CALLS: readonly (readonly [call: string, parts: readonly string[]])[] = [
  ...["sma", "ema", "wilder", "stddev", "rsi", "highest", "lowest", "shift", "zscore"].map((name) =>
    [`${name}(VALUES, 7)`, [""]] as const
  ),
  ["macd(VALUES, 3, 8, 4)", [".macd", ".signal", ".histogram"]],
  ["bollinger(VALUES, 9, 2)", [".upper", ".middle", ".lower"]],
];

Deno.test("each indicator of a copy of the closes is the column of the closes, to rounding", async (t) => {
  for (const [call, parts] of CALLS) {
    await t.step(call, async () => {
      const prepare = `this.column = ${call.replace("VALUES", "candles.close")}; this.own = [];`;
      const source = deciding(
        `this.own.push(candles.close[i]);
        const own = ${call.replace("VALUES", "this.own")};
        ${
          parts.map((part, n) => `plot("own ${n}", own${part}); plot("column ${n}", this.column${part}[i]);`).join("\n")
        }`,
        prepare,
      );
      const { plots } = await playScript(source, sampleCandles());
      const python = pythonDeciding(
        `self.own.append(candles.close[i])
own = ${call.replace("VALUES", "self.own")}
${parts.map((part, n) => `plot("own ${n}", own${part})`).join("\n")}`,
        "self.own = []",
      );
      const inPython = await playPython(python, sampleCandles());
      parts.forEach((_, n) => {
        const [own, column] = [plots[2 * n]!.values, plots[2 * n + 1]!.values];
        expect(JSON.stringify([...inPython.plots[n]!.values])).toBe(JSON.stringify([...own]));
        let defined = 0;
        for (let i = 0; i < 512; i++) {
          expect([i, Number.isNaN(own[i]!)]).toEqual([i, Number.isNaN(column[i]!)]);
          if (Number.isNaN(own[i]!)) continue;
          defined++;
          expect([i, Math.abs(own[i]! - column[i]!) < 1e-9]).toEqual([i, true]);
        }
        expect(defined).toBeGreaterThan(490);
      });
    });
  }
});

Deno.test("a series begins anew where it was shortened, and two arrays are apart", async () => {
  const lines = `
    if (i === 0) { this.a = []; this.b = []; }
    if (i === 3) this.a.length = 0;
    this.a.push(i);
    this.b.push(10 * i);
    console.log(sma(this.a, 2), sma(this.b, 2), crossesAbove(this.b, this.a, 0), sma([], 2));`;
  expect((await playScript(deciding(lines), [1, 2, 3, 4, 5])).log).toEqual([
    "NaN NaN false NaN",
    "0.5 5 false NaN",
    "1.5 15 false NaN",
    "NaN 25 false NaN",
    "3.5 35 false NaN",
  ]);
});

Deno.test("the example of SCRIPTS.md trades", async () => {
  const source = blockIn(await readPage("strategies/SCRIPTS.md"), "ts", "this.spread");
  const { result } = await playScript(source, sampleCandles());
  expect(result.trades.count).toBeGreaterThan(3);
});

Deno.test("mistakes are named in both languages", async () => {
  const fail = (lines: string, prepare = "") => failureOf(() => playScript(deciding(lines, prepare), [1, 2, 3]));
  expect(await fail('sma(["a"], 2)')).toMatch(
    /TypeError: sma: a series of your own has numbers, and value 0 is string at decide/,
  );
  expect(await fail("sma([1], 1e9)")).toMatch(
    /sma: period must be a whole number of candles from 1 to 50000000, not 1000000000/,
  );
  expect(await fail("", "sma([1], 2)")).toMatch(/not an array: one of your own belongs into decide/);
  expect(await fail("sma(candles.close, 2)")).toMatch(/sma is for prepare/);
  expect(await fail("atr([1], [1], [1], 2)")).toMatch(/atr is for prepare/);
  expect(await failureOfPython('sma(["a"], 2)')).toMatch(/TypeError: sma: a list of your own has numbers, and value 0/);
  expect(await failureOfPython("sma([1.0], 1000000000)")).toMatch(/ValueError: sma: period must be .* 1 to 50000000/);
  expect(await failureOfPython("pass", "sma([1.0], 2)")).toMatch(/not a list: one of your own belongs into decide/);
  expect(await failureOfPython("for n in range(300): sma([1.0], 2)")).toMatch(
    /at most 256 lists .*: keep each in self/,
  );
  expect(await logOfPython("print(bollinger([1.0, 2.0, 3.0], 3, 2).middle, crosses_above([1, 3], [2, 2], 1))")).toEqual(
    Array(5).fill("2.0 True"),
  );
});
