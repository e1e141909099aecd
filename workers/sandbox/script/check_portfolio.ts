import { resolveExecution, withPeriodsPerYear } from "../../../engine/execution.ts";
import type { MarketView } from "../../../engine/portfolio/portfolio.ts";
import { runPortfolio } from "../../../engine/portfolio/run_portfolio.ts";
import { checkOrders } from "../integrity.ts";
import { SAMPLE_TIMEFRAME_MS } from "../sample_candles.ts";
import { sampleMarkets } from "../sample_markets.ts";
import type { DryRun, ScriptCheckJob } from "../task.ts";
import { ScriptPortfolio } from "./portfolio.ts";
import { PortfolioGuest } from "./portfolio_guest.ts";
import type { CompiledScript } from "./realm_guest.ts";

const BALANCE = 10_000;

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
