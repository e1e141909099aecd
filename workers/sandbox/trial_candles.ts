import { type Candles, viewCandles } from "../../engine/candles.ts";
import type { AssetClass } from "../../engine/execution.ts";
import { findDays } from "../../engine/metrics/daily.ts";
import { cutDays, type RangeDays, type TradingDayColumns } from "../../engine/metrics/input.ts";

/** The candles of a slice, and their trading days. */
interface SliceCandles {
  readonly candles: Candles;
  /** The longest lookback of its trials, as far as the archive has it. */
  readonly firstIndex: number;
  readonly tradingDays?: TradingDayColumns | null;
  readonly assetClass?: AssetClass | null;
}

/** The candles that one trial is shown: those of a backtest of the same parameters. */
interface TrialCandles {
  readonly candles: Candles;
  readonly firstIndex: number;
  readonly tradingDays: TradingDayColumns | null;
  /** The days of the range, which begins behind the lookback and is the same for all trials. */
  readonly rangeDays: RangeDays;
}

/** Cuts the lookback of each trial of a slice: equal ones are the same columns. */
export class LookbackCutter {
  readonly #slice: SliceCandles;
  readonly #rangeDays: RangeDays;
  readonly #cut = new Map<number, TrialCandles>();

  constructor(slice: SliceCandles) {
    const { candles: { time, close }, firstIndex, assetClass = null, tradingDays = null } = slice;
    this.#slice = slice;
    this.#rangeDays = findDays({
      time: time.subarray(firstIndex),
      close: close.subarray(firstIndex),
      assetClass,
      tradingDays: tradingDays === null ? null : cutDays(tradingDays, firstIndex),
    });
  }

  /** @param lookback Candles before the range, as many as there are. */
  cut(lookback: number): TrialCandles {
    const { candles, firstIndex: longest, tradingDays = null } = this.#slice;
    const firstIndex = Math.min(lookback, longest);
    const held = this.#cut.get(firstIndex);
    if (held !== undefined) return held;
    const from = longest - firstIndex;
    const cut = {
      candles: viewCandles(candles, from, candles.time.length),
      firstIndex,
      tradingDays: tradingDays === null ? null : cutDays(tradingDays, from),
      rangeDays: this.#rangeDays,
    };
    this.#cut.set(firstIndex, cut);
    return cut;
  }
}
