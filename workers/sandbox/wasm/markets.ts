/** A module over many markets: an instance for each, or one that decides on all, and one account between them. */
import type { PortfolioRequest } from "../../../engine/portfolio/portfolio.ts";
import { findTimeline } from "../../../engine/portfolio/timeline.ts";
import { type Failed, type Outcome, RunError } from "../../common/outcome.ts";
import { candleMs } from "../candle_series.ts";
import type { MarketsActs } from "../markets/check_markets.ts";
import { runMarketsTrials } from "../markets/markets_trials.ts";
import { checkStrategies, seriesOfMarket, simulateMarkets, strategyForEach, warmupOf } from "../markets/run_markets.ts";
import {
  candleBytes,
  type LoggedLines,
  type LookbackRequest,
  requestLookback,
  SANDBOX_BYTES_MAX,
  type SandboxMarkets,
  type WasmMarketsJob,
} from "../task.ts";
import { roundCapacity } from "../player.ts";
import type { TrialListener } from "../trials.ts";
import type { WasmMarketsTrialsJob } from "../trials_task.ts";
import { checkModule } from "./check.ts";
import type { GuestOutput } from "./guest.ts";
import { type GuestMaker, makersFor } from "./maker.ts";
import { MarketsOutput } from "./markets_output.ts";
import { GuestPortfolio } from "./portfolio.ts";
import { orRefuse } from "./run.ts";
import { ModuleFault } from "./sections.ts";
import { GuestStrategy } from "./strategy.ts";

/**
 * Runs a module over many markets. A fault of the module is an outcome.
 *
 * @param control The run's control words, in shared memory.
 * @param report Gets each line that an instance logs, at once.
 */
export function doWasmMarkets(
  job: WasmMarketsJob,
  control: Int32Array,
  report: (message: LoggedLines) => void,
): Outcome<SandboxMarkets> | LookbackRequest {
  const output = new MarketsOutput(report);
  try {
    return backtest(job, openModule(job)(job, output), control, output);
  } catch (error) {
    if (error instanceof RunError) {
      return { ...error.outcome, log: output.log.lines, marketPlots: output.takePlots(job.task).plots };
    }
    return failedBy(error);
  }
}

/** Runs trials of a module over many markets. */
export function doWasmMarketsTrials(
  job: WasmMarketsTrialsJob,
  listener: TrialListener,
): Outcome<object> | LookbackRequest {
  try {
    const strategies = openModule(job);
    const output = new MarketsOutput();
    const { candlesMin } = job;
    return runMarketsTrials(
      job,
      (parametersJson, task) => orRefuse(() => strategies({ parametersJson, task, candlesMin }, output)(false)),
      listener,
    );
  } catch (error) {
    return failedBy(error);
  }
}

type MarketsRun = Pick<WasmMarketsJob, "task" | "parametersJson" | "candlesMin">;

/** Checks a module. @returns Makes the strategies of its runs, one run after the other. @throws {ModuleFault} */
function openModule(
  job: WasmMarketsJob | WasmMarketsTrialsJob,
): (run: MarketsRun, output: MarketsOutput) => MakeStrategy {
  const checked = checkModule(job.module);
  const { decidesOnMarkets } = checked;
  const instances = decidesOnMarkets ? 1 : job.task.markets.length;
  const makers = makersFor(checked, instances, SANDBOX_BYTES_MAX + candleBytes(job));
  return (run, output) => decidesOnMarkets ? portfolioOf(run, makers[0]!, output) : strategiesOf(run, makers, output);
}

/** @throws What is no fault of the module. */
function failedBy(error: unknown): Failed {
  if (!(error instanceof ModuleFault)) throw error;
  return { type: "failed", code: "STRATEGY_FAILED", message: `Cannot use the module: ${error.message}` };
}

/** Makes the strategy of a run. @param isFirst True: its first instances log; later ones repeat it. */
type MakeStrategy = (isFirst: boolean) => PortfolioRequest["strategy"];

/** One instance for all markets. */
function portfolioOf(
  { task, parametersJson, candlesMin }: MarketsRun,
  maker: GuestMaker,
  output: MarketsOutput,
): MakeStrategy {
  output.isPortfolio = true;
  const { markets, timeframeMs } = task;
  // Every market has the same names.
  const series = { timeframeMs: candleMs(timeframeMs), firstIndex: 0, inputs: markets[0]?.inputs ?? [] };
  const inputs = markets.map(({ inputs = [] }) => inputs);
  const candlesCount = markets.reduce((sum, { candles }) => sum + roundCapacity(candles.time.length), 0);
  return (isFirst) => {
    let kept: Partial<GuestOutput> = isFirst ? output.open(0, null) : {};
    const instants = isFirst ? findTimeline(markets, timeframeMs).instant : null;
    return new GuestPortfolio(
      () => {
        const own = kept;
        kept = {};
        return maker.make(parametersJson, series, own, candlesCount, inputs.flat());
      },
      candlesMin,
      { instants, inputs },
    );
  };
}

/** An instance for each market. */
function strategiesOf(job: MarketsRun, makers: readonly GuestMaker[], output: MarketsOutput): MakeStrategy {
  const { task } = job;
  const make = (market: number, isFirst: boolean) => {
    const { candles, id } = task.markets[market]!;
    let kept: Partial<GuestOutput> = isFirst ? output.open(market, task.markets.length === 1 ? null : id) : {};
    return new GuestStrategy(() => {
      const own = kept;
      kept = {};
      return makers[market]!.make(job.parametersJson, seriesOfMarket(task, market), own, candles.time.length);
    }, job.candlesMin);
  };
  return (isFirst) => strategyForEach(task, (market) => make(market, isFirst));
}

function backtest(
  job: WasmMarketsJob,
  makeStrategy: MakeStrategy,
  control: Int32Array,
  output: MarketsOutput,
): Outcome<SandboxMarkets> | LookbackRequest {
  const { task } = job;
  // A function of its own, because the first instances must be gone before the next ones are made.
  const runFirst = (): MarketsActs | LookbackRequest => {
    const strategy = makeStrategy(true);
    return requestLookback(job, warmupOf(strategy)) ?? simulateMarkets(task, strategy, control);
  };
  const acts = runFirst();
  if ("type" in acts) return acts;
  const { plots, notes } = output.takePlots(task);
  const integrity = checkStrategies(task, acts, () => makeStrategy(false));
  const result = { ...acts.result, notes: [...acts.result.notes, ...notes] };
  return { type: "completed", result, integrity, log: output.log.lines, plots };
}
