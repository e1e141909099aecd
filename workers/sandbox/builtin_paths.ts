/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** The entry of a Web Worker without permissions that makes the paths of one Monte Carlo simulation. */
import type { Candles } from "../../engine/candles.ts";
import { isAskedToStop, writeProgress } from "../../engine/control.ts";
import { RunStopped } from "../../engine/run.ts";
import { PriceRangeError } from "../../research/monte_carlo/candle_paths.ts";
import { blockPaths, resampledPaths, shuffledPaths } from "../../research/monte_carlo/return_paths.ts";
import { type MadeSample, SampleCollector } from "../../research/monte_carlo/path_sample.ts";
import { findBuiltin } from "../../strategies/builtin/catalogue.ts";
import { brokenBy, NOT_BEGUN, type Outcome } from "../common/outcome.ts";
import { drawPaths, PathPlayer } from "./path_runs.ts";
import type { MadePaths, PathsTask, ToPathsWorker } from "./paths_task.ts";

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

function makeSamples(task: PathsTask, onPath: OnPath): MadeSample[] {
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
  { run, runs, seed, ruinDrawdown, blockLength }: PathsTask & { readonly method: "candles" },
  onPath: OnPath,
): MadeSample {
  const { slug, parameters, ...task } = run;
  const builtin = findBuiltin(slug);
  if (builtin === undefined) throw new Error(`There is no built-in strategy ${slug}`);
  const { initialBalance, execution, candles, firstIndex } = task;
  const length = candles.time.length - firstIndex;
  const collector = new SampleCollector({ sampling: "candle_blocks", runs, length, initialBalance, ruinDrawdown });
  const player = new PathPlayer(task, null);
  const play = (candles: Candles) => player.play(candles, builtin.create(parameters, execution));
  const real = play(candles);
  let done = 0;
  for (const path of drawPaths({ task, pathSeed: seed, blockLength, from: 1, until: runs + 1 })) {
    onPath(done++);
    collector.add(play(path));
  }
  return collector.finish(real);
}
