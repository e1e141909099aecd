/** Each indicator at the bounds of its numbers, and beyond: a mistake is the script's own error, with its place. */
import { expect } from "@std/expect";
import { PERIOD_MAX } from "../../../../engine/indicators/period.ts";
import { computeIndicator, describeIndicators } from "../../../../workers/sandbox/contracts/indicators.ts";
import { deciding, failureOf, playScript } from "./scripts.ts";

const CLOSES = [10, 11, 12, 11, 13];
const WRONG_PERIODS = [
  "0",
  "-1",
  "1.5",
  "NaN",
  "Infinity",
  `${PERIOD_MAX + 1}`,
  "1e9",
  "1e308",
  '"5"',
  "undefined",
  "null",
  "{}",
  "5n",
];
const WRONG_NUMBERS = ["NaN", "Infinity", "-Infinity", '"5"', "undefined", "null", "[]"];
const WRONG_COLUMNS = ["undefined", '"close"', "{}", "NaN", "new Float64Array(5)"];

/** A call of an indicator, with one argument in the place of another. */
function call(name: string, inputs: readonly string[], numbers: readonly string[]): string {
  return deciding("", `${name}(${[...inputs, ...numbers].join(", ")});`);
}

for (const { name, inputs, numbers } of describeIndicators()) {
  const columns = inputs.map((input) =>
    ["high", "low", "volume", "time"].includes(input) ? `candles.${input}` : "candles.close"
  );
  const twos = numbers.map(() => "2");

  Deno.test(`${name} takes each number at its bounds`, async () => {
    for (const n of numbers.keys()) {
      const bounds = numbers[n]!.isPeriod ? ["1", `${PERIOD_MAX}`] : ["0", "-1e308", "1e308", "5e-324"];
      for (const bound of bounds) await playScript(call(name, columns, twos.with(n, bound)), CLOSES);
    }
  });

  Deno.test(`${name} refuses what is beyond them, with the place in the script`, async () => {
    for (const [n, { name: number, isPeriod }] of numbers.entries()) {
      for (const value of isPeriod ? WRONG_PERIODS : WRONG_NUMBERS) {
        const failure = await failureOf(() => playScript(call(name, columns, twos.with(n, value)), CLOSES));
        expect([value, failure]).toEqual([
          value,
          expect.stringMatching(
            new RegExp(`^Cannot prepare: RangeError: ${name}: ${number} must be .* at prepare \\(strategy\\.ts:2:`),
          ),
        ]);
      }
    }
    for (const n of inputs.keys()) {
      for (const value of WRONG_COLUMNS) {
        const failure = await failureOf(() => playScript(call(name, columns.with(n, value), twos), CLOSES));
        expect(failure).toMatch(
          new RegExp(`^Cannot prepare: TypeError: ${name}: .* must be a column .*strategy\\.ts:2:`),
        );
      }
    }
  });

  Deno.test(`${name} throws nothing but a RangeError where a request was forged`, () => {
    const column = Float64Array.from(CLOSES);
    const given = inputs.map(() => column);
    for (const value of [0, -1, 1.5, NaN, Infinity, 1e9, 1e308, 2 ** 31]) {
      try {
        const made = computeIndicator(name, given, numbers.map(() => value), null);
        expect(made.every(({ length }) => length === CLOSES.length)).toBe(true);
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
      }
    }
    expect(() => computeIndicator(name, [...given, column], [], null)).toThrow(RangeError);
  });
}
