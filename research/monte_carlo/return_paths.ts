import { Random } from "../numbers/random_numbers.ts";
import { readCurve } from "./curve.ts";
import { type Account, type MeasuredPath, walkReturns } from "./paths.ts";
import { drawStationaryBlocks, resample, shuffle } from "./resampling.ts";
import { type MadeSample, SampleCollector, type Sampling } from "./path_sample.ts";

/** Everything that decides paths that are made of returns. */
export interface ReturnPaths extends Account {
  /** Of each trade against the account before it, or of each day; oldest first, at least one. */
  readonly returns: Float64Array;
  readonly runs: number;
  readonly seed: number;
  readonly ruinDrawdown: number;
  /** Called before each path with how many are done; it may throw to stop. */
  readonly onPath: (done: number) => void;
}

/** The same returns in another order. Their product, and so the final equity, is the real one. */
export function shuffledPaths(input: ReturnPaths): MadeSample {
  const random = new Random(input.seed);
  const path = input.returns.slice();
  return makePaths(input, "shuffled", path, () => shuffle(path, random));
}

/** A path of the same length: each return is drawn from all of them with replacement. */
export function resampledPaths(input: ReturnPaths): MadeSample {
  const random = new Random(input.seed);
  const path = new Float64Array(input.returns.length);
  return makePaths(input, "resampled", path, () => resample(input.returns, random, path));
}

/** A path of the same length, drawn in blocks that keep together days which followed each other. */
export function blockPaths(input: ReturnPaths, meanLength: number): MadeSample {
  const random = new Random(input.seed);
  const { returns } = input;
  const path = new Float64Array(returns.length);
  const indexes = new Int32Array(returns.length);
  return makePaths(input, "stationary_blocks", path, () => {
    drawStationaryBlocks(returns.length, meanLength, random, indexes);
    for (let i = 0; i < path.length; i++) path[i] = returns[indexes[i]!]!;
  });
}

function makePaths(input: ReturnPaths, sampling: Sampling, path: Float64Array, draw: () => void): MadeSample {
  const collector = new SampleCollector({ ...input, sampling, length: path.length });
  const equity = new Float64Array(path.length);
  const measure = (returns: Float64Array): MeasuredPath => ({
    figures: walkReturns(returns, input, equity),
    curve: readCurve(equity, collector.positions, input.initialBalance),
  });
  for (let run = 0; run < input.runs; run++) {
    input.onPath(run);
    draw();
    collector.add(measure(path));
  }
  return collector.finish(measure(input.returns));
}
