import { expect } from "@std/expect";
import { Random } from "../../../../workers/sandbox/random.ts";
import { computeIndicator, describeIndicators } from "../../../../workers/sandbox/contracts/indicators.ts";

const CANDLES = 300;
const HOUR = 3_600_000;

/** A column for each name of an input. */
function columns(): Readonly<Record<string, Float64Array>> {
  const random = new Random(7);
  let price = 100;
  const close = Float64Array.from(
    { length: CANDLES },
    () => price = Math.max(5, price + (random.below(401) - 200) / 100),
  );
  return {
    time: close.map((_, i) => i * HOUR),
    high: close.map((value) => value + random.below(100) / 100),
    low: close.map((value) => value - random.below(100) / 100),
    close,
    volume: close.map(() => random.below(1000)),
    values: close,
    anchors: close.map((_, i) => i % 24),
    a: close,
    b: close.map((value) => value + 1),
  };
}

Deno.test("no value of an indicator depends on a later candle", () => {
  const all = columns();
  const days = { ends: Int32Array.from({ length: 40 }, (_, n) => 8 * (n + 1)), dates: new Float64Array(40) };
  const periods = [5, 3, 9, 4];
  for (const { name, inputs, numbers, texts } of describeIndicators()) {
    const rules = numbers.map((_, n) => periods[n]!);
    const zones = texts.map(() => "America/New_York");
    const whole = computeIndicator(name, inputs.map((input) => all[input]!), rules, days, zones);
    for (const until of [1, 7, 150, 293]) {
      const cut = computeIndicator(name, inputs.map((input) => all[input]!.slice(0, until)), rules, days, zones);
      const prefixes = whole.map((column) => [...column.subarray(0, until)]);
      expect([name, until, ...cut.map((column) => [...column])]).toEqual([name, until, ...prefixes]);
    }
    // A column of nothing would be no test.
    expect(whole.every((column) => column.some((value) => !Number.isNaN(value)))).toBe(true);
  }
});
