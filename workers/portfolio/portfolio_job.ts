/** A backtest over many markets with one account. */
import { getLogger } from "@logtape/logtape";
import type { Backtest } from "../../db/backtests.ts";
import { readStoredResult } from "../../db/equal_results.ts";
import type { ResultInputs } from "../../db/result_inputs.ts";
import type { BacktestResult, PortfolioSummary } from "../../engine/result.ts";
import { ENGINE_VERSION } from "../../engine/version.ts";
import { describeFailedChecks, describeInput, hashCanonical, isoTime, summarizeInputs } from "../backtest/plan.ts";
import type { RunLimits } from "../backtest/pool.ts";
import type { BacktestRecords, StorableRun } from "../backtest/records.ts";
import type { CandleServices } from "../backtest/run_candles.ts";
import type { MarketSettings, RunRecord, RunSettings } from "../backtest/run_settings.ts";
import type { PortfolioRun, Runner } from "../backtest/runner.ts";
import { NOT_BEGUN, type Outcome } from "../common/outcome.ts";
import type { EncodedPortfolio, MarketsTask } from "../common/protocol.ts";
import { traceStep } from "../common/telemetry.ts";
import { findMarketsDecider, type MarketsDecider } from "./markets_decider.ts";
import { type LoadedMarkets, name } from "./load_markets.ts";
import { loadPortfolio, type PortfolioRecord } from "./load_portfolio.ts";
import { describeRates, identifyRates, summarizeRates } from "./load_rates.ts";

const logger = getLogger(["hindcast", "queue"]);

/** The services of its process that a run over many markets needs. */
interface PortfolioServices extends CandleServices {
  readonly records: BacktestRecords;
  readonly runner: Runner;
  readonly deadlineMs: number;
}

/** The task, and what its result says besides the simulation's own words. */
interface PortfolioPlan {
  readonly run: PortfolioRun;
  readonly task: MarketsTask;
  readonly runKey: string;
  readonly moduleSha256: string | null;
  readonly inputs: ResultInputs;
  readonly data: Pick<BacktestResult["data"], "sha256" | "gaps" | "session" | "inputs" | "conversions">;
  readonly notes: readonly string[];
  /** Of each market; null where all count in one. */
  readonly currencies: readonly (string | null)[] | null;
}

/**
 * Runs a strategy over the markets of a record.
 *
 * @throws {RunError} As loadMarkets() and findMarketsDecider().
 */
export async function runPortfolioBacktest(
  services: PortfolioServices,
  record: Backtest,
  { settings, markets, waitMs }: {
    readonly settings: RunSettings;
    readonly markets: MarketSettings;
    readonly waitMs: number;
  },
  signal: AbortSignal,
): Promise<Outcome<StorableRun>> {
  const { db, records, runner, deadlineMs } = services;
  const decider = await findMarketsDecider(db, record, settings);
  const load = (lookback: number) =>
    traceStep("load candles", () => planPortfolio(services, record, settings, markets, { ...decider, lookback }));
  const first = await load(decider.lookback);
  const reused = await reuse(services, record, first, load);
  if (reused !== null) return reused;
  let plan = first;
  const longest = plan.task.markets.reduce((one, two) => one.candles.time.length < two.candles.time.length ? two : one);
  const progress = records.trackProgress(record, longest.candles.time.subarray(longest.firstIndex));
  const stop = AbortSignal.any([signal, progress.lost]);
  const limits: RunLimits = { deadlineMs, waitMs, signal: stop, onProgress: progress.write.bind(progress) };
  // A user's code knows its warm-up only once it has its parameters.
  const reload = async (warmup: number) => (plan = await load(warmup)).run;
  const begun = performance.now();
  const outcome = await traceStep("simulate", () => runner.runPortfolio(plan.run, limits, reload));
  const durationMs = Math.round(performance.now() - begun);
  await progress.written;
  if (outcome.type === "completed") {
    // A later equal submission looks for the key of its first plan.
    const inputs = { ...plan.inputs, key: first.inputs.key };
    return toStorable({ ...plan, inputs }, outcome, durationMs);
  }
  if (outcome.type !== "broken") return outcome;
  if (stop.aborted) return NOT_BEGUN;
  logger.error("The sandbox of attempt {attempt} broke: {reason}", {
    attempt: record.attempts,
    reason: outcome.message,
  });
  return outcome;
}

/**
 * The stored result of an equal submission of the same user.
 *
 * @param first The plan before the strategy asked for more candles.
 * @returns Null where there is none, where the submission wants none, and for endpoints, which may answer differently each time.
 */
