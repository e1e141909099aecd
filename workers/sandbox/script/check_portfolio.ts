import type { Candles } from "../../../engine/candles.ts";
import { resolveExecution, withPeriodsPerYear } from "../../../engine/execution.ts";
import type { MarketView, PortfolioMarket } from "../../../engine/portfolio/portfolio.ts";
import { runPortfolio } from "../../../engine/portfolio/run_portfolio.ts";
import { checkOrders } from "../integrity.ts";
import { SAMPLE_TIMEFRAME_MS, sampleCandles } from "../sample_candles.ts";
import type { DryRun, ScriptCheckJob } from "../task.ts";
import { ScriptPortfolio } from "./portfolio.ts";
import { PortfolioGuest } from "./portfolio_guest.ts";
import type { CompiledScript } from "./realm_guest.ts";

const BALANCE = 10_000;
/** The third market begins so many candles later. */
const LATER = 100;

/** Runs a script that decides on many markets over three made-up ones. @param keep Gets each instance. */
export function runPortfolioDry(
  { parametersJson, candlesMin }: ScriptCheckJob,
  script: CompiledScript,
  keep: (guest: PortfolioGuest) => void,
): DryRun {
  const markets = sampleMarkets();
  const { time } = markets[0]!.candles;
  const series = { timeframeMs: SAMPLE_TIMEFRAME_MS, markets, marks: time.length, isTrial: true };
  const make = () => {
    const guest = new PortfolioGuest(script, parametersJson, series);
    keep(guest);
    return guest;
  };
  const strategy = new TimedPortfolio(make, candlesMin, time.map((open) => open + SAMPLE_TIMEFRAME_MS));
  const result = runPortfolio({
    markets,
    timeframeMs: SAMPLE_TIMEFRAME_MS,
    initialBalance: BALANCE,
    execution: withPeriodsPerYear(resolveExecution({}, "crypto"), "crypto", SAMPLE_TIMEFRAME_MS),
    strategy,
    control: null,
  });
  return {
    warmup: strategy.warmup,
    candles: time.length,
    orders: result.orders.count,
    refused: checkOrders(result),
    notes: result.notes,
    nanosecondsPerCandle: Math.round(strategy.decisionsMs * 1e6 / time.length),
    decidesOn: "markets",
  };
}

/** One that moves as the sample does, one against it, and one that begins later. */
function sampleMarkets(): PortfolioMarket[] {
  const rising = sampleCandles();
  const { time, open, high, low, close, volume } = rising;
  const against = (prices: Float64Array) => prices.map((price) => BALANCE / price);
  const falling: Candles = {
    ...{ time, open: against(open), high: against(low), low: against(high), close: against(close), volume },
  };
  const later: Candles = {
    ...{ time: time.subarray(LATER), open: open.subarray(LATER), high: high.subarray(LATER) },
    ...{ low: low.subarray(LATER), close: close.subarray(LATER), volume: volume.subarray(LATER) },
  };
  return [rising, falling, later].map((candles, n) => {
    const symbol = `SAMPLE${n + 1}`;
    return { id: `${symbol}@TRIAL`, symbol, exchange: "TRIAL", candles, firstIndex: 0 };
  });
}

/** Times a strategy's decisions. */
class TimedPortfolio extends ScriptPortfolio {
  decisionsMs = 0;

  override decide(now: number, markets: readonly MarketView[], ...rest: LastArguments): void {
    const begun = performance.now();
    super.decide(now, markets, ...rest);
    this.decisionsMs += performance.now() - begun;
  }
}

type LastArguments = Parameters<ScriptPortfolio["decide"]> extends [unknown, unknown, ...infer Rest] ? Rest : never;
