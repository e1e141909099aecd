/** The lines that built-in strategies are drawn with are those by which they decide. */
import { expect } from "@std/expect";
import { run } from "../../../engine/run.ts";
import { BUILTINS } from "../../../strategies/builtin/catalogue.ts";
import { taskOver } from "../../workers/sandbox/wasm/modules.ts";
import { DAY_MS, HOUR_MS, parametersOf, walkCandles } from "../random_runs.ts";

type Values = Readonly<Record<string, Float64Array>>;
type Rule = (lines: Values, close: Float64Array, i: number) => boolean;

const at = (lines: Values, name: string, i: number) => lines[name]![i]!;
const crossed = (first: string, second: string): Rule => (lines, _, i) =>
  at(lines, first, i) > at(lines, second, i) && at(lines, first, i - 1) <= at(lines, second, i - 1);
const closeBeyond = (name: string, side: number): Rule => (lines, close, i) =>
  side * (close[i]! - at(lines, name, i)) > 0;

/** The condition of a long entry and of a short one, in the words of each strategy, read from its lines alone. */
const ENTRIES: Readonly<Record<string, readonly [long: Rule, short: Rule]>> = {
  "sma-cross": [crossed("SMA 10", "SMA 30"), crossed("SMA 30", "SMA 10")],
  "ema-cross": [crossed("EMA 12", "EMA 26"), crossed("EMA 26", "EMA 12")],
  macd: [crossed("MACD", "signal"), crossed("signal", "MACD")],
  "rsi-reversion": [crossed("oversold", "RSI 14"), crossed("RSI 14", "overbought")],
  "bollinger-reversion": [closeBeyond("lower band", -1), closeBeyond("upper band", 1)],
  "keltner-reversion": [closeBeyond("lower band", -1), closeBeyond("upper band", 1)],
  "vwap-reversion": [closeBeyond("lower band", -1), closeBeyond("upper band", 1)],
  "zscore-reversion": [crossed("-entry", "z-score"), crossed("z-score", "entry")],
  "atr-trend": [closeBeyond("EMA 50", 1), closeBeyond("EMA 50", -1)],
  // A candle at which the trend turns has the line of the new side.
  supertrend: [closeBeyond("Supertrend", 1), closeBeyond("Supertrend", -1)],
  "adx-trend": [
    (lines, _, i) => at(lines, "+DI", i) > at(lines, "-DI", i) && at(lines, "ADX", i) >= at(lines, "threshold", i),
    (lines, _, i) => at(lines, "-DI", i) > at(lines, "+DI", i) && at(lines, "ADX", i) >= at(lines, "threshold", i),
  ],
  ichimoku: [
    (lines, close, i) =>
      at(lines, "conversion", i) > at(lines, "base", i) && closeBeyond("cloud A", 1)(lines, close, i),
    (lines, close, i) =>
      at(lines, "conversion", i) < at(lines, "base", i) && closeBeyond("cloud B", -1)(lines, close, i),
  ],
  stochastic: [
    (lines, close, i) => crossed("%K", "%D")(lines, close, i) && at(lines, "%D", i) < at(lines, "oversold", i),
    (lines, close, i) => crossed("%D", "%K")(lines, close, i) && at(lines, "%D", i) > at(lines, "overbought", i),
  ],
};

Deno.test("each entry of a built-in strategy follows from the lines that are drawn", async (t) => {
  const candles = walkCandles(DAY_MS, 1);
  for (const builtin of BUILTINS) {
    const [long, short] = ENTRIES[builtin.slug] ?? [];
    if (long === undefined || short === undefined) continue;
    await t.step(builtin.slug, () => {
      const parameters = { ...parametersOf(builtin.parameter_schema.properties, 1), direction: "both" };
      const lines = builtin.lines?.(parameters, candles, null) ?? [];
      const values = Object.fromEntries(lines.map((line) => [line.name, line.values]));
      const { trades } = run({ ...taskOver(candles), control: null, strategy: builtin.create(parameters) });
      expect(trades.count).toBeGreaterThan(3);
      for (let n = 0; n < trades.count; n++) {
        // Filled at the open after the deciding candle.
        const i = candles.time.indexOf(trades.entryTime[n]!) - 1;
        const isLong = trades.side[n]! > 0;
        expect([n, isLong, (isLong ? long : short)(values, candles.close, i)]).toEqual([n, isLong, true]);
      }
    });
  }
});

Deno.test("lines have a value a candle, and names that do not depend on the candles", () => {
  const candles = walkCandles(HOUR_MS, 1);
  const column = new Float64Array(0);
  const none = { time: column, open: column, high: column, low: column, close: column, volume: column };
  const drawn = BUILTINS.filter(({ lines }) => lines !== undefined);
  expect(BUILTINS.filter((builtin) => !drawn.includes(builtin)).map(({ slug }) => slug)).toEqual([
    "buy-and-hold",
    "dca",
    "grid",
  ]);
  for (const { slug, lines, parameter_schema } of drawn) {
    const parameters = parametersOf(parameter_schema.properties, 1);
    const full = lines!(parameters, candles, null);
    const namesOf = (list: typeof full) => list.map(({ name, pane }) => `${pane}: ${name}`);
    expect([slug, namesOf(lines!(parameters, none, null))]).toEqual([slug, namesOf(full)]);
    for (const { values } of full) {
      expect(values.length).toBe(candles.close.length);
      expect(values.slice(1000).some(Number.isFinite)).toBe(true);
    }
  }
});

Deno.test("each kind of trade that a built-in strategy makes by an order has its words", () => {
  const candles = walkCandles(DAY_MS, 2);
  for (const builtin of BUILTINS) {
    const parameters = { ...parametersOf(builtin.parameter_schema.properties, 1), floor: 0.2 };
    const { trades } = run({ ...taskOver(candles), control: null, strategy: builtin.create(parameters) });
    for (let n = 0; n < trades.count; n++) {
      const isLong = trades.side[n]! > 0;
      const { long, short, exit_long: exitLong, exit_short: exitShort } = builtin.reasons;
      expect([builtin.slug, isLong ? long : short]).toEqual([builtin.slug, expect.any(String)]);
      if (trades.exitReason[n] !== 0) continue;
      expect([builtin.slug, "exit", isLong ? exitLong : exitShort]).toEqual([builtin.slug, "exit", expect.any(String)]);
    }
  }
});
