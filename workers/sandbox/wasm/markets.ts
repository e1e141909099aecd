/** A module over many markets: an instance for each, and one account between them. */
import { type Outcome, RunError } from "../../common/outcome.ts";
import type { MarketsActs } from "../markets/check_markets.ts";
import { MarketsLog } from "../markets/markets_log.ts";
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
import { checkModule } from "./check.ts";
import type { LogLines } from "./guest.ts";
import { type GuestMaker, makersFor } from "./maker.ts";
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
  const log = new MarketsLog(report);
  try {
    const makers = makersFor(checkModule(job.module), job.task.markets.length, SANDBOX_BYTES_MAX + candleBytes(job));
    return backtest(job, makers, control, log);
  } catch (error) {
    if (error instanceof ModuleFault) {
      return { type: "failed", code: "STRATEGY_FAILED", message: `Cannot use the module: ${error.message}` };
    }
    if (error instanceof RunError) return { ...error.outcome, log: log.lines };
    throw error;
  }
}

function backtest(
  job: WasmMarketsJob,
  makers: readonly GuestMaker[],
  control: Int32Array,
  log: MarketsLog,
): Outcome<SandboxMarkets> | LookbackRequest {
  const { task } = job;
  const make = (market: number, isFirst: boolean) => {
    const { candles, id } = task.markets[market]!;
    let lines: LogLines = isFirst ? new MarketLines(log, task.markets.length === 1 ? null : id) : [];
    return new GuestStrategy(() => {
      const own = lines;
      lines = [];
      return makers[market]!.make(job.parametersJson, seriesOfMarket(task, market), own, candles.time.length);
    }, job.candlesMin);
  };
  // A function of its own, because the first instances must be gone before the next ones are made.
  const runFirst = (): MarketsActs | LookbackRequest => {
    const strategy = strategyForEach(task, (market) => make(market, true));
    return requestLookback(job, warmupOf(strategy)) ?? simulateMarkets(task, strategy, control);
  };
  const acts = runFirst();
  if ("type" in acts) return acts;
  const integrity = checkStrategies(task, acts, () => strategyForEach(task, (market) => make(market, false)));
  return { type: "completed", result: acts.result, integrity, log: log.lines, plots: [] };
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
