/** One account that trades the test windows of a walk-forward optimization one after the other, and keeps its position between them. */
import type { BufferPool } from "../../engine/buffer_pool.ts";
import { findDays } from "../../engine/metrics/daily.ts";
import { cutDays } from "../../engine/metrics/input.ts";
import { run } from "../../engine/run.ts";
import type { Strategy } from "../../engine/strategy.ts";
import type { Builtin } from "../../strategies/builtin/builtin.ts";
import { findBuiltin } from "../../strategies/builtin/catalogue.ts";
import type { Outcome } from "../common/outcome.ts";
import type { CarriedTests, CarryTask } from "../common/protocol.ts";
import { type StageSettings, stageStrategies } from "./staged_strategy.ts";

/**
 * Trades all windows in one run.
 *
 * @throws {RunStopped} When the control words ask for it.
 */
export function runCarry(task: CarryTask, control: Int32Array, pool: BufferPool): Outcome<CarriedTests> {
  const { slug, stages, seed: _seed, candles, ...settings } = task;
  const builtin = findBuiltin(slug);
  if (builtin === undefined) return { type: "broken", message: `there is no built-in strategy ${slug}` };
  if (stages.length === 0) return { type: "broken", message: "there is no window to trade" };
  const strategy = stageBuiltin(builtin, stages, { ...settings, candles }, pool);
  const { metrics, equity } = run({ ...settings, candles, strategy, control, pool });
  const { firstIndex, assetClass, tradingDays = null } = settings;
  const { ends } = findDays({
    time: candles.time.subarray(firstIndex),
    close: candles.close.subarray(firstIndex),
    assetClass,
    tradingDays: tradingDays === null ? null : cutDays(tradingDays, firstIndex),
  });
  return { type: "completed", exposure: metrics.exposure, marks: Float64Array.from(ends, (end) => equity[end - 1]!) };
}

/** A built-in strategy with the parameters of all stages. @param stages One at least. */
export function stageBuiltin(
  builtin: Builtin,
  stages: CarryTask["stages"],
  settings: StageSettings,
  pool: BufferPool,
): Strategy {
  const made = stages.map(({ parameters, fromMs }) => ({
    fromMs,
    key: JSON.stringify(parameters),
    make: () => builtin.create(parameters, settings.execution),
  }));
  return stageStrategies(made, settings, pool);
}
