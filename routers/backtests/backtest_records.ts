import { z } from "zod";
import type { BacktestSummary } from "../../db/backtest_lists.ts";
import type { Backtest } from "../../db/backtests.ts";
import { readRecord } from "../../db/codec/unreadable.ts";
import { BACKTEST_STATUSES, LISTED_METRICS } from "../../db/schema.ts";
import { ORDER_STATUSES } from "../../engine/order_columns.ts";
import { ORDER_TYPES } from "../../engine/strategy.ts";
import { resultSchema } from "./backtest_result.ts";
import { recordReader } from "../common/stored_records.ts";
import { errorSchema, RUN_MOMENTS, RUN_QUESTION, showMoments, showQuestion } from "../runs/run_state.ts";
import { withoutReserved } from "../strategies/parameters.ts";

const freeForm = z.record(z.string(), z.unknown());

/** The tries of its owner that a run is one of, and what is left of its Sharpe ratio. */
export const runTrialsSchema = z.object({
  backtests: z.int(),
  optimization_trials: z.number(),
  /** The number of independent tries that all of them amount to. */
  independent_tries: z.number(),
  /** The tries that count as independent by assumption: their returns were not compared. */
  assumed_tries: z.number(),
  /** The tries of its owner on the same market that are left out above: of other strategies, or under other names. */
  other_tries: z.number(),
  deflated_sharpe: z.number().nullable(),
  deflated_sharpe_among_all: z.number().nullable(),
  /** The reason for each null. */
  undefined_figures: z.record(z.string(), z.string()),
  conclusion: z.string(),
}).meta({ id: "RunTrials" });

/** A backtest as clients read it. */
export const backtestSchema = z.object({
  id: z.uuid(),
  ...RUN_QUESTION,
  parameters: freeForm,
  status: z.enum(BACKTEST_STATUSES),
  progress: z.number().min(0).max(1),
  /** The equity at the close of the last simulated candle, with that candle's open time; null unless the backtest runs. */
  partial_equity: z.object({ timestamp: z.iso.datetime(), equity: z.number() }).nullable(),
  attempts: z.int(),
  ...RUN_MOMENTS,
  error: errorSchema.nullable(),
  /** The owner's own words about it, which no run reads. */
  name: z.string().nullable(),
  default_name: z.string(),
  tags: z.array(z.string()),
  star: z.boolean(),
  notes: z.string().nullable(),
  /** A candle of the result was revised since the run read it: a new run would find others. */
  stale: z.boolean(),
  /** The backtest whose stored result this one got, since its inputs are equal; null for a simulation of its own. */
  reused_from: z.uuid().nullable(),
  result: resultSchema.nullable(),
  /** In the answers to GET (without `wait`) and PATCH of one backtest alone; null until completed. */
  trials: runTrialsSchema.nullable().optional(),
}).meta({ id: "Backtest" });

/** A backtest in a list of summaries: without parameters, notes and result, but for the timeframe and a few metrics. */
export const summarySchema = backtestSchema.omit({ parameters: true, notes: true, result: true, trials: true }).extend({
  timeframe: z.string().nullable(),
  /** The strategy's own parameters that are a number, a short text or a switch, at most 24. */
  settings: z.record(z.string(), z.union([z.number(), z.string(), z.boolean()])),
  metrics: z.record(z.enum(LISTED_METRICS), z.number().nullable()).nullable(),
  /** The equity in at most 60 points, as a fraction of the initial balance; null until completed, and for old results. */
  sparkline: z.array(z.number()).nullable(),
  /** The integrity checks that failed: names as in `result.integrity`; null until completed. */
  failed_checks: z.array(resultSchema.shape.integrity.keyof()).nullable(),
}).meta({ id: "BacktestSummary" });

/** A plotted series without its values. */
export const plotSchema = z.object({
  name: z.string(),
  /** Plots of one pane are drawn together, those of `price` over the candles. */
  pane: z.string(),
}).meta({ id: "Plot" });

const plotsSchema = z.array(plotSchema).nullable();

