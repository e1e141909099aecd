/** One account that trades the test windows of a walk-forward optimization one after the other, and keeps its position between them. */
import type { BufferPool } from "../../engine/buffer_pool.ts";
import { type Candles, viewCandles } from "../../engine/candles.ts";
import type { TradingDayColumns } from "../../engine/metrics/input.ts";
import { findDays } from "../../engine/metrics/daily.ts";
import { cutDays, repeat, run } from "../../engine/run.ts";
import type { Account, OrderBook, Strategy } from "../../engine/strategy.ts";
import type { Builtin } from "../../strategies/builtin/builtin.ts";
import { findBuiltin } from "../../strategies/builtin/catalogue.ts";
import type { Outcome } from "../common/outcome.ts";
import type { CarriedTests, CarryTask } from "../common/protocol.ts";

/** The candles and rules by which the next strategy is found to be long, short or out. */
type StageSettings = Omit<CarryTask, "slug" | "stages" | "seed">;

/** A strategy and the candle from which it decides. */
interface Stage {
  readonly from: number;
  readonly strategy: Strategy;
  /** 1 or -1 where it would be long or short by then, had it traded before; 0 where it would hold nothing. */
  readonly side: number;
}

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
  const strategy = stageStrategies(builtin, stages, { ...settings, candles }, pool);
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

type Parameters = CarryTask["stages"][number];

/** The strategies of all stages as one. @param stages One at least. */
export function stageStrategies(
  builtin: Builtin,
  stages: CarryTask["stages"],
  settings: StageSettings,
  pool: BufferPool,
): Strategy {
  const [first, ...later] = stages;
  const strategy = builtin.create(first!.parameters, settings.execution);
  // Alone, it is a backtest of its dates to the last bit.
  if (later.length === 0) return strategy;
  return new StagedStrategy([
    { from: 0, strategy, side: 0 },
    ...later.map((stage) => makeNext(builtin, settings, stage, pool)),
  ]);
}

function makeNext(builtin: Builtin, task: StageSettings, { parameters, fromMs }: Parameters, pool: BufferPool): Stage {
  const { candles, ...settings } = task;
  const from = candles.time.findIndex((time) => time >= fromMs);
  if (from < 0) return { from: candles.time.length, strategy: builtin.create(parameters, task.execution), side: 0 };
  const strategy = builtin.create(parameters, task.execution);
  const { position } = repeat({
    ...settings,
    candles: viewCandles(candles, 0, from + 1),
    strategy,
    control: null,
    pool,
  });
  const side = Math.sign(position.at(-1) ?? 0);
  pool.reclaim();
  return { from, strategy: builtin.create(parameters, task.execution), side };
}

/** Hands the account from one strategy to the next. Guards of an open trade stay with it. */
class StagedStrategy implements Strategy {
  readonly warmup: number;
  readonly #stages: readonly Stage[];
  #at = 0;
  #candles: Candles | null = null;
  #days: TradingDayColumns | null = null;

  constructor(stages: readonly Stage[]) {
    this.#stages = stages;
    this.warmup = Math.min(...stages.map(({ strategy }) => strategy.warmup));
  }

  prepare(candles: Candles, _pool?: BufferPool | null, days: TradingDayColumns | null = null): void {
    [this.#at, this.#candles, this.#days] = [0, candles, days];
    this.#stages[0]!.strategy.prepare(candles, null, days);
  }

  decide(i: number, account: Account, book: OrderBook): void {
    let isClosing = false;
    // A market that is shut at an edge may bring two at once.
    for (
      let next = this.#stages[this.#at + 1];
      next !== undefined && i >= next.from;
      next = this.#stages[this.#at + 1]
    ) {
      this.#at++;
      book.cancelAll();
      // Its columns come with it, so that no more than one strategy's are held.
      next.strategy.prepare(this.#candles!, null, this.#days);
      isClosing = account.quantity !== 0 && Math.sign(account.quantity) !== next.side;
    }
    if (isClosing) return void book.close(1, "window");
    const { strategy } = this.#stages[this.#at]!;
    if (i >= strategy.warmup - 1) strategy.decide(i, account, book);
  }
}
