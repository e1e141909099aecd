/** The ported strategies: at most 30 lines in TypeScript and in Python, with the same trades. */
import { expect } from "@std/expect";
import { playScript } from "../workers/sandbox/script/scripts.ts";
import { playPython, pythonDeciding } from "../workers/sandbox/python/python_scripts.ts";
import { walkCandles } from "./random_runs.ts";

const STRATEGIES = new URL("../../strategies/", import.meta.url);
const LINES_MAX = 30;
const HALF_HOUR_MS = 1_800_000;
/** Two months with the change to daylight-saving time in New York, on March 10. */
const CANDLES = atTimes(walkCandles(HALF_HOUR_MS, 7), Date.UTC(2024, 1, 1));

Deno.test("each ported strategy trades the same in TypeScript and in Python, in at most 30 lines", async (t) => {
  const files = [...Deno.readDirSync(new URL("scripts/examples/", STRATEGIES))].map(({ name }) => name);
  const names = files.map((name) => name.replace(/\.ts$/, "")).sort();
  expect(names.length).toBe(9);
  for (const name of names) {
    await t.step(name, async () => {
      const [script, python] = await Promise.all([
        Deno.readTextFile(new URL(`scripts/examples/${name}.ts`, STRATEGIES)),
        Deno.readTextFile(new URL(`scripts_python/examples/${name}.py`, STRATEGIES)),
      ]);
      for (const text of [script, python]) expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(LINES_MAX);
      const [ours, theirs] = [await playScript(script, CANDLES), await playPython(python, CANDLES)];
      expect(ours.result.trades.count).toBeGreaterThan(4);
      expect(theirs.result.orders).toEqual(ours.result.orders);
      expect(theirs.result.trades).toEqual(ours.result.trades);
      expect(theirs.result.equity).toEqual(ours.result.equity);
    });
  }
});

Deno.test("local() follows New York through the change of its clocks, in both languages", async () => {
  // Half past nine is 14:30 UTC on Friday, March 8, and 13:30 UTC on Monday, March 11.
  const times = [Date.UTC(2024, 2, 8, 14, 30), Date.UTC(2024, 2, 10, 7), Date.UTC(2024, 2, 11, 13, 30)];
  const candles = { ...walkCandles(HALF_HOUR_MS, 1), time: Float64Array.from(times) };
  const three = Object.fromEntries(Object.entries(candles).map(([name, column]) => [name, column.slice(0, 3)]));
  const over = { ...candles, ...three };
  const expected = ["2024 3 8 5 9 30", "2024 3 10 0 3 0", "2024 3 11 1 9 30"];
  const script = `strategy(() => ({
    prepare({ time }) { this.at = local(time, "America/New_York"); },
    decide(i) {
      const { year, month, day, weekday, hour, minute } = this.at;
      const { log } = console;
      log([year, month, day, weekday, hour, minute].map((column) => column[i]).join(" "));
    },
  }));`;
  expect((await playScript(script, over)).log).toEqual(expected);
  const python = pythonDeciding(
    "print(*(int(column[i]) for column in self.at))",
    'self.at = local(candles.time, "America/New_York")',
  );
  expect((await playPython(python, over)).log).toEqual(expected);
});

Deno.test("the lines of SCRIPTS.md find New York's opening range", async () => {
  const page = await Deno.readTextFile(new URL("SCRIPTS.md", STRATEGIES));
  const [, lines = ""] = /```ts\n(const \{ hour, minute \}[\s\S]*?)```/.exec(page) ?? [];
  const script = `strategy(() => ({
    prepare({ time, high, low }) { ${lines} },
    decide(i, { time }) { const { log } = console; if (this.edges.upper[i] > 0) log(String(time[i])); },
  }));`;
  const [first] = (await playScript(script, CANDLES)).log;
  // The second candle since 09:30 on Thursday, February 1, opens at 10:00: 15:00 UTC.
  expect(Number(first)).toBe(Date.UTC(2024, 1, 1, 15));
});

Deno.test("local() names a time zone that there is not", async () => {
  const script = 'strategy(() => ({ prepare({ time }) { local(time, "New York"); }, decide() {} }));';
  await expect(playScript(script, [1, 2])).rejects.toThrow(
    "Cannot prepare: local: there is no time zone New York: use a name such as America/New_York or Europe/London",
  );
  const python = pythonDeciding("pass", "local(candles.time, 5)");
  await expect(playPython(python, [1, 2])).rejects.toThrow("local: zone must be a text of 1 to 64 characters, not 5");
});

function atTimes(candles: ReturnType<typeof walkCandles>, first: number): ReturnType<typeof walkCandles> {
  return { ...candles, time: candles.time.map((time) => first + time) };
}
