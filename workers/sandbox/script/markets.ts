/** A script over many markets: a realm for each, and one account between them. */
import type { PortfolioRequest } from "../../../engine/portfolio/portfolio.ts";
import { findTimeline, type Timeline } from "../../../engine/portfolio/timeline.ts";
import type { MarketPlot } from "../../common/protocol.ts";
import { type Failed, type Outcome, RunError } from "../../common/outcome.ts";
import type { MarketsActs } from "../markets/check_markets.ts";
import { joinPlots } from "../markets/market_plots.ts";
import { MarketsLog } from "../markets/markets_log.ts";
import { checkStrategies, seriesOfMarket, simulateMarkets, strategyForEach, warmupOf } from "../markets/run_markets.ts";
import {
  type LoggedLines,
  type LookbackRequest,
  requestLookback,
  type SandboxMarkets,
  type ScriptMarketsJob,
} from "../task.ts";
import { cutMarket } from "../cut_market.ts";
import { ScriptFault } from "./fault.ts";
import { findPeeks, mayPeek, notesOf, WATCHED_CANDLES } from "./find_peeks.ts";
import { candleMs } from "../candle_series.ts";
import { type CompiledScript, ScriptGuest } from "./guest.ts";
import { ScriptPortfolio } from "./portfolio.ts";
import { PortfolioGuest, type PortfolioSeries } from "./portfolio_guest.ts";
import { isPortfolio } from "./is_portfolio.ts";
import type { RealmGuest } from "./realm_guest.ts";
import type { Compile } from "./run.ts";
import { ScriptStrategy } from "./strategy.ts";

/** The watchers of a run. */
interface MarketsWatch {
  /** The run's control words, in shared memory. */
  readonly control: Int32Array;
  /** Gets the lines that the script logs, as it runs. */
  readonly report: (message: LoggedLines) => void;
}

/** Compiles a script and runs it over many markets. A fault of the script is an outcome. */
export async function doScriptMarkets(
  job: ScriptMarketsJob,
  watch: MarketsWatch,
  compile: Compile,
): Promise<Outcome<SandboxMarkets> | LookbackRequest> {
  let run: MarketsRun | null = null;
  try {
    const script = await compile(job.source);
    return script.reads.run(() => (run = new MarketsRun(job, script, watch)).backtest());
  } catch (error) {
    if (error instanceof ScriptFault) {
      return { type: "failed", code: "STRATEGY_FAILED", message: `Cannot use the script: ${error.message}` };
    }
    if (error instanceof RunError) return { ...error.outcome, ...endOf(run) };
    throw error;
  }
}

/** The lines and the plots of a run that failed. */
function endOf(run: MarketsRun | null): Pick<Failed, "log" | "marketPlots"> {
  return run === null ? {} : { log: run.endLog(), marketPlots: run.endPlots() };
}

/** A script's run over many markets. */
class MarketsRun {
  readonly #job: ScriptMarketsJob;
  readonly #script: CompiledScript;
  readonly #control: Int32Array;
  readonly #log: MarketsLog;
  readonly #timeline: Timeline;
  /** True if the script decides on all markets: it has one instance. */
  readonly #isPortfolio: boolean;
  /** The instances of the first simulation, which log and plot; later ones repeat it, and their memory is needed. */
  #guests: RealmGuest[] = [];

  constructor(job: ScriptMarketsJob, script: CompiledScript, { control, report }: MarketsWatch) {
    this.#job = job;
    this.#script = script;
    this.#control = control;
    this.#log = new MarketsLog(report);
    this.#timeline = findTimeline(job.task.markets, job.task.timeframeMs);
    this.#isPortfolio = isPortfolio(job.source, script);
  }

