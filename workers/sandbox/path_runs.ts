/** Runs of a strategy on paths of candles, one after the other. All share one memory. */
import { BufferPool } from "../../engine/buffer_pool.ts";
import type { Candles } from "../../engine/candles.ts";
import { run, type RunResult } from "../../engine/run.ts";
import type { Strategy } from "../../engine/strategy.ts";
import { CandlePaths } from "../../research/monte_carlo/candle_paths.ts";
import { chooseCurvePositions, readCurve } from "../../research/monte_carlo/curve.ts";
import type { MeasuredPath } from "../../research/monte_carlo/paths.ts";
import { Random } from "../../research/numbers/random_numbers.ts";
import type { CandlePathsTask } from "./paths_task.ts";

/** About what two runs of a million candles take. */
const POOL_BYTES_MAX = 1 << 26;

/** The candles of each path, which those of the next one overwrite. @throws {PriceRangeError} */
export function* drawPaths(
  { task: { candles, firstIndex }, pathSeed, blockLength, from, until }: CandlePathsTask,
): Generator<Candles> {
  const paths = new CandlePaths(candles, firstIndex, blockLength);
  const random = new Random(pathSeed);
  for (let path = 1; path < from; path++) paths.skip(random);
  for (let path = from; path < until; path++) yield path === 0 ? candles : paths.next(random);
}

/** Runs strategies on paths, and keeps what the sample needs of each. */
export class PathPlayer {
  readonly #task: CandlePathsTask["task"];
  readonly #control: Int32Array | null;
  readonly #pool = new BufferPool(POOL_BYTES_MAX);

  /** @param control Receives the progress of each run; null: nobody reads it. */
  constructor(task: CandlePathsTask["task"], control: Int32Array | null) {
    this.#task = task;
    this.#control = control;
  }

  play(candles: Candles, strategy: Strategy): MeasuredPath {
    const { seed: _seed, ...settings } = this.#task;
    try {
      return measurePath(run({ ...settings, candles, strategy, control: this.#control, pool: this.#pool }), this.#task);
    } finally {
      this.#pool.reclaim();
    }
  }
}

/** The figures of a run, and its curve. */
export function measurePath(
  { metrics, equity }: Pick<RunResult, "metrics" | "equity">,
  { initialBalance }: Pick<CandlePathsTask["task"], "initialBalance">,
): MeasuredPath {
  return {
    figures: {
      final_equity: equity.at(-1) ?? NaN,
      max_drawdown: metrics.max_drawdown ?? 0,
      sharpe: metrics.sharpe,
      losing_streak: metrics.max_consecutive_losses ?? 0,
    },
    curve: readCurve(equity, chooseCurvePositions(equity.length), initialBalance),
  };
}
