import type { ResultChunk } from "../../db/codec/result_parts.ts";
import type { EncodedSeries, MarketPlot, Plot } from "../../db/codec/plots_part.ts";
import type { EncodedTrials, TrialRanking, TrialValues } from "../../db/codec/trial_table.ts";
import type { TradingDayColumns } from "../../engine/metrics/input.ts";
import type { Candles } from "../../engine/candles.ts";
import type { AssetClass, Execution } from "../../engine/execution.ts";
import type { InputCandles } from "../../engine/inputs.ts";
import type { BenchmarkColumns } from "../../engine/metrics/input.ts";
import type { EachMarket, PortfolioResult, PortfolioSettings } from "../../engine/portfolio/portfolio.ts";
import type { PortfolioSummary } from "../../engine/result.ts";
import type { Integrity } from "../../engine/result.ts";
import type { RunResult } from "../../engine/run.ts";
import type { Constraint } from "../../research/constraints.ts";
import type { SplitsPart } from "../../research/cross_validation.ts";
import type { Trials } from "../../research/overfitting.ts";
import type { Space } from "../../research/space.ts";
import type { Observation } from "../../research/tpe.ts";

export type { EncodedSeries, MarketPlot, Plot, TrialValues };

/** The value of a completed run of foreign code. */
export interface SimulatedRun {
  readonly result: RunResult;
  readonly integrity: Integrity;
  /** Lines that the strategy logged. */
  readonly log?: readonly string[];
  readonly plots?: readonly Plot[];
}

/** The value of a completed run in the form in which it is stored. */
export interface EncodedRun {
  /** Without its columns. */
  readonly result: Pick<RunResult, "metrics" | "undefinedMetrics" | "bounds" | "notes">;
  readonly integrity: Integrity;
  /** The run's trades, orders, equity and plots. */
  readonly chunks: readonly ResultChunk[];
  /** The names of its plots. */
  readonly plots?: EncodedSeries["plots"];
  /** The equity in a few points, as fractions of the initial balance. */
  readonly sparkline: readonly number[];
  /** Lines that the strategy logged. */
  readonly log?: readonly string[];
  /** When a warm worker did the parts of the run; absent for foreign code. */
  readonly times?: RunTimes;
}

/** Milliseconds since 1970, with fractions, by the worker's clock. */
interface RunTimes {
  readonly begun: number;
  /** The simulation and its metrics were done. */
  readonly ran: number;
  /** The integrity checks were done. */
  readonly checked: number;
  /** The result was encoded. */
  readonly encoded: number;
}

/** Everything that decides a run of a built-in strategy. */
export interface RunTask {
  readonly slug: string;
  /** The strategy's own, defaults filled in. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** In shared memory, so that passing them to a thread copies nothing. */
  readonly candles: Candles;
  /** Equal sums, equal candles; absent where nobody has summed them. */
  readonly candlesSha256?: string;
  /** Candles before this one are lookback. */
  readonly firstIndex: number;
  readonly initialBalance: number;
  /** Complete, periodsPerYear included. */
  readonly execution: Execution;
  /** Length of a candle; null for calendar months, which differ. */
  readonly timeframeMs: number | null;
  /** Null if the instrument's is not known. */
  readonly assetClass: AssetClass | null;
  /** The market's own trading days; absent or null: the asset class decides. */
  readonly tradingDays?: TradingDayColumns | null;
  /** Candles of a finer timeframe over the same time, for bothTouched "magnify"; null if there are none. */
  readonly finer: Candles | null;
  /** Closes of the execution's benchmark, a day each or as long as the run's candles; absent or null where it names none. */
  readonly benchmark?: BenchmarkColumns | null;
  /** Other candles that the strategy reads; absent: none. */
  readonly inputs?: readonly InputCandles[];
  /** Chooses where the integrity checks look; an unsigned 32-bit number. */
  readonly seed: number;
}

