import type { Optimization } from "../../db/optimizations.ts";
import { countGroups } from "../../research/candle_axes.ts";
import { type MarketSettings, readSettings, type RunSettings } from "../backtest/run_settings.ts";
import { type Completed, type Failed, RunError } from "../common/outcome.ts";
import { traceStep } from "../common/telemetry.ts";
import { listGuided } from "./guided_points.ts";
import { findIn, type OptimizationServices } from "./optimization_services.ts";
import { listStretch, listTest, type Stretch } from "./points.ts";
import { planScan } from "./scan_slice.ts";
import { planPortfolioSlice } from "./portfolio_slice.ts";
import { planSlice, rulesOf, type SlicePlan } from "./slice_plan.ts";
import type { SliceLimits } from "./slice_runner.ts";
import type { Part } from "./windows.ts";
import { TrialTable } from "../../db/codec/trial_table.ts";
import type { SliceRun, TrialTask } from "../common/protocol.ts";
import type { SliceResult } from "./slice_records.ts";

/**
 * Runs places of one part, as many as there is time for.
 *
 * @param watcher `onWaited`: told how long a slice that is held in advance waited for another to end.
 * @returns Null where it was stopped.
 * @throws {RunError} When no trial of the whole range can run; a window keeps such an error.
 */
export async function simulate(
  services: OptimizationServices,
  record: Optimization,
  { part, from, until }: { readonly part: Part; readonly from: number; readonly until: number },
  { signal, onWaited }: { readonly signal: AbortSignal; readonly onWaited: (ms: number) => void },
): Promise<Simulated | null> {
  const { runner } = services;
  const settings = readSettings(record);
  const rules = rulesOf(record, settings);
  const range = { from: from - part.first, until: until - part.first };
  const find = findIn(runner, signal);
  const stretch = part.kind === "test"
    ? await listTest(record, rules, record.windows[part.window ?? 0]?.best?.point, find)
    : record.method === "tpe"
    ? await listGuided(services.db, record, rules, { part, ...range }, find)
    : await listStretch(record, rules, range, find);
  if (stretch === null || signal.aborted) return null;
  try {
    const result = await runStretch(services, { record, settings, stretch, part }, { signal, onWaited });
    if (result === null) return null;
    return { ...result, from, until: part.first + result.until, error: null };
  } catch (error) {
    if (!(error instanceof RunError) || part.kind === "range") throw error;
    const { code, message } = error.outcome;
    const none = encodeFailed(undefined, null);
    return { from, until, constrained: 0, refused: 0, trials: none, dataSha256: null, error: { code, message } };
  }
}

/** Loads the candles of a stretch and runs its trials. @returns Null where it was stopped. */
async function runStretch(
  services: OptimizationServices,
  { record, settings, stretch, part }: {
    readonly record: Optimization;
    readonly settings: RunSettings;
    readonly stretch: Stretch;
    readonly part: Part;
  },
  { signal, onWaited }: { readonly signal: AbortSignal; readonly onWaited: (ms: number) => void },
): Promise<Omit<Simulated, "error"> | null> {
  if (stretch.trials.length === 0) return toResult(stretch, null, null);
  const { runner, deadlineMs } = services;
  const { markets } = settings;
  const slice = markets !== null
    ? await planAccount(markets)
    : countGroups(record.space) === null
    ? await planOne()
    : await planScanned();
  const asked = performance.now();
  const limits = { deadlineMs, signal, onBegin: () => onWaited(performance.now() - asked) };
  const outcome = await traceStep("simulate", () => slice.run(limits));
  if (outcome.type === "stopped") return null;
  if (outcome.type === "broken") throw new Error(outcome.message);
  return { ...toResult(stretch, slice.plan, outcome), data: slice.data };

  async function planOne() {
    const load = (lookback?: number) => planSlice(services, record, settings, stretch, part, lookback);
    const plan = await traceStep("load candles", () => load());
    return { plan, data: [], run: (limits: SliceLimits) => runner.run(record, plan, limits, load) };
  }

  async function planAccount(markets: MarketSettings) {
    const load = () => planPortfolioSlice(services, record, { settings, markets }, stretch, part);
    const plan = await traceStep("load candles", load);
    return { plan, data: [], run: (limits: SliceLimits) => runner.runPortfolio(record, settings, plan, limits) };
  }

  async function planScanned() {
    const markets = await traceStep("load candles", () => planScan(services, record, settings, stretch, part));
    const data = markets.flatMap((each) => "data" in each ? [each.data] : []);
    return { plan: null, data, run: (limits: SliceLimits) => runner.runScan(record, markets, limits) };
  }
}

/** A slice's points that are done, before its job stores them. */
type Simulated = Omit<SliceResult, "part" | "end" | "durationMs">;

/** The points of a stretch that an outcome has brought to an end. `failed` is the end of its first trial. */
function toResult(
  { from, until: wholeUntil, trials, constrained, refused }: Stretch,
  plan: Pick<SlicePlan, "dates" | "dataSha256"> | null,
  outcome: Completed<SliceRun> | Failed | null,
): Omit<Simulated, "error"> {
  const { done, refused: refusedByItself = [], ...encoded } = outcome?.type === "completed"
    ? outcome
    : encodeFailed(trials[0], outcome);
  const until = trials[done]?.place ?? wholeUntil;
  const countBefore = (places: readonly number[]) => places.filter((place) => place < until).length;
  return {
    from,
    until,
    constrained: countBefore(constrained),
    refused: countBefore(refused) + refusedByItself.length,
    trials: plan?.dates == null ? encoded : { ...encoded, notes: { ...encoded.notes, dates: plan.dates } },
    dataSha256: plan?.dataSha256 ?? null,
  };
}

/** Trials that did not run; the first of them ends with the error. */
function encodeFailed(trial: TrialTask | undefined, error: Failed | null): SliceRun {
  const table = new TrialTable({ objective: "sharpe", direction: "max", returnsStride: 1 });
  if (trial !== undefined && error !== null) table.addFailed(trial, error);
  return { done: table.rows, ...table.encode() };
}
