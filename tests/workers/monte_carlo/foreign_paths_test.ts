import { expect } from "@std/expect";
import { resolveExecution, withPeriodsPerYear } from "../../../engine/execution.ts";
import { ForeignPaths } from "../../../workers/monte_carlo/foreign_paths.ts";
import { SAMPLE_TIMEFRAME_MS, sampleCandles } from "../../../workers/sandbox/sample_candles.ts";

const DEADLINE_MS = 2000;

Deno.test("paths that hang end a simulation at its deadline", async () => {
  const candles = sampleCandles();
  const source = `strategy(() => ({ decide(i, { close }) { while (i === 1 && close[i] !== ${candles.close[1]}); } }));`;
  const task = {
    candles,
    firstIndex: 0,
    initialBalance: 1000,
    execution: withPeriodsPerYear(resolveExecution({}, null), "crypto", SAMPLE_TIMEFRAME_MS),
    timeframeMs: SAMPLE_TIMEFRAME_MS,
    assetClass: "crypto",
    finer: null,
    seed: 0,
  } as const;
  const job = {
    kind: "script",
    language: "typescript",
    source,
    parametersJson: "{}",
    candlesMin: 1,
    lookbackWanted: null,
    task,
  } as const;
  const outcome = await new ForeignPaths({ allow: new Set() }, { typescript: "on", python: "on" }).make({
    method: "foreign_candles",
    run: { kind: "code", job },
    task,
    runs: 50,
    seed: 1,
    ruinDrawdown: 0.5,
    blockLength: 10,
    id: "hanging",
    durationMs: 1,
  }, { deadlineMs: DEADLINE_MS, signal: new AbortController().signal, onProgress: () => {} });
  expect(outcome).toMatchObject({ type: "failed", code: "STRATEGY_TIMED_OUT" });
  expect(Object(outcome).message).toMatch(/^Cannot finish within 2 s: [01] of 50 paths were done; ask for fewer runs$/);
});
