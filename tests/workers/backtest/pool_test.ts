import { expect } from "@std/expect";
import type { ResultChunk } from "../../../db/codec/result_parts.ts";
import type { RunProgress } from "../../../engine/control.ts";
import { resolveExecution } from "../../../engine/execution.ts";
import { Pool, type RunLimits } from "../../../workers/backtest/pool.ts";
import type { Outcome } from "../../../workers/common/outcome.ts";
import type { EncodedRun, RunTask } from "../../../workers/common/protocol.ts";
import { readCurve } from "../../support/stored_curves.ts";
import { measureLuck } from "../../../research/overfitting.ts";
import { parseConstraints } from "../../../research/constraints.ts";
import { randomIndices } from "../../../research/space.ts";
import { Random } from "../../../research/numbers/random_numbers.ts";
import { until } from "../../support/until.ts";
import { bytesOf } from "../../engine/properties/bytes.ts";

/** A long-only cross of the close and the mean of two closes, over closes that go up and down every four candles. */
function task(candlesCount: number, slug = "sma-cross"): RunTask {
  const column = (value: (i: number) => number) => {
    const shared = new Float64Array(new SharedArrayBuffer(candlesCount * 8));
    return shared.map((_, i) => value(i));
  };
  const price = (i: number) => [10, 11, 12, 11][i % 4]!;
  const prices = column(price);
  return {
    slug,
    parameters: { fast: 1, slow: 2, direction: "long", takeProfitLevel: 0, stopLossLevel: 0 },
    candles: {
      time: column((i) => i * 60_000),
      open: prices,
      high: prices,
      low: prices,
      close: prices,
      volume: column(() => 1000),
    },
    firstIndex: 0,
    initialBalance: 1000,
    execution: resolveExecution({}, "crypto"),
    timeframeMs: 60_000,
    assetClass: "crypto",
    finer: null,
    seed: 7,
  };
}

function limits(more: Partial<RunLimits> = {}): RunLimits {
  return { deadlineMs: 60_000, waitMs: 60_000, signal: new AbortController().signal, onProgress: () => {}, ...more };
}

/** The stored form of a completed run. */
function chunksOf(outcome: Outcome<EncodedRun>): readonly ResultChunk[] {
  if (outcome.type !== "completed") throw new Error(`The run ended as ${outcome.type}`);
  return outcome.chunks;
}

function equityOf(outcome: Outcome<EncodedRun>): readonly number[] {
  return [...readCurve(chunksOf(outcome)).equity!];
}

async function withPool(
  size: number,
  body: (pool: Pool) => Promise<void>,
  times?: { graceMs?: number; progressMs?: number },
): Promise<void> {
  const pool = new Pool(size, times);
  try {
    await body(pool);
  } finally {
    pool.close();
  }
}

Deno.test("more runs than workers wait for their turn, and all complete", () =>
  withPool(1, async (pool) => {
    const moments: string[] = [];
    const outcomes = await Promise.all([40, 80, 120].map(async (count) => {
      const outcome = await pool.run(task(count), limits({ onBegin: () => moments.push(`begin ${count}`) }));
      moments.push(`end ${count}`);
      return outcome;
    }));
    expect(outcomes.map((outcome) => equityOf(outcome).length)).toEqual([40, 80, 120]);
    // The wait of a run ends with the run before it.
    expect(moments.filter((moment) => moment.startsWith("begin"))).toEqual(["begin 40", "begin 80", "begin 120"]);
    expect(moments.indexOf("begin 120")).toBeGreaterThan(moments.indexOf("end 40"));
  }));

Deno.test("a result keeps its values while later runs use the same memory", () =>
  withPool(1, async (pool) => {
    const bytes: string[] = [];
    const outcomes: Outcome<EncodedRun>[] = [];
    for (const count of [50_000, 40_000, 50_000, 45_000, 40]) {
      const outcome = await pool.run(task(count), limits());
      outcomes.push(outcome);
      bytes.push(bytesOf(chunksOf(outcome)));
    }
    expect(bytes[2] === bytes[0]).toBe(true);
    expect(outcomes.map((outcome) => bytesOf(chunksOf(outcome)))).toEqual(bytes);
    expect(outcomes.map((outcome) => equityOf(outcome).length)).toEqual([50_000, 40_000, 50_000, 45_000, 40]);
  }));

Deno.test("runs over the same candles share their stored form, and others do not", () =>
  withPool(1, async (pool) => {
    const candlesOf = async (count: number, candlesSha256: string) => {
      const run = task(count);
      // It does not trade, so the equity is the cash.
      const parameters = { ...run.parameters, slow: 200 };
      const chunks = chunksOf(await pool.run({ ...run, parameters, candlesSha256 }, limits()));
      return chunks.find(({ part }) => part === "equity")?.candles;
    };
    const [first, again, longer] = [await candlesOf(50, "a"), await candlesOf(50, "a"), await candlesOf(60, "b")];
    expect(first?.data.length).toBeGreaterThan(0);
    expect(again).toEqual(first);
    expect(longer?.sha256).not.toBe(first?.sha256);
  }));

