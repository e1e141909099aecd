/** Longer candles of a run's own, in both languages: each is known once it has closed. */
import { expect } from "@std/expect";
import type { Candles } from "../../../../engine/candles.ts";
import { compilePython } from "../../../../workers/sandbox/python/compile.ts";
import { resampleCandles } from "../../../../workers/sandbox/resampled_candles.ts";
import { openInterpreter, pythonDeciding } from "../python/python_scripts.ts";
import { deciding, failureOf, playScript } from "./scripts.ts";

const HOUR_MS = 3_600_000;
const FIRST_MS = Date.UTC(2024, 0, 1);
const HOURS = { timeframeMs: HOUR_MS };

/** Hours, without those that are left out, that close at their number. */
function hours(count: number, leftOut: readonly number[] = []): Candles {
  const kept = Array.from({ length: count }, (_, i) => i).filter((i) => !leftOut.includes(i));
  const column = (value: (i: number) => number) => Float64Array.from(kept, value);
  return {
    time: column((i) => FIRST_MS + i * HOUR_MS),
    open: column((i) => i + 1),
    high: column((i) => i + 3),
    low: column((i) => i + 0.5),
    close: column((i) => i + 2),
    volume: column(() => 1),
  };
}

const DAY_LINES =
  'console.log([this.day.open[i], this.day.high[i], this.day.low[i], this.day.close[i], this.day.volume[i]].join(" "));';

Deno.test("a day is known at the close of its last hour, in both languages", async () => {
  const script = deciding(DAY_LINES, 'this.day = resample(candles, "1d");');
  const { log } = await playScript(script, hours(50), HOURS);
  const none = "NaN NaN NaN NaN NaN";
  const [first, second] = ["1 26 0.5 25 24", "25 50 24.5 49 24"];
  expect(log).toEqual([...Array(23).fill(none), ...Array(24).fill(first), ...Array(3).fill(second)]);
  const python = pythonDeciding(
    "print(*(str(float(each)) for each in (self.day.open[i], self.day.high[i], self.day.low[i], self.day.close[i], self.day.volume[i])))",
    'self.day = resample(candles, "1d")',
  );
  const interpreter = openInterpreter();
  const same = await playScript(python, hours(50), HOURS, (text) => Promise.resolve(compilePython(text, interpreter)));
  expect(same.log.map((line) => line.split(" ").map(Number).join(" "))).toEqual(log);
});

Deno.test("a day without its last hours is known with the first hour after it", async () => {
  const { log } = await playScript(
    deciding("console.log(this.day.close[i]);", 'this.day = resample(candles, "1d");'),
    hours(30, [22, 23]),
    HOURS,
  );
  // Hours 0 to 21, which close at 23 at most, then hour 24.
  expect(log).toEqual([...Array(22).fill("NaN"), ...Array(6).fill("23")]);
});

Deno.test("indicators take longer candles by their own, and a week begins on Monday", async () => {
  const { log } = await playScript(
    deciding(
      "if (i % 24 === 23) console.log(this.mean[i], this.cross[i]);",
      `const day = resample(candles, "1d");
      this.mean = sma(day.close, 2); this.cross = subtract(candles.close, day.close);`,
    ),
    hours(96),
    HOURS,
  );
  expect(log).toEqual(["NaN 0", "37 0", "61 0", "85 0"]);
  // 1 January 2024 is a Monday.
  const week = resampleCandles(hours(24 * 8), "1w", HOUR_MS);
  expect([...week.candles.time]).toEqual([FIRST_MS, FIRST_MS + 7 * 24 * HOUR_MS]);
  expect([...week.knownFrom]).toEqual([FIRST_MS + (7 * 24 - 1) * HOUR_MS, Infinity]);
});

Deno.test("what later candles are changes no row before", () => {
  const whole = resampleCandles(hours(100, [5, 23, 47, 48, 49]), "4h", HOUR_MS);
  for (let count = 1; count < 100; count++) {
    const part = resampleCandles(hours(count, [5, 23, 47, 48, 49]), "4h", HOUR_MS);
    part.knownFrom.forEach((known, k) => {
      if (known === Infinity) return;
      expect([count, k, known, part.candles.close[k], part.candles.high[k]]).toEqual([
        ...[count, k, whole.knownFrom[k], whole.candles.close[k], whole.candles.high[k]],
      ]);
    });
  }
});

Deno.test("a timeframe that cannot be made is named", async () => {
  const fail = (lines: string, prepare: string) =>
    failureOf(() => playScript(deciding(lines, prepare), hours(5), HOURS));
  expect(await fail("", 'resample(candles, "7m").close;')).toMatch(
    /RangeError: resample: the timeframe must be one of 5m, /,
  );
  expect(await fail("", 'resample(candles, "1h").close;')).toMatch(
    /Cannot prepare: resample: the timeframe must be one of 2h, 4h, 6h, 12h, 1d, 1w, not 1h/,
  );
  expect(await fail("", 'resample(candles.close, "1d");')).toMatch(
    /TypeError: resample takes the candles that prepare/,
  );
  expect(await fail('resample(candles, "1d");', "")).toMatch(/resample is for prepare/);
});
