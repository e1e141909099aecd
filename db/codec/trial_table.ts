/** The trials of a slice as columns. Light enough for the threads that run strategies: it needs no library. */
import { type Metrics, NUMERIC_METRIC_NAMES, type NumericMetricName } from "../../engine/metrics/definitions.ts";
import { type Frames, packColumns, packFrames } from "./packed_columns.ts";
import { storableText } from "./storable.ts";

/** The place of a trial's point among those that the optimization tries, from 0, and its number in the space. */
interface TrialPoint {
  readonly place: number;
  readonly point: number;
}

/** The end of a trial that failed, as a backtest's `error`. */
interface TrialError {
  readonly code: string;
  readonly message: string;
}

/** The values that a trial leaves behind. */
export interface TrialValues {
  readonly metrics: Metrics;
  /** The reason for each null among the metrics. */
  readonly undefinedMetrics: Readonly<Record<string, string>>;
  /** Fractions per day, oldest first. */
  readonly dailyReturns: Float64Array;
}

/** Metrics that are times. */
export type TrialTimes = Pick<Metrics, "start" | "end">;

/** The texts of a chunk of trials, to which its columns refer by their place here, and where its columns are. */
export interface TrialNotes {
  /** Absent: one frame has all columns, as earlier versions wrote them. */
  readonly frames?: Frames;
  readonly errors: readonly TrialError[];
  /** Why metrics are null, each set of reasons once. */
  readonly undefined: readonly Readonly<Record<string, string>>[];
  /** Metrics that are times, the same in all trials; null where all failed. */
  readonly times: TrialTimes | null;
  /** Where they differ, as in trials of several markets: the column `times` refers to them. Absent: all have `times`. */
  readonly timesOf?: readonly TrialTimes[];
  /** The dates of a test window's daily returns, in days since 1970; absent elsewhere, and in older chunks. */
  readonly dates?: readonly number[];
}

/** The trials of a slice, ready to be stored. */
export interface EncodedTrials {
  readonly trials: number;
  readonly failed: number;
  /**
   * Packed columns, a row a trial: a frame of that name for each metric, and TRIAL_FRAME with `place`, `point`, `days`, `error`,
   * `undefined` and, in trials of several markets, `times`. Empty without trials.
   */
  readonly data: Uint8Array;
  readonly notes: TrialNotes;
  /** A packed column: the daily returns of one trial after the other, as many as its `days`. Empty without any. */
  readonly returns: Uint8Array;
  /** By row, for the choice of the best; an objective may be NaN. */
  readonly places: Float64Array;
  readonly points: Float64Array;
  readonly objectives: Float64Array;
  /** Likewise, what is shown of the best; NaN where it is undefined. */
  readonly sharpes: { readonly [name in SharpeName]: Float64Array };
}

/** A Sharpe ratio and the ends of its 95 % interval. */
const SHARPE_NAMES = ["sharpe", "sharpe_low", "sharpe_high"] as const;
type SharpeName = typeof SHARPE_NAMES[number];

/** The frame of the columns of trials that are no metrics. */
export const TRIAL_FRAME = "trial";

/** Stands for "none" in the columns `error` and `undefined`. */
export const NONE = -1;

/** The metric by which trials are ranked, and the trials whose returns are kept. */
export interface TrialRanking {
  /** The metric by which trials are ranked. */
  readonly objective: NumericMetricName;
  readonly direction: "max" | "min";
  /** Keeps the daily returns of trials whose place it divides. */
  readonly returnsStride: number;
}

/** Collects the trials of a slice. */
export class TrialTable {
  /** Daily returns that it keeps. */
  returnsCount = 0;
  readonly #places: number[] = [];
  readonly #points: number[] = [];
  readonly #days: number[] = [];
  readonly #errorAt: number[] = [];
  readonly #undefinedAt: number[] = [];
  readonly #metrics = new Map<NumericMetricName, number[]>(NUMERIC_METRIC_NAMES.map((name) => [name, []]));
  readonly #returns: Float64Array[] = [];
  readonly #errors: TrialError[] = [];
  readonly #undefined = new Map<string, number>();
  readonly #ranking: TrialRanking;
  #best = -Infinity;
  /** Each pair once, and the place of each trial's; that of a failed one means nothing. */
  readonly #times: TrialTimes[] = [];
  readonly #timesAt: number[] = [];