/** Everything that decides a run of a built-in strategy over many markets with one account. Candles are in shared memory. */
export interface PortfolioTask extends Omit<PortfolioSettings, "pool" | "tradingDaysOf"> {
  readonly slug: string;
  /** The strategy's own, defaults filled in. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly positionsMax: number;
  readonly rank: EachMarket["rank"];
}

/** Everything that decides a run of foreign code over many markets, besides the code. */
export interface MarketsTask extends Omit<PortfolioTask, "slug" | "parameters"> {
  /** False: a trial, of which nobody reads the checks. Absent: true. */
  readonly checksIntegrity?: boolean;
  /** Chooses where the integrity checks look; an unsigned 32-bit number. */
  readonly seed: number;
}

/** The value of a completed run of foreign code over many markets. */
export interface SimulatedMarkets {
  readonly result: PortfolioResult;
  readonly integrity: Integrity;
  /** Lines that the strategies logged. */
  readonly log?: readonly string[];
  readonly plots?: readonly MarketPlot[];
}

/** The value of such a run in the form in which it is stored. */
export interface EncodedPortfolio extends EncodedRun {
  readonly portfolio: PortfolioSummary;
  /** Rows of the curve before it is stored, and the opens of the first and the last one's candle. */
  readonly marks: number;
  readonly first: number;
  readonly last: number;
}

/** The part of a strategy that decides which of an optimization's points are trials. */
export interface PointRules {
  /** The parameters that stay. */
  readonly own: Readonly<Record<string, unknown>>;
  readonly execution: Execution;
  /** Slug; null for foreign code, which refuses its parameters when it is created. */
  readonly builtin: string | null;
  /** Candles that any point needs before the start date. */
  readonly lookback: number;
}

/** Work on the points of an optimization, which depends on nothing else. */
export type PointsTask =
  & { readonly space: Space; readonly constraints: readonly Constraint[] }
  & (
    /** Draws points at random. */
    | {
      readonly step: "draw";
      /** The parameters that stay and that constraints name. */
      readonly fixed: Readonly<Record<string, unknown>>;
      readonly count: number;
      readonly looksMax: number;
      readonly seed: number;
    }
    /** Sorts points into trials and others. */
    | { readonly step: "sort"; readonly rules: PointRules; readonly points: Float64Array }
    /** Suggests the points of a round of a guided search, all of them trials. */
    | {
      readonly step: "suggest";
      readonly rules: PointRules;
      readonly observations: readonly Observation[];
      readonly count: number;
      readonly seed: number;
      readonly direction: "max" | "min";
    }
  );

/** The points of a task. */
export interface FoundPoints {
  /** The points' numbers in the space. */
  readonly points: Float64Array;
  /** Candles that each needs before the start date; or CONSTRAINED or REFUSED. Empty for points that are drawn. */
  readonly lookbacks: Float64Array;
  /** Points that were passed over because they break a constraint. */
  readonly constrained: number;
}

/** Stands in `lookbacks` for a point that breaks a constraint, */
export const CONSTRAINED = -1;
/** and for one that the strategy refuses. */
export const REFUSED = -2;

export interface TrialTask {
  /** Of the point among those that the optimization tries, from 0. */
  readonly place: number;
  /** The point's number in the space. */
  readonly point: number;
  /** The strategy's parameters that vary. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Candles before the range that this trial is shown, at most those that the slice has. */
  readonly lookback: number;
}

/** The part of a slice of an optimization that does not depend on the kind of its strategy. */
export interface TrialsTask extends TrialRanking {
  readonly trials: readonly TrialTask[];
  /** The strategy's parameters that stay, defaults filled in. */
  readonly own: Readonly<Record<string, unknown>>;
  /** No trial begins after these milliseconds, */
  readonly budgetMs: number;
  /** nor once this many daily returns are kept. */
  readonly returnsMax: number;
}

/** A slice of an optimization of a built-in strategy. Its candles have the longest lookback among its trials. */
export type SliceTask = Omit<RunTask, "parameters" | "candlesSha256"> & TrialsTask;

/** The same over many markets with one account. Each market has the longest lookback among the trials. */
export type PortfolioSliceTask = Omit<PortfolioTask, "parameters"> & TrialsTask;

/** Trials whose market has no candles: each ends with the error. */
export interface LostTrials {
  readonly trials: readonly TrialTask[];
  readonly error: { readonly code: string; readonly message: string };
}

/** A task a market, each with the same budget and ranking; or one of many markets. */
export type SliceTasks = readonly (SliceTask | PortfolioSliceTask | LostTrials)[];

/** The value of a slice: its first trials, at least one, as many as it had time and room for. */
export interface SliceRun extends EncodedTrials {
  /** Trials that are done, those that failed or were refused included. */
  readonly done: number;
  /** Places of the points that the strategy refused when it was made; absent: none. */
  readonly refused?: readonly number[];
}

/** The parameters of the test windows of a walk-forward optimization, in order: from each moment on, milliseconds since 1970; the first ones from the start. */
interface CarriedStages {
  readonly stages: readonly { readonly parameters: RunTask["parameters"]; readonly fromMs: number }[];
}

/** The test windows of a walk-forward optimization, which one account trades. */
export interface CarryTask extends Omit<RunTask, "parameters" | "candlesSha256">, CarriedStages {}

/** The same over many markets. */
export interface PortfolioCarryTask extends Omit<PortfolioTask, "parameters">, CarriedStages {}

/** The value of tests that were traded by one account. */
export interface CarriedTests {
  /** Share of the candles with a position. */
  readonly exposure: number | null;
  /** Equity at the end of each trading day. */
  readonly marks: Float64Array;
}

/** A part of the measurement of an optimization's luck. Its columns are in shared memory. */
export interface LuckTask extends SplitsPart {
  readonly trials: Trials;
}

/** The message to a warm worker, which it answers with an `Outcome` of what this kind of job makes. */
export interface ToWarmWorker {
  readonly job:
    | { readonly kind: "run"; readonly task: RunTask }
    | { readonly kind: "portfolio"; readonly task: PortfolioTask }
    | { readonly kind: "slice"; readonly tasks: SliceTasks }
    | { readonly kind: "carry"; readonly task: CarryTask | PortfolioCarryTask }
    | { readonly kind: "luck"; readonly task: LuckTask }
    | { readonly kind: "points"; readonly task: PointsTask };
  /** Shared memory, see engine/control.ts. */
  readonly control: Int32Array;
}