Deno.test("a run reports progress and equity while it computes, and they agree with the result", () =>
  withPool(1, async (pool) => {
    const told: RunProgress[] = [];
    let equity: readonly number[] = [];
    // A busy machine may read the progress too late, and a quick one may finish too early.
    for (let i = 0; i < 1000 && told.length < 3; i++) {
      const onProgress = (progress: RunProgress) => progress.candlesDone > 0 && told.push(progress);
      const outcome = await pool.run(task(500_000), limits({ onProgress }));
      if (outcome.type !== "completed") throw new Error(outcome.type);
      equity = equityOf(outcome);
    }
    expect(told.length).toBeGreaterThan(2);
    expect(told.map((progress) => progress.equity)).toEqual(told.map(({ candlesDone }) => equity[candlesDone - 1]));
  }, { progressMs: 2 }));

Deno.test("a run past its deadline fails, and its worker goes on", () =>
  withPool(1, async (pool) => {
    const late = await pool.run(task(500_000), limits({ deadlineMs: 0 }));
    expect(late).toMatchObject({
      type: "failed",
      code: "STRATEGY_TIMED_OUT",
      message: expect.stringMatching(/^Cannot finish within 0 s: \d+ of 500000 candles were done$/),
    });
    expect((await pool.run(task(40), limits())).type).toBe("completed");
  }, { graceMs: 60_000 }));

Deno.test("a signal stops a run that computes, waits, or has not begun", () =>
  withPool(1, async (pool) => {
    const stop = new AbortController();
    const runs = [1, 2].map(() => pool.run(task(500_000), limits({ signal: stop.signal })));
    stop.abort();
    expect((await Promise.all(runs)).map(({ type }) => type)).toEqual(["stopped", "stopped"]);
    expect((await pool.run(task(40), limits({ signal: stop.signal }))).type).toBe("stopped");
    expect((await pool.run(task(40), limits())).type).toBe("completed");
  }, { graceMs: 60_000 }));

Deno.test("a run that no worker takes in time is stopped, and runs are held in advance only while runs are quick", () =>
  withPool(1, async (pool) => {
    expect(pool.runsWanted).toBe(1);
    // The first run includes the start of its worker; after many runs the mean is that of a quick run.
    await until(async () => (await pool.run(task(40), limits())).type === "completed" && pool.runsWanted > 1);
    const long = Array.from({ length: 5 }, () => pool.run(task(500_000), limits()));
    expect(await pool.run(task(40), limits({ waitMs: 0 }))).toEqual({ type: "stopped", candlesDone: 0 });
    for (const { type } of await Promise.all(long)) expect(type).toBe("completed");
  }));

Deno.test("a worker that breaks is replaced, and the reason is reported", () =>
  withPool(1, async (pool) => {
    expect(await pool.run(task(40, "no-such"), limits())).toMatchObject({
      type: "broken",
      message: expect.stringMatching(/no-such/),
    });
    expect((await pool.run(task(40), limits())).type).toBe("completed");
  }));

Deno.test("a worker that does not answer within the grace time is replaced", () =>
  withPool(1, async (pool) => {
    // Without a grace time every answer comes too late.
    expect(await pool.run(task(500_000), limits({ deadlineMs: 0 }))).toMatchObject({ type: "broken" });
    expect((await pool.run(task(40), limits())).type).toBe("completed");
  }, { graceMs: 0 }));

Deno.test("a closed pool ends running and waiting runs, and begins none", async () => {
  const pool = new Pool(1);
  const runs = [1, 2].map(() => pool.run(task(500_000), limits()));
  // The first run now has the worker, and the second waits.
  await new Promise((resume) => setTimeout(resume));
  pool.close();
  expect((await Promise.all(runs)).map(({ type }) => type)).toEqual(["broken", "stopped"]);
  expect((await pool.run(task(40), limits())).type).toBe("stopped");
});

Deno.test("a measurement of luck ends when it is asked to, and its threads go on to the next", () =>
  withPool(2, async (pool) => {
    const random = new Random(1);
    const returns = Array.from({ length: 200 }, () => Float64Array.from({ length: 365 }, () => random.normal()));
    const trials = {
      ...{ trials: 200, returns, numbers: returns.map((_, i) => i + 1), best: 0, trades: 50, plateau: 1, seed: 1 },
      ...{
        objective: "sharpe",
        direction: "max" as const,
        benchmark: returns[1]!,
        periodsPerYear: 365,
        riskFreeRate: 0,
      },
    };
    const stop = new AbortController();
    const stopped = pool.measureLuck(trials, limits({ signal: stop.signal }));
    stop.abort();
    expect((await stopped).type).toBe("stopped");
    expect(await pool.measureLuck(trials, limits())).toEqual({
      type: "completed",
      ...measureLuck(trials),
    });
  }));

Deno.test("a search for points ends when it is asked to, and its thread goes on to the next", () =>
  withPool(1, async (pool) => {
    const axis = { count: 10_000, first: 1, step: 1, decimals: 0 };
    const space = { axes: [{ name: "fast", ...axis }, { name: "slow", ...axis }] };
    const { value: [never, always] = [] } = parseConstraints(["fast > 20000", "fast + slow > 1"], ["fast", "slow"]);
    const task = { step: "draw", space, fixed: {}, count: 3, looksMax: 1e6, seed: 1 } as const;
    const stop = new AbortController();
    const search = pool.findPoints({ ...task, constraints: [never!] }, limits({ signal: stop.signal }));
    // The thread has the task now.
    await new Promise((resume) => setTimeout(resume));
    stop.abort();
    expect((await search).type).toBe("stopped");
    const found = await pool.findPoints({ ...task, constraints: [always!] }, limits());
    expect(found).toEqual({
      type: "completed",
      points: Float64Array.from(randomIndices(space, 3, 1)),
      lookbacks: new Float64Array(),
      constrained: 0,
    });
  }));
