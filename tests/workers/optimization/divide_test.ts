import { expect } from "@std/expect";
import { divideRest, sliceMs } from "../../../workers/optimization/divide.ts";

const script = { type: "script", sha256: "", minCandles: 1, lookbackCandles: 1 } as const;
const python = { ...script, language: "python" } as const;

Deno.test("a slice of Python is longer than another script's, whose slice is longer than a built-in strategy's", () => {
  const [builtIn, ours, theirs] = [null, script, python].map((runtime) => sliceMs({ runtime }));
  expect(ours).toBeGreaterThan(builtIn!);
  expect(theirs).toBeGreaterThan(ours!);
});

Deno.test("a rest that takes two seconds is shared by workers, unless it is Python's, which takes that to become quick", () => {
  // 100 trials took a second: the rest has 200.
  const slice = { from: 0, until: 100, end: 300, durationMs: 1000 };
  const rest = (runtime: typeof script | typeof python | null) =>
    divideRest({ slicesOpen: 2, method: "grid", runtime }, slice);
  for (const runtime of [null, script]) {
    expect(rest(runtime)).toEqual([{ from: 100, until: 200 }, { from: 200, until: 300 }]);
  }
  expect(rest(python)).toEqual([{ from: 100, until: 300 }]);
  expect(divideRest({ slicesOpen: 2, method: "grid", runtime: python }, { ...slice, durationMs: 4000 })).toHaveLength(
    2,
  );
});