async function reuse(
  { db, records }: PortfolioServices,
  { ownerId, symbol, exchange, fresh, runtime }: Backtest,
  first: PortfolioPlan,
  load: (lookback: number) => Promise<PortfolioPlan>,
): Promise<Outcome<StorableRun> | null> {
  if (fresh || runtime?.type === "remote") return null;
  return await traceStep("reuse", async () => {
    const equal = await records.findEqual({ ownerId, symbol, exchange, key: first.inputs.key });
    if (equal === undefined) return null;
    const plan = equal.lookback === first.inputs.lookback ? first : await load(equal.lookback);
    if (plan.runKey !== equal.runKey) return null;
    const stored = await readStoredResult(db, equal.id);
    const inputs = { ...plan.inputs, key: first.inputs.key };
    return stored && { type: "completed", ...stored, inputs, reusedFrom: equal.id };
  });
}

/** @throws {RunError} As loadPortfolio(). */
export async function planPortfolio(
  services: CandleServices,
  record: PortfolioRecord,
  settings: RunSettings,
  wanted: MarketSettings,
  decider: MarketsDecider,
): Promise<PortfolioPlan> {
  const { lookback } = decider;
  const loaded = await loadPortfolio(services, record, settings, { markets: wanted, lookback });
  const { rates, session, series } = loaded;
  const runKey = hashCanonical({
    engine_version: ENGINE_VERSION,
    strategy: decider.identity,
    parameters: { ...settings.own, timeframe: settings.timeframe },
    execution: loaded.task.execution,
    markets: loaded.sums,
    ...identifyRates(rates),
    positions_max: loaded.task.positionsMax,
    rank: wanted.rank,
    benchmark: loaded.benchmarkSha256,
    session,
    initial_balance: record.initialBalance,
    start_date: record.startDate,
    end_date: record.endDate,
  });
  const task = { ...loaded.task, seed: Number.parseInt(runKey.slice(0, 8), 16) };
  // An input without a symbol is of each market's own instrument: a note for each would repeat it.
  const shared = (loaded.markets[0]?.data.inputs ?? []).filter((input) => input.symbol !== undefined);
  const notes = [
    ...describeMarkets(record, loaded),
    ...shared.flatMap((input) => describeInput(record, input)),
    ...describeRates(rates, Math.max(...loaded.markets.map(({ data }) => data.read.candles.time.at(-1)!))),
  ];
  return {
    run: decider.toRun(task, loaded.lookbackWanted),
    task,
    runKey,
    moduleSha256: decider.moduleSha256,
    // Equal markets may be listed under another name, which the notes say.
    inputs: { key: hashCanonical([runKey, notes]), lookback, series },
    data: {
      sha256: loaded.sha256,
      gaps: loaded.markets.reduce((sum, { data }) => sum + data.read.gaps, 0),
      session,
      ...(shared.length === 0 ? {} : { inputs: summarizeInputs(shared) }),
      ...(rates.length === 0 ? {} : { conversions: summarizeRates(rates) }),
    },
    notes,
    currencies: rates.length === 0 ? null : loaded.markets.map(({ data }) => data.instrument.currency),
  };
}

function describeMarkets({ parameters, endDate }: RunRecord, { markets, missing }: LoadedMarkets): string[] {
  const { universe } = parameters;
  const dated = markets.some(({ memberships }) => memberships.some(({ from, to }) => from !== null || to !== null));
  return [
    `end_date ${endDate} is exclusive`,
    ...(missing.length > 0 ? [`Left out, since no candles are held of them: ${name(missing)}`] : []),
    ...(dated ? [] : [
      `${
        typeof universe === "string" ? `The universe ${universe}` : "The list of instruments"
      } has no dates: it is a ` +
      "survivor's, which knows nobody who has left",
    ]),
  ];
}

function toStorable(
  { task, runKey, moduleSha256, inputs, data, notes, currencies }: PortfolioPlan,
  { result, integrity, portfolio, marks, first, last, chunks, sparkline, plots = [], log = [] }: EncodedPortfolio,
  durationMs: number,
): Outcome<StorableRun> {
  return {
    type: "completed",
    result: {
      run_key: runKey,
      engine_version: ENGINE_VERSION,
      module_sha256: moduleSha256,
      data: { candles: marks, first: isoTime(first), last: isoTime(last), ...data },
      execution: task.execution,
      metrics: result.metrics,
      undefined_metrics: result.undefinedMetrics,
      bounds: result.bounds,
      notes: [...notes, ...result.notes, ...describeFailedChecks(integrity)],
      integrity,
      portfolio: currencies === null ? portfolio : nameCurrencies(portfolio, currencies),
      duration_ms: durationMs,
    },
    chunks,
    plots,
    sparkline,
    log,
    inputs,
  };
}

function nameCurrencies(portfolio: PortfolioSummary, currencies: readonly (string | null)[]): PortfolioSummary {
  const contributions = portfolio.contributions.map((row, n) => {
    const currency = currencies[n] ?? null;
    return currency === null ? row : { ...row, currency };
  });
  return { ...portfolio, contributions };
}
