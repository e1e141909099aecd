/** Plots of a strategy that is run once for each market, by the marks of the run. */
import type { Timeline } from "../../../engine/portfolio/timeline.ts";
import type { MarketPlot, MarketsTask, Plot } from "../../common/protocol.ts";
import { PLOT_VALUES_MAX, PLOTS_MAX } from "../contracts/layout.ts";

/** The series of the first markets, as many as a run keeps. @param plotsOf Of a market: a value a candle. */
export function joinPlots(
  markets: MarketsTask["markets"],
  { closes, instant }: Timeline,
  plotsOf: (market: number) => readonly Plot[],
): { readonly plots: readonly MarketPlot[]; readonly notes: readonly string[] } {
  const most = Math.min(PLOTS_MAX, Math.floor(PLOT_VALUES_MAX / instant.length));
  const plots: MarketPlot[] = [];
  let left = 0;
  markets.forEach(({ firstIndex }, market) => {
    for (const { values, ...plot } of plotsOf(market)) {
      if (plots.length === most) left++;
      else {
        const marked = new Float64Array(instant.length).fill(NaN);
        for (let i = firstIndex; i < values.length; i++) marked[closes[market]!.rowOf(i)] = values[i]!;
        plots.push({ market, ...plot, values: marked });
      }
    }
  });
  return { plots, notes: left === 0 ? [] : [`${left} series of plots were left out: a run keeps ${most}`] };
}
