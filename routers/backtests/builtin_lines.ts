/**
 * The lines that a built-in strategy decided by. They follow from the candles, so they are computed when somebody looks at them, and
 * no run stores them.
 */
import type { Backtest } from "../../db/backtests.ts";
import { readRecord } from "../../db/codec/unreadable.ts";
import { readEquityPieces } from "../../db/equity.ts";
import { findInstrument, type InstrumentKey } from "../../db/instruments.ts";
import type { PlotPiece } from "../../db/plots.ts";
import { planRead } from "../../market/archive/read_plan.ts";
import { readPlan, retryOnChange } from "../../market/archive/read.ts";
import { HOURS } from "../../market/calendar/exchange_sessions.ts";
import { daysOfRun } from "../../market/calendar/run_days.ts";
import { candleEnd, isTimeframe } from "../../market/timeframes.ts";
import type { Builtin, Reasons } from "../../strategies/builtin/builtin.ts";
import { findBuiltin } from "../../strategies/builtin/catalogue.ts";
import { findPortfolioBuiltin } from "../../strategies/builtin/portfolio/portfolio_catalogue.ts";
import { repairer } from "../market_data/ticks.ts";
import type { Context } from "../common/trpc.ts";
import { marketKey } from "./run_chart.ts";
import { curveReader } from "./series.ts";

/** Candles that lines are computed over at once, about; a stretch begins with as many candles as the strategy looks back. */
const STRETCH_CANDLES = 131_072;
const NO_CANDLES = {
  ...{ time: new Float64Array(0), open: new Float64Array(0), high: new Float64Array(0), low: new Float64Array(0) },
  ...{ close: new Float64Array(0), volume: new Float64Array(0) },
};

/** The built-in strategy of a run of one market; undefined for others. */
function builtinOf(row: Backtest): Builtin | undefined {
  return findBuiltin(builtinSlug(row));
}

/** Empty for code of a user. */
function builtinSlug({ strategySlug, runtime }: Backtest): string {
  return runtime === null ? strategySlug ?? "" : "";
}

/** The words for the trades of a run; null where its strategy is not built in. */
export function reasonsOf(row: Backtest): Reasons | null {
  return (builtinOf(row) ?? findPortfolioBuiltin(builtinSlug(row)))?.reasons ?? null;
}

/** Lines of a completed run, with the market whose candles they follow. */
export interface BuiltinLines {
  readonly builtin: Builtin & Required<Pick<Builtin, "lines">>;
  readonly market: InstrumentKey;
  readonly plots: readonly { readonly name: string; readonly pane: string }[];
}

/**
 * The lines of a run; null without a result, for code of a user, and for a strategy without lines.
 *
 * @param market Of a run over many: the one that is drawn, as `SPY@ARCA`. Without it such a run has no lines.
 * @throws {UnreadableRecord} Where the strategy cannot take the stored parameters.
 */
export function findLines(row: Backtest, market: string | undefined): BuiltinLines | null {
  const builtin = builtinOf(row);
  const lines = builtin?.lines;
  if (builtin === undefined || lines === undefined || row.result === null) return null;
  if (row.result.portfolio !== undefined && market === undefined) return null;
  const plots = readRecord(
    `backtest ${row.id}`,
    () => lines(row.parameters, NO_CANDLES, null).map(({ name, pane }) => ({ name, pane })),
  );
  return { builtin: { ...builtin, lines }, market: marketKey(row, market), plots };
}

/**
 * Values of the lines at the rows of a run's curve in pieces, oldest first, of which one is in memory at a time.
 *
 * @param range Rows `from` to before `until`; `sinceMs`: the first piece is the one with the first candle at this time or later, and
 *   rows count from there.
 */
export async function* readLines(
  ctx: Context,
  row: Backtest,
  lines: BuiltinLines,
  { from = 0, until = Infinity, sinceMs }: {
    readonly from?: number;
    readonly until?: number;
    readonly sinceMs?: number | undefined;
  },
): AsyncGenerator<PlotPiece> {
  const key = { backtestId: row.id, ownerId: row.ownerId };
  let times: Float64Array[] = [];
  let gathered = 0;
  let end = 0;
  for await (const { time } of readEquityPieces(ctx.db, key, { sinceMs, decode: curveReader(ctx) })) {
    const first = end;
    end += time.length;
    const part = time.subarray(Math.max(0, from - first), Math.max(0, until - first));
    if (part.length > 0) times.push(part);
    gathered += part.length;
    if (gathered >= STRETCH_CANDLES) {
      yield await drawStretch(ctx, row, lines, joinTimes(times, gathered));
      [times, gathered] = [[], 0];
    }
    if (end >= until) break;
  }
  if (gathered > 0) yield await drawStretch(ctx, row, lines, joinTimes(times, gathered));
}

function joinTimes(parts: readonly Float64Array[], length: number): Float64Array {
  const joined = new Float64Array(length);
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** @param time At least one row. */
async function drawStretch(
  ctx: Context,
  { parameters, result }: Backtest,
  { builtin, market, plots }: BuiltinLines,
  time: Float64Array,
): Promise<PlotPiece> {
  const { timeframe } = parameters;
  const instrument = await findInstrument(ctx.db, market);
  if (instrument === undefined || typeof timeframe !== "string" || !isTimeframe(timeframe)) {
    return { time, columns: plots.map(() => new Float64Array(time.length).fill(NaN)) };
  }
  const { warmup, lookback = 0 } = builtin.create(parameters);
  const query = {
    ...{ instrument, timeframe, hours: HOURS.find((name) => name === parameters.session) ?? "regular" },
    ...{ start: time[0]!, end: candleEnd(time.at(-1)!, timeframe) },
    lookback: Math.max(builtin.lookback_candles, warmup, lookback),
  };
  return await retryOnChange(async () => {
    const plan = await planRead(ctx.db, query);
    ctx.answer.takeCandles(plan.candlesMax);
    const { candles } = await readPlan(ctx.db, plan, { repair: repairer(ctx, plan) });
    const lines = builtin.lines(parameters, candles, daysOfRun(result, timeframe, candles.time));
    return { time, columns: lines.map(({ values }) => alignValues(values, candles.time, time)) };
  });
}

/** The value of the candle at each time, or of the newest one since the time before it; NaN where there is none. */
function alignValues(values: Float64Array, opens: Float64Array, time: Float64Array): Float64Array {
  let at = -1;
  return time.map((moment) => {
    const before = at;
    while (at + 1 < opens.length && opens[at + 1]! <= moment) at++;
    return at > before ? values[at]! : NaN;
  });
}
