import type { Candles } from "../../engine/candles.ts";
import type { TradingDayColumns } from "../../engine/metrics/input.ts";
import { cutDays } from "../../engine/run.ts";

/** The candles of a slice, and their trading days. */
interface SliceCandles {
  readonly candles: Candles;
  /** The longest lookback of its trials, as far as the archive has it. */
  readonly firstIndex: number;
  readonly tradingDays?: TradingDayColumns | null;
}

/** The candles that one trial is shown: those of a backtest of the same parameters. */
export interface TrialCandles {
  readonly candles: Candles;
  readonly firstIndex: number;
  readonly tradingDays: TradingDayColumns | null;
}

/** Cuts the lookback of each trial of a slice: equal ones are the same columns. */
export class LookbackCutter {
  readonly #slice: SliceCandles;
  readonly #cut = new Map<number, TrialCandles>();

  constructor(slice: SliceCandles) {
    this.#slice = slice;
  }

  /** @param lookback Candles before the range, as many as there are. */
  cut(lookback: number): TrialCandles {
    const { candles, firstIndex: longest, tradingDays = null } = this.#slice;
    const firstIndex = Math.min(lookback, longest);
    const held = this.#cut.get(firstIndex);
    if (held !== undefined) return held;
    const from = longest - firstIndex;
    const cut = {
      candles: {
        time: candles.time.subarray(from),
        open: candles.open.subarray(from),
        high: candles.high.subarray(from),
        low: candles.low.subarray(from),
        close: candles.close.subarray(from),
        volume: candles.volume.subarray(from),
      },
      firstIndex,
      tradingDays: tradingDays === null ? null : cutDays(tradingDays, from),
    };
    this.#cut.set(firstIndex, cut);
    return cut;
  }
}