  backtest(): Outcome<SandboxMarkets> | LookbackRequest {
    const { task } = this.#job;
    const acts = this.#runFirst();
    if ("type" in acts) return acts;
    const { result } = acts;
    const log = this.endLog();
    const { plots, notes } = this.#takePlots();
    this.#guests = [];
    const integrity = checkStrategies(task, acts, () => this.#strategy(false));
    const noted = { ...result, notes: [...result.notes, ...notes, ...this.#peeks()] };
    return { type: "completed", result: noted, integrity, log, plots };
  }

  /** The lines of all markets, and the places that led to an error. */
  endLog(): readonly string[] {
    for (const guest of this.#guests) guest.log();
    return [...this.#log.lines, ...this.#guests.flatMap(({ stack }) => stack)];
  }

  /** The plots of a run that failed; none from a broken realm. */
  endPlots(): readonly MarketPlot[] {
    try {
      return this.#takePlots().plots;
    } catch (error) {
      if (error instanceof RunError) return [];
      throw error;
    }
  }

  /** A function of its own, because the first instances must be gone before the next ones are made. */
  #runFirst(): MarketsActs | LookbackRequest {
    const { task } = this.#job;
    const strategy = this.#strategy(true);
    return requestLookback(this.#job, warmupOf(strategy)) ?? simulateMarkets(task, strategy, this.#control);
  }

  /** @param isFirst True: its first instances log and plot. */
  #strategy(isFirst: boolean): PortfolioRequest["strategy"] {
    const { task } = this.#job;
    if (!this.#isPortfolio) return strategyForEach(task, (market) => this.#make(market, isFirst));
    let isKept = isFirst;
    return this.#portfolio((series) => {
      const report = isKept ? ({ lines }: LoggedLines) => this.#log.add(null, lines) : null;
      const guest = new PortfolioGuest(this.#script, this.#job.parametersJson, series, report);
      if (isKept) this.#guests = [guest];
      isKept = false;
      return guest;
    });
  }

  #portfolio(make: (series: PortfolioSeries) => PortfolioGuest): ScriptPortfolio {
    const { candlesMin, task: { markets, timeframeMs } } = this.#job;
    const { instant } = this.#timeline;
    const series = { timeframeMs: candleMs(timeframeMs), markets, marks: instant.length };
    return new ScriptPortfolio(() => make(series), candlesMin, instant);
  }

  /** Notes of the first marks, on which a strategy for all markets decides once more. */
  #peeks(): readonly string[] {
    const { source, parametersJson, task } = this.#job;
    if (!this.#isPortfolio || !mayPeek(source)) return [];
    const { instant } = this.#timeline;
    const until = instant[Math.min(instant.length, WATCHED_CANDLES) - 1]!;
    const markets = task.markets.map((market) => cutMarket(market, until, task.timeframeMs));
    return notesOf(findPeeks((keep) => {
      const strategy = this.#portfolio((series) =>
        keep(new PortfolioGuest(this.#script, parametersJson, { ...series, isWatched: true }))
      );
      simulateMarkets({ ...task, markets }, strategy, null);
    }));
  }

  /** @param isFirst True: its first instance logs and plots. */
  #make(market: number, isFirst: boolean): ScriptStrategy {
    const { parametersJson, candlesMin, task } = this.#job;
    const series = seriesOfMarket(task, market);
    const name = task.markets.length === 1 ? null : task.markets[market]!.id;
    let isKept = isFirst;
    return new ScriptStrategy(() => {
      const report = isKept ? ({ lines }: LoggedLines) => this.#log.add(name, lines) : null;
      const guest = new ScriptGuest(this.#script, parametersJson, series, report, market);
      if (isKept) this.#guests[market] = guest;
      isKept = false;
      return guest;
    }, candlesMin);
  }

  /** The series of the first markets, as many as a run keeps, by the marks of the run. */
  #takePlots(): { readonly plots: readonly MarketPlot[]; readonly notes: readonly string[] } {
    if (!this.#isPortfolio) {
      const plotsOf = (market: number) =>
        this.#guests[market]?.plots(this.#job.task.markets[market]!.candles.time.length) ?? [];
      return joinPlots(this.#job.task.markets, this.#timeline, plotsOf);
    }
    const plots = this.#guests[0]?.plots(this.#timeline.instant.length) ?? [];
    return { plots: plots.map((plot) => ({ market: null, ...plot })), notes: [] };
  }
}
