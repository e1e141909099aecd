/** Trials of a script of which each is one account over many markets. */
import type { PortfolioRequest } from "../../../engine/portfolio/portfolio.ts";
import type { Outcome } from "../../common/outcome.ts";
import type { MarketsTask } from "../../common/protocol.ts";
import { candleMs } from "../candle_series.ts";
import { runMarketsTrials } from "../markets/markets_trials.ts";
import { seriesOfMarket, strategyForEach } from "../markets/run_markets.ts";
import type { LookbackRequest } from "../task.ts";
import type { TrialListener } from "../trials.ts";
import type { ScriptMarketsTrialsJob } from "../trials_task.ts";
import { ScriptFault } from "./fault.ts";
import { ScriptGuest } from "./guest.ts";
import { isPortfolio } from "./is_portfolio.ts";
import { ScriptPortfolio } from "./portfolio.ts";
import { PortfolioGuest } from "./portfolio_guest.ts";
import { type Compile, orRefuse } from "./run.ts";
import { ScriptStrategy } from "./strategy.ts";
import { TrialWorlds } from "./trial_worlds.ts";

/** Compiles a script once and runs its trials: each finds its markets' realms as a backtest would. */
export async function doScriptMarketsTrials(
  { source, candlesMin, ...job }: ScriptMarketsTrialsJob,
  listener: TrialListener,
  compile: Compile,
): Promise<Outcome<object> | LookbackRequest> {
  try {
    const script = await compile(source);
    const worlds = new TrialWorlds(script);
    const ofAll = script.reads.run(() => isPortfolio(source, script));
    const make = (json: string, task: MarketsTask, instants: Float64Array): PortfolioRequest["strategy"] => {
      const { script } = worlds;
      if (ofAll) {
        const series = { timeframeMs: candleMs(task.timeframeMs), markets: task.markets, marks: instants.length };
        return new ScriptPortfolio(() => new PortfolioGuest(script, json, series), candlesMin, instants);
      }
      const guestOf = (market: number) => new ScriptGuest(script, json, seriesOfMarket(task, market), null, market);
      return strategyForEach(task, (market) => new ScriptStrategy(() => guestOf(market), candlesMin));
    };
    return runMarketsTrials(
      { ...job, candlesMin },
      (...given) => orRefuse(() => make(...given)),
      { ...listener, attempt: (trial) => worlds.attempt(trial) },
    );
  } catch (error) {
    if (!(error instanceof ScriptFault)) throw error;
    return { type: "failed", code: "STRATEGY_FAILED", message: `Cannot use the script: ${error.message}` };
  }
}
