import { runPortfolioDry } from "../markets/dry_portfolio.ts";
import { SAMPLE_TIMEFRAME_MS } from "../sample_candles.ts";
import type { DryRun, ScriptCheckJob } from "../task.ts";
import { findPeeks, refuseUnknown } from "./find_peeks.ts";
import { ScriptPortfolio } from "./portfolio.ts";
import { PortfolioGuest } from "./portfolio_guest.ts";
import type { CompiledScript } from "./realm_guest.ts";

/** Notes of the check of a script that decides on many markets. */
export function peeksOfPortfolioCheck(job: ScriptCheckJob, script: CompiledScript): readonly string[] {
  return refuseUnknown(job.source, findPeeks((keep) => void runPortfolioScriptDry(job, script, keep, true)));
}

/** Runs a script that decides on many markets over made-up ones. @param keep Gets each instance. */
export function runPortfolioScriptDry(
  { parametersJson, candlesMin }: ScriptCheckJob,
  script: CompiledScript,
  keep: (guest: PortfolioGuest) => void,
  isWatched = false,
): DryRun {
  return runPortfolioDry((markets, instants) => {
    const series = { timeframeMs: SAMPLE_TIMEFRAME_MS, markets, marks: instants.length, isTrial: true, isWatched };
    const make = () => {
      const guest = new PortfolioGuest(script, parametersJson, series);
      keep(guest);
      return guest;
    };
    return new ScriptPortfolio(make, candlesMin, instants);
  });
}
