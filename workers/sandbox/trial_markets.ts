import type { PortfolioMarket } from "../../engine/portfolio/portfolio.ts";
import { findRows, type PortfolioRows } from "../../engine/portfolio/portfolio_rows.ts";
import { cutDays } from "../../engine/run.ts";
import type { PortfolioTask } from "../common/protocol.ts";

// Each has rows of its own.
const CUTS_MAX = 8;

/** The markets that one trial is shown, and their rows: those of a backtest of the same parameters. */
interface TrialMarkets {
  readonly markets: readonly PortfolioMarket[];
  readonly rows: PortfolioRows;
}

/** Cuts the lookback of each trial over many markets: equal ones are the same columns. */
export class MarketsCutter {
  readonly #task: Omit<PortfolioTask, "parameters">;
  readonly #cut = new Map<number, TrialMarkets>();

  /** @param task Its markets have the longest lookback of the trials, as far as the archive has it. */
  constructor(task: Omit<PortfolioTask, "parameters">) {
    this.#task = task;
  }

  /** @param lookback Candles before the range, as many as each market has. */
  cut(lookback: number): TrialMarkets {
    const held = this.#cut.get(lookback);
    if (held !== undefined) return held;
    const markets = this.#task.markets.map((market) => cutLookback(market, lookback));
    const cut = { markets, rows: findRows({ ...this.#task, markets }) };
    if (this.#cut.size === CUTS_MAX) this.#cut.clear();
    this.#cut.set(lookback, cut);
    return cut;
  }
}

function cutLookback(market: PortfolioMarket, lookback: number): PortfolioMarket {
  const { candles, firstIndex, hours = null, tradingDays = null } = market;
  const from = firstIndex - lookback;
  if (from <= 0) return market;
  return {
    ...market,
    candles: {
      time: candles.time.subarray(from),
      open: candles.open.subarray(from),
      high: candles.high.subarray(from),
      low: candles.low.subarray(from),
      close: candles.close.subarray(from),
      volume: candles.volume.subarray(from),
    },
    firstIndex: lookback,
    hours: hours && { opens: hours.opens.subarray(from), closes: hours.closes.subarray(from) },
    tradingDays: tradingDays === null ? null : cutDays(tradingDays, from),
  };
}
