/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** The entry of a Web Worker without permissions that makes the paths of one Monte Carlo simulation. */
import { BufferPool } from "../../engine/buffer_pool.ts";
import type { Candles } from "../../engine/candles.ts";
import { isAskedToStop, writeProgress } from "../../engine/control.ts";
import { run, type RunResult, RunStopped } from "../../engine/run.ts";
import { CandlePaths, PriceRangeError } from "../../research/monte_carlo/candle_paths.ts";
import type { PathFigures } from "../../research/monte_carlo/paths.ts";
import { blockPaths, resampledPaths, shuffledPaths } from "../../research/monte_carlo/return_paths.ts";
import { type Sample, SampleCollector } from "../../research/monte_carlo/path_sample.ts";
import { Random } from "../../research/random_numbers.ts";
import { findBuiltin } from "../../strategies/builtin/catalogue.ts";
import { brokenBy, NOT_BEGUN, type Outcome } from "../outcome.ts";
import type { MadePaths, PathsTask, ToPathsWorker } from "./paths_task.ts";

/** About what two runs of a million candles take. */
const POOL_BYTES_MAX = 1 << 26;

type OnPath = (done: number) => void;

self.onmessage = ({ data: { task, control } }: MessageEvent<ToPathsWorker>) => {
  self.postMessage(execute(task, control));
};

function execute(task: PathsTask, control: Int32Array): Outcome<MadePaths> {
  const onPath: OnPath = (done) => {
    if (isAskedToStop(control)) throw new RunStopped(done);
    writeProgress(control, { candlesDone: done, equity: NaN });
  };
  try {
    return { type: "completed", samples: makeSamples(task, onPath) };
  } catch (error) {
    if (error instanceof RunStopped) return NOT_BEGUN;
    if (error instanceof PriceRangeError) return { type: "failed", code: "NO_DATA", message: error.message };
    return brokenBy(error);
  }
}

function makeSamples(task: PathsTask, onPath: OnPath): Sample[] {
  switch (task.method) {
    case "trades": {
      const paths = { ...task, ...task.account, onPath };
      return [
        shuffledPaths(paths),
        resampledPaths({ ...paths, onPath: (done) => onPath(task.runs + done) }),
      ];
    }
    case "returns":
      return [blockPaths({ ...task, ...task.account, onPath }, task.blockLength)];
    case "candles":
      return [runCandles(task, onPath)];
  }
}

function runCandles(
  { run: task, runs, seed, ruinDrawdown, blockLength }: PathsTask & { readonly method: "candles" },
  onPath: OnPath,
): Sample {
  const { slug, parameters, candles, ...settings } = task;
  const builtin = findBuiltin(slug);
  if (builtin === undefined) throw new Error(`There is no built-in strategy ${slug}`);
  const pool = new BufferPool(POOL_BYTES_MAX);
  // Finer candles and benchmarks belong to the real candles alone.
  const play = (candles: Candles) =>
    run({
      ...settings,
      candles,
      finer: null,
      benchmark: null,
      strategy: builtin.create(parameters, task.execution),
      control: null,
      pool,
    });
  const length = candles.time.length - task.firstIndex;
  const { initialBalance } = task;
  const collector = new SampleCollector({ sampling: "candle_blocks", runs, length, initialBalance, ruinDrawdown });
  const paths = new CandlePaths(candles, task.firstIndex, blockLength);
  const random = new Random(seed);
  for (let path = 0; path < runs; path++) {
    onPath(path);
    const result = play(paths.next(random));
    collector.add(figuresOf(result), result.equity);
    pool.reclaim();
  }
  const real = play(candles);
  return collector.summarize(figuresOf(real), real.equity);
}

function figuresOf({ metrics, equity }: RunResult): PathFigures {
  return {
    final_equity: equity.at(-1) ?? NaN,
    max_drawdown: metrics.max_drawdown ?? 0,
    sharpe: metrics.sharpe,
    losing_streak: metrics.max_consecutive_losses ?? 0,
  };
}
