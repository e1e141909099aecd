import type { MonteCarlo } from "../../db/monte_carlos.ts";
import { endsOfDays } from "../../market/calendar/run_days.ts";
import { findDecider } from "../backtest/decider.ts";
import { makePlan } from "../backtest/plan.ts";
import { type CandleServices, loadCandles } from "../backtest/run_candles.ts";
import { readSettings } from "../backtest/run_settings.ts";
import { RunError } from "../common/outcome.ts";
import type { PathsTask } from "../sandbox/paths_task.ts";
import { readDays, readTradePnls } from "../studies/stored_run.ts";
import type { StudiedBacktest } from "../studies/study_job.ts";
import type { ForeignPathsTask } from "./foreign_paths.ts";

const YEAR_DAYS = 365;

/** A task, and remarks on it for the reader. */
interface PathsInput {
  readonly task: PathsTask | ForeignPathsTask;
  readonly notes: readonly string[];
}

/**
 * Reads what a simulation's paths are made of.
 *
 * @throws {RunError} NO_DATA where the backtest has too little of it, and as loadCandles() and findDecider().
 */
export async function loadPathsInput(
  services: CandleServices,
  record: MonteCarlo,
  backtest: StudiedBacktest,
): Promise<PathsInput> {
  const common = { runs: record.runs, seed: record.seed, ruinDrawdown: record.ruinDrawdown };
  switch (record.method) {
    case "trades":
      return { task: { ...common, method: "trades", ...await readTradeReturns(services, backtest) }, notes: [] };
    case "returns": {
      const blockLength = record.blockDays ?? 1;
      return {
        task: { ...common, method: "returns", ...await readDailyReturns(services, backtest), blockLength },
        notes: [],
      };
    }
    case "candles": {
      const { run, task, notes, days } = await loadRun(services, backtest);
      const candles = task.candles.time.length - task.firstIndex;
      // A trading day has as many candles as it has on average.
      const paths = { ...common, blockLength: Math.max(1, (record.blockDays ?? 1) * candles / days) };
      if (run.kind === "builtin") {
        const { slug, parameters } = run.task;
        return { task: { ...paths, method: "candles", run: { ...task, slug, parameters } }, notes };
      }
      const { duration_ms: durationMs } = backtest.result;
      return { task: { ...paths, method: "foreign_candles", run, task, id: record.id, durationMs }, notes };
    }
  }
}

/** Each closed trade's pnl against the account before it, in order of the exits: they compound to all realised pnl. */
async function readTradeReturns({ db }: CandleServices, backtest: StudiedBacktest) {
  const { initialBalance, result } = backtest;
  const closed = (await readTradePnls(db, backtest)).flatMap(({ exitTime, pnl }) =>
    exitTime === null ? [] : [{ exitTime, pnl }]
  );
  closed.sort((a, b) => a.exitTime - b.exitTime);
  const returns = new Float64Array(closed.length);
  let money = initialBalance;
  for (const [i, { pnl }] of closed.entries()) {
    returns[i] = money > 0 ? pnl / money : 0;
    money += pnl;
  }
  requireTwo(returns, "closed trades");
  const years = (result.metrics.duration_days ?? 0) / YEAR_DAYS;
  const { riskFreeRate } = result.execution;
  return { returns, account: { initialBalance, periodsPerYear: returns.length / years, riskFreeRate } };
}

/** Returns by trading day, as the metrics have them. */
async function readDailyReturns({ db }: CandleServices, backtest: StudiedBacktest) {
  const { returns, periodsPerYear, riskFreeRate } = await readDays(db, backtest);
  requireTwo(returns, "daily returns");
  return { returns, account: { initialBalance: backtest.initialBalance, periodsPerYear, riskFreeRate } };
}

function requireTwo({ length }: Float64Array, of: string): void {
  if (length < 2) throw new RunError("NO_DATA", `Cannot make paths of ${length} ${of}: it takes two or more`);
}

async function loadRun(services: CandleServices, backtest: StudiedBacktest) {
  const settings = readSettings(backtest);
  const decider = await findDecider(services.db, backtest, settings);
  // With the warm-up that its strategy turned out to ask for.
  const lookback = backtest.inputs?.lookback ?? decider.lookback;
  const market = await loadCandles(services, backtest, settings, lookback);
  const { run, task, read } = makePlan(backtest, settings, { ...decider, lookback }, market);
  const notes = read.sha256 === backtest.result.data.sha256 ? [] : [
    "The candles have changed since the backtest ran: paths and real run are made of those that are held now",
  ];
  const time = task.candles.time.subarray(task.firstIndex);
  const days = Math.max(1, endsOfDays(backtest.result, backtest.parameters["timeframe"], time).length);
  // Finer candles and the benchmark belong to the real candles alone.
  return { run, task: { ...task, finer: null, benchmark: null }, notes, days };
}
