import type { Backtest } from "../../db/backtests.ts";
import { readRecord, requireName } from "../../db/codec/unreadable.ts";
import type { Member } from "../../db/universes.ts";
import { type Execution, EXECUTION_NAMES, PROFILE_DEFAULTS } from "../../engine/execution.ts";
import { HOURS, type Hours } from "../../market/calendar/exchange_sessions.ts";
import { isTimeframe, type Timeframe } from "../../market/timeframes.ts";
import type { CandlesRecord } from "./candles_record.ts";

/** The part of a record that decides its run. An optimization has the same, with the parameters that stay. */
export type RunRecord =
  & CandlesRecord
  & Pick<Backtest, "id" | "initialBalance" | "parameters" | "runtime" | "strategySlug" | "strategyVersion">;

/** A strategy's own parameters, defaults filled in. */
export type Parameters = Readonly<Record<string, unknown>>;

/** A record's parameters, grouped by purpose. */
export interface RunSettings {
  readonly timeframe: Timeframe;
  /** The trading hours of which days and coarser candles consist. */
  readonly hours: Hours;
  /** Complete, except for periodsPerYear where the record's instrument decides it. */
  readonly execution: Execution;
  readonly own: Parameters;
  /** The markets of a run over many of them; null for a run over one. */
  readonly markets: MarketSettings | null;
  /** Other candles that the strategy reads. */
  readonly inputs: readonly InputSettings[];
}

/** Candles that a strategy reads and does not trade. */
export interface InputSettings {
  readonly name: string;
  readonly timeframe: Timeframe;
  /** Absent: the instrument that the strategy trades. */
  readonly symbol?: string;
  readonly exchange?: string;
}

/** The markets of a run, as it was submitted. */
export interface MarketSettings {
  /** A list, or the universe and the version that has it, as in `us-large@3`. */
  readonly members: readonly Member[] | string;
  /** Null: as many as there are markets. */
  readonly positionsMax: number | null;
  readonly rank: "listed" | "score";
  /** Markets without candles are left out. */
  readonly skipsMissing: boolean;
}

/**
 * A record's parameters, which were checked and completed when it was submitted.
 *
 * @throws {UnreadableRecord} Where they ask for what this build does not know: the result would not be what they mean.
 */
export function readSettings(record: Pick<RunRecord, "id" | "parameters">): RunSettings {
  return readRecord(`settings of the run ${record.id}`, () => readParameters(record.parameters));
}

function readParameters(parameters: RunRecord["parameters"]): RunSettings {
  const { timeframe, execution, runtime: _runtime, session = "regular", ...rest } = parameters;
  const { instruments, universe, portfolio, inputs, ...own } = rest;
  const hours = HOURS.find((name) => name === session);
  if (typeof timeframe !== "string" || !isTimeframe(timeframe) || !isExecution(execution) || hours === undefined) {
    throw new Error("they have no usable timeframe, session or execution");
  }
  const defaults = PROFILE_DEFAULTS[execution.profile];
  requireKnown(Object.keys(execution), EXECUTION_NAMES, "setting of execution");
  // A record from before a setting existed lacks it.
  return {
    timeframe,
    hours,
    execution: { ...defaults, ...execution },
    own,
    markets: readMarkets({ instruments, universe, portfolio }),
    inputs: readInputs(inputs),
  };
}

function readInputs(inputs: unknown): InputSettings[] {
  return Object.entries(Object(inputs ?? {})).map(([name, input]) => {
    const { timeframe, symbol, exchange, ...others } = Object(input);
    requireKnown(Object.keys(others), [], "setting of an input");
    if (typeof timeframe !== "string" || !isTimeframe(timeframe)) throw new Error(`the input ${name} has no timeframe`);
    return typeof symbol === "string" && typeof exchange === "string"
      ? { name, timeframe, symbol, exchange }
      : { name, timeframe };
  });
}

function readMarkets({ instruments, universe, portfolio }: Parameters): MarketSettings | null {
  const members: MarketSettings["members"] | undefined = Array.isArray(instruments)
    ? instruments
    : typeof universe === "string"
    ? universe
    : undefined;
  if (members === undefined) return null;
  const { positions_max = null, rank = "listed", missing = "fail", ...others } = Object(portfolio);
  requireKnown(Object.keys(others), [], "setting of the portfolio");
  requireKnown([rank, missing], ["listed", "score", "fail", "skip"], "choice of the portfolio");
  return { members, positionsMax: positions_max, rank, skipsMissing: missing === "skip" };
}

function requireKnown(names: readonly string[], known: readonly string[], what: string): void {
  for (const name of names) requireName(known, name, what);
}

function isExecution(value: unknown): value is Execution {
  return typeof value === "object" && value !== null && "profile" in value &&
    Object.hasOwn(PROFILE_DEFAULTS, String(value.profile));
}
