/** Strategies that trade one account one after the other: those of the test windows of a walk-forward optimization. */
import type { BufferPool } from "../../engine/buffer_pool.ts";
import { type Candles, viewCandles } from "../../engine/candles.ts";
import type { TradingDayColumns } from "../../engine/metrics/input.ts";
import { repeat, type RunInput } from "../../engine/run.ts";
import type { Account, OrderBook, Strategy } from "../../engine/strategy.ts";

/** The candles and rules by which the next strategy is found to be long, short or out. */
export type StageSettings = Omit<RunInput, "strategy" | "control" | "pool">;

/** A strategy from a moment on, milliseconds since 1970. */
interface StageMaker {
  readonly fromMs: number;
  /** Equal keys, equal strategies. */
  readonly key: string;
  /** Makes a new instance; the one before is not used any more. */
  readonly make: () => Strategy;
}

/** A strategy and the candle from which it decides. */
interface Stage {
  readonly from: number;
  readonly warmup: number;
  readonly make: () => Strategy;
  /** 1 or -1 where it would be long or short by then, had it traded before; 0 where it would hold nothing. */
  readonly side: number;
}

/** The strategies of all stages as one. @param makers One at least. */
export function stageStrategies(
  makers: readonly StageMaker[],
  settings: StageSettings,
  pool: BufferPool | null,
): Strategy {
  const [first, ...later] = makers;
  // Alone, it is a backtest of its dates to the last bit.
  if (later.length === 0) return first!.make();
  const { time } = settings.candles;
  const placed = makers.map((maker, i) => {
    const from = i === 0 ? 0 : time.findIndex((each) => each >= maker.fromMs);
    return { ...maker, from: from < 0 ? time.length : from };
  });
  const known = new Map<string, Pick<Stage, "warmup"> & { readonly position: Float64Array }>();
  return new StagedStrategy(placed.map(({ from, key, make }): Stage => {
    const lasts = placed.filter((each) => each.key === key && each.from < time.length).map((each) => each.from);
    const { warmup, position } = known.get(key) ?? replay(make(), settings, Math.max(0, ...lasts), pool);
    known.set(key, { warmup, position });
    return { from, warmup, make, side: Math.sign(position[from - settings.firstIndex] ?? 0) };
  }));
}

/** Positions of a strategy by itself, up to a candle: those of a shorter run are the first ones of a longer. */
function replay(strategy: Strategy, { candles, ...settings }: StageSettings, last: number, pool: BufferPool | null) {
  const { warmup } = strategy;
  if (last < settings.firstIndex) return { warmup, position: new Float64Array() };
  const until = viewCandles(candles, 0, last + 1);
  const position = repeat({ ...settings, candles: until, strategy, control: null, pool }).position.slice();
  pool?.reclaim();
  return { warmup, position };
}

/** Hands the account from one strategy to the next. Guards of an open trade stay with it. */
class StagedStrategy implements Strategy {
  readonly warmup: number;
  readonly #stages: readonly Stage[];
  #at = 0;
  #strategy: Strategy | null = null;
  #candles: Candles | null = null;
  #days: TradingDayColumns | null = null;

  constructor(stages: readonly Stage[]) {
    this.#stages = stages;
    this.warmup = Math.min(...stages.map(({ warmup }) => warmup));
  }

  prepare(candles: Candles, _pool?: BufferPool | null, days: TradingDayColumns | null = null): void {
    [this.#candles, this.#days] = [candles, days];
    this.#begin(0);
  }

  /** Lets a stage decide. Its columns come with it, so that no more than one strategy's are held. */
  #begin(at: number): void {
    this.#at = at;
    // Release the last one before making another: its memory may be large.
    this.#strategy = null;
    this.#strategy = this.#stages[at]!.make();
    this.#strategy.prepare(this.#candles!, null, this.#days);
  }

  decide(i: number, account: Account, book: OrderBook): void {
    let at = this.#at;
    while (i >= (this.#stages[at + 1]?.from ?? Infinity)) at++;
    if (at > this.#at) {
      book.cancelAll();
      this.#begin(at);
      // A market that is shut at an edge may bring two at once: the last one's side counts.
      const isHeld = account.quantity === 0 || Math.sign(account.quantity) === this.#stages[at]!.side;
      if (!isHeld) return void book.close(1, "window");
    }
    if (i >= this.#stages[this.#at]!.warmup - 1) this.#strategy?.decide(i, account, book);
  }
}
