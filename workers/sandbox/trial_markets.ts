import { viewCandles } from "../../engine/candles.ts";
import { cutInput } from "../../engine/inputs.ts";
import type { PortfolioMarket } from "../../engine/portfolio/portfolio.ts";
import { findRows, type PortfolioRows } from "../../engine/portfolio/portfolio_rows.ts";
import { cutDays } from "../../engine/metrics/input.ts";
import type { PortfolioTask } from "../common/protocol.ts";

// Each has rows of its own.
const CUTS_MAX = 8;

/** The markets that one trial is shown, and their rows: those of a backtest of the same parameters. */
interface TrialMarkets {
  readonly markets: readonly PortfolioMarket[];
  readonly rows: PortfolioRows;
}

type MarketsOfTrials = Omit<PortfolioTask, "slug" | "parameters">;

/** Cuts the lookback of each trial over many markets: equal ones are the same columns. */
export class MarketsCutter {
  readonly #task: MarketsOfTrials;
  readonly #longest: number;
  readonly #cut = new Map<number, TrialMarkets>();

  /**
   * @param task Its markets have the longest lookback of the trials, as far as the archive has it.
   * @param longest That lookback; trials that want more have as much.
   */
  constructor(task: MarketsOfTrials, longest = Infinity) {
    this.#task = task;
    this.#longest = longest;
  }

  /** @param wanted Candles before the range, as many as each market has. */
  cut(wanted: number): TrialMarkets {
    const lookback = Math.min(wanted, this.#longest);
    const held = this.#cut.get(lookback);
    if (held !== undefined) return held;
    const markets = lookback === this.#longest
      ? this.#task.markets
      : this.#task.markets.map((market) => cutLookback(market, lookback));
    const cut = { markets, rows: findRows({ ...this.#task, markets }) };
    if (this.#cut.size === CUTS_MAX) this.#cut.clear();
    this.#cut.set(lookback, cut);
    return cut;
  }
}

function cutLookback(market: PortfolioMarket, lookback: number): PortfolioMarket {
  const { candles, firstIndex, hours = null, tradingDays = null, inputs } = market;
  const own = inputs === undefined ? market : { ...market, inputs: inputs.map((input) => cutInput(input, lookback)) };
  const from = firstIndex - lookback;
  if (from <= 0) return own;
  return {
    ...own,
    candles: viewCandles(candles, from, candles.time.length),
    firstIndex: lookback,
    hours: hours && { opens: hours.opens.subarray(from), closes: hours.closes.subarray(from) },
    tradingDays: tradingDays === null ? null : cutDays(tradingDays, from),
  };
}