/** A trade as clients read it; times are opens of the candles that filled it. */
export const tradeSchema = z.object({
  number: z.int(),
  side: z.enum(["long", "short"]),
  quantity: z.number(),
  entry_time: z.iso.datetime(),
  entry_price: z.number(),
  exit_time: z.iso.datetime().nullable(),
  exit_price: z.number().nullable(),
  fees: z.number(),
  pnl: z.number(),
  return: z.number(),
  candles: z.int(),
  mae: z.number(),
  mfe: z.number(),
  exit_reason: z.string().nullable(),
  ambiguous: z.boolean(),
  /** Of the order that opened it. */
  tag: z.string().nullable(),
  /** Numbers of the orders that opened and closed it: null where no order closed it, and in older results. */
  entry_order: z.int().nullable(),
  exit_order: z.int().nullable(),
  /** Of the order that closed it. */
  exit_tag: z.string().nullable(),
  instrument: z.string().nullable().describe("`SPY@ARCA` in a run over many markets; null in one over one."),
  currency: z.string().nullable().describe(
    "Of the prices, where a run over many markets has several; null where all count in one.",
  ),
}).meta({ id: "Trade" });

export const equityPointSchema = z.object({
  timestamp: z.iso.datetime(),
  equity: z.number(),
  drawdown: z.number(),
  position: z.number(),
}).meta({ id: "EquityPoint" });

/** The return of a day, a month or a year: `equity` is that at its end. */
export const returnSchema = z.object({ timestamp: z.iso.datetime(), return: z.number(), equity: z.number() }).meta({
  id: "PeriodReturn",
});

/** An order and its fate as clients read it. */
export const orderSchema = z.object({
  number: z.int(),
  placed_time: z.iso.datetime(),
  side: z.enum(["buy", "sell"]),
  type: z.enum(ORDER_TYPES),
  quantity: z.number().nullable(),
  limit_price: z.number().nullable(),
  stop_price: z.number().nullable(),
  status: z.enum(ORDER_STATUSES),
  reason: z.string().nullable(),
  filled_quantity: z.number(),
  price: z.number().nullable(),
  fill_time: z.iso.datetime().nullable(),
  tag: z.string().nullable(),
  instrument: z.string().nullable().describe("As of a trade."),
  currency: z.string().nullable().describe("As of a trade."),
}).meta({ id: "Order" });

const nameOf = ({ id }: Pick<Backtest, "id">) => `backtest ${id}`;

/** The name of a run without one of its own: its strategy, and the settings that differ from the strategy's defaults. */
export function defaultName({ strategy, changedSettings }: Pick<Backtest, "strategy" | "changedSettings">): string {
  return changedSettings === null ? strategy : `${strategy}: ${changedSettings}`;
}

/** @throws {UnreadableRecord} */
export const toBacktest = recordReader<Backtest, z.infer<typeof backtestSchema>, []>(
  nameOf,
  backtestSchema,
  (row) => ({ ...toShort(row), parameters: { ...row.parameters }, notes: row.notes, result: row.result }),
);

/** Checks all of a backtest that its drawings are made of. @throws {UnreadableRecord} */
export function checkBacktest(row: Backtest): void {
  toBacktest(row);
  readRecord(nameOf(row), () => plotsSchema.parse(row.plots));
}

/** @throws {UnreadableRecord} */
export const toSummary = recordReader(nameOf, summarySchema, summarize);

function summarize(row: BacktestSummary): z.infer<typeof summarySchema> {
  const { status, timeframe, sparkline } = row;
  const failed_checks = row.failedChecks === null ? null : [...row.failedChecks];
  const metrics = {
    total_return: row.totalReturn,
    cagr: row.cagr,
    sharpe: row.sharpe,
    max_drawdown: row.maxDrawdown,
    trades: row.trades,
    win_rate: row.winRate,
    profit_factor: row.profitFactor,
  };
  return {
    ...toShort(row),
    timeframe,
    settings: withoutReserved(row.settings),
    metrics: status === "completed" ? metrics : null,
    sparkline,
    failed_checks,
  };
}

function toShort(row: Omit<Backtest, "parameters" | "notes" | "result" | "runtime" | "inputs">) {
  return {
    id: row.id,
    ...showQuestion(row),
    status: row.status,
    progress: row.progress,
    partial_equity: row.status === "running" ? row.partialEquity : null,
    attempts: row.attempts,
    ...showMoments(row),
    error: row.error,
    name: row.name,
    default_name: defaultName(row),
    tags: row.tags,
    star: row.star,
    stale: row.stale,
    reused_from: row.reusedFrom,
  };
}