  constructor(ranking: TrialRanking) {
    this.#ranking = ranking;
  }

  get rows(): number {
    return this.#places.length;
  }

  add(at: TrialPoint, { metrics, undefinedMetrics, dailyReturns }: TrialValues): void {
    const keeps = this.#keepsReturns(at, metrics);
    this.#begin(at, keeps ? dailyReturns.length : 0, NONE);
    if (keeps) this.#returns.push(dailyReturns.slice());
    const reasons = JSON.stringify(undefinedMetrics);
    if (reasons === "{}") this.#undefinedAt.push(NONE);
    else {
      const known = this.#undefined.get(reasons) ?? this.#undefined.size;
      this.#undefined.set(reasons, known);
      this.#undefinedAt.push(known);
    }
    for (const [name, values] of this.#metrics) values.push(metrics[name] ?? NaN);
    const last = this.#times.at(-1);
    if (last?.start !== metrics.start || last.end !== metrics.end) {
      this.#times.push({ start: metrics.start, end: metrics.end });
    }
    this.#timesAt.push(this.#times.length - 1);
  }

  /** True for every n-th trial, and for each that is better than those before it: the best of all is among them. */
  #keepsReturns({ place }: TrialPoint, metrics: Metrics): boolean {
    const { returnsStride, objective, direction } = this.#ranking;
    const value = metrics[objective];
    const score = value === null ? -Infinity : direction === "max" ? value : -value;
    const isBest = score > this.#best;
    if (isBest) this.#best = score;
    return isBest || place % returnsStride === 0;
  }

  addFailed(at: TrialPoint, { code, message }: TrialError): void {
    this.#begin(at, 0, this.#errors.length);
    this.#errors.push({ code, message: storableText(message) });
    this.#undefinedAt.push(NONE);
    this.#timesAt.push(NONE);
    for (const values of this.#metrics.values()) values.push(NaN);
  }

  #begin({ place, point }: TrialPoint, days: number, errorAt: number): void {
    this.#places.push(place);
    this.#points.push(point);
    this.#days.push(days);
    this.#errorAt.push(errorAt);
    this.returnsCount += days;
  }

  encode(): EncodedTrials {
    const trial = {
      place: Float64Array.from(this.#places),
      point: Float64Array.from(this.#points),
      days: Float64Array.from(this.#days),
      error: Float64Array.from(this.#errorAt),
      undefined: Float64Array.from(this.#undefinedAt),
      ...(this.#times.length > 1 ? { times: Float64Array.from(this.#timesAt) } : {}),
    };
    const metrics = [...this.#metrics].map(([name, values]) => [name, { [name]: Float64Array.from(values) }] as const);
    const { data, frames } = this.rows === 0
      ? { data: new Uint8Array(), frames: {} }
      : packFrames({ [TRIAL_FRAME]: trial, ...Object.fromEntries(metrics) });
    const column = (name: NumericMetricName) => Float64Array.from(this.#metrics.get(name) ?? []);
    return {
      trials: this.rows,
      failed: this.#errors.length,
      data,
      notes: {
        frames,
        errors: this.#errors,
        undefined: [...this.#undefined.keys()].map((reasons) => JSON.parse(reasons)),
        times: this.#times[0] ?? null,
        ...(this.#times.length > 1 ? { timesOf: this.#times } : {}),
      },
      returns: this.returnsCount === 0 ? new Uint8Array() : packColumns({ returns: joined(this.#returns) }),
      places: trial.place,
      points: trial.point,
      objectives: column(this.#ranking.objective),
      sharpes: { sharpe: column("sharpe"), sharpe_low: column("sharpe_low"), sharpe_high: column("sharpe_high") },
    };
  }
}

function joined(parts: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
