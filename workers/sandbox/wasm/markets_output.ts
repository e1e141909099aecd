import { findTimeline } from "../../../engine/portfolio/timeline.ts";
import type { MarketPlot, MarketsTask } from "../../common/protocol.ts";
import { joinPlots } from "../markets/market_plots.ts";
import { MarketsLog } from "../markets/markets_log.ts";
import type { LoggedLines } from "../task.ts";
import type { GuestOutput } from "./guest.ts";
import type { LogLines } from "./log_lines.ts";
import { GuestPlots, PlotRoom } from "./guest_plots.ts";

/** The log and the plots of a run of a module over many markets. */
export class MarketsOutput {
  readonly log: MarketsLog;
  readonly #room = new PlotRoom();
  readonly #plots: GuestPlots[] = [];
  /** True if one instance decides on all markets. */
  isPortfolio = false;

  constructor(report: (message: LoggedLines) => void = () => {}) {
    this.log = new MarketsLog(report);
  }

  /** Takes what the first instance of a market says. @param name Of the market in the log; null: lines have none. */
  open(market: number, name: string | null): GuestOutput {
    const log = new MarketLines(this.log, name);
    const plots = new GuestPlots(this.#room, log);
    this.#plots[market] = plots;
    return { log, plots };
  }

  /** The plots by the marks of the run, and what there is to say of them. */
  takePlots(
    { markets, timeframeMs }: MarketsTask,
  ): { readonly plots: readonly MarketPlot[]; readonly notes: readonly string[] } {
    const takeOf = (market: number) => this.#plots[market]?.take() ?? [];
    if (this.isPortfolio) return { plots: takeOf(0).map((plot) => ({ market: null, ...plot })), notes: [] };
    return joinPlots(markets, findTimeline(markets, timeframeMs), takeOf);
  }
}

/** The lines of one market's instance. */
class MarketLines implements LogLines {
  length = 0;
  readonly #log: MarketsLog;
  readonly #market: string | null;

  constructor(log: MarketsLog, market: string | null) {
    this.#log = log;
    this.#market = market;
  }

  push(line: string): void {
    this.length++;
    this.#log.add(this.#market, [line]);
  }
}
