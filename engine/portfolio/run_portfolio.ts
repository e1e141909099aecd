import { withCanonicalNaN } from "../canonical_nan.ts";
import { writeProgress } from "../control.ts";
import type { Execution } from "../execution.ts";
import { describeRefusals } from "../decision_notes.ts";
import { type ComputedMetrics, computeMetrics } from "../metrics/compute.ts";
import type { RangeDays } from "../metrics/input.ts";
import type { Bound, Bounds } from "../run.ts";
import { MARGIN_CALL } from "../trade_columns.ts";
import { findAsks } from "./decisions.ts";
import {
  type MarginBounds,
  PORTFOLIO_MARKETS_MAX,
  type PortfolioRequest,
  type PortfolioResult,
  type PortfolioTrades,
} from "./portfolio.ts";
import { describePortfolio } from "./portfolio_notes.ts";
import { type Beside, findRows, type PortfolioRows } from "./portfolio_rows.ts";
import { PortfolioSimulation } from "./portfolio_simulation.ts";
import { contributionsOf, correlationOf, Sampler } from "./portfolio_tables.ts";
import type { PortfolioPlan, Timeline } from "./timeline.ts";

/**
 * Runs one account over many markets by the rules of `execution`. Equal inputs give equal bytes.
 *
 * @throws {RunStopped} When the control words ask for it.
 * @throws {RangeError} When the request cannot be run: no markets or too many, no candle in the range, rules that targets cannot have.
 * @throws Whatever a strategy throws.
 */
export function runPortfolio(request: PortfolioRequest): PortfolioResult {
  const { simulation, plan, sampler, beside } = begin(request);
  const { control } = request;
  simulation.run(control);
  if (control !== null) {
    writeProgress(control, { candlesDone: simulation.equity.length, equity: simulation.equity.at(-1) ?? NaN });
  }
  const result = resultOf(request, simulation, sampler, beside);
  return {
    ...result,
    bounds: boundsOf(request, plan, simulation, result.trades.ambiguous.includes(1)),
    marginBounds: marginBoundsOf(request, plan, simulation, result.trades),
  };
}

/** A run that its caller takes from row to row, because its strategies answer later. */
interface SteppedPortfolio {
  readonly simulation: PortfolioSimulation;
  /** The result, after the simulation has been finished; it has no bounds, which run a strategy again. */
  readonly result: () => PortfolioResult;
}

/** Begins a run that its caller steps through. @throws {RangeError} As runPortfolio(). */
export function beginPortfolio(request: PortfolioRequest): SteppedPortfolio {
  const { simulation, sampler, beside } = begin(request);
  return { simulation, result: () => resultOf(request, simulation, sampler, beside) };
}

/**
 * The metrics of a run and nothing else, as a trial of an optimization needs them.
 *
 * @param rows Those of its markets.
 * @throws As runPortfolio().
 */
export function measurePortfolio(request: PortfolioRequest, rows: PortfolioRows): ComputedMetrics {
  checkRequest(request);
  const simulation = prepare(request, planOf(request, rows.timeline, rows.days), null);
  simulation.run(request.control);
  return measure(request, simulation, rows);
}

/**
 * Runs a request again for its equity alone: tables, metrics and bounds take longer than a simulation.
 *
 * @returns A value a mark. @throws As runPortfolio().
 */
export function repeatPortfolio(request: PortfolioRequest): Float64Array {
  checkRequest(request);
  const { timeline, days } = findRows(request);
  const simulation = prepare(request, planOf(request, timeline, days), null);
  simulation.run(request.control);
  return simulation.equity;
}

function begin(request: PortfolioRequest) {
  checkRequest(request);
  const { timeline, ...beside } = findRows(request);
  const plan = planOf(request, timeline, beside.days);
  const sampler = new Sampler(timeline.instant.length, request.markets.length);
  return { plan, sampler, simulation: prepare(request, plan, sampler), beside };
}

function prepare(request: PortfolioRequest, plan: PortfolioPlan, sampler: Sampler | null): PortfolioSimulation {
  const { strategy, markets, pool } = request;
  const simulation = new PortfolioSimulation(request, plan, sampler === null ? null : sampler.mark.bind(sampler));
  if (strategy.kind === "portfolio") strategy.prepare(simulation.seats);
  else {
    markets.forEach(({ candles, tradingDays }, n) => strategy.strategies[n]!.prepare(candles, pool, tradingDays));
  }
  return simulation;
}

function checkRequest({ markets, initialBalance, execution, strategy, currencies = [] }: PortfolioRequest): void {
  const { length } = markets;
  if (length === 0 || length > PORTFOLIO_MARKETS_MAX) {
    throw new RangeError(`Cannot run a portfolio of ${length} markets: it has 1 to ${PORTFOLIO_MARKETS_MAX}`);
  }
  if (new Set(markets.map(({ id }) => id)).size < length) {
    throw new RangeError("Cannot run a portfolio with an instrument twice");
  }
  if (execution.periodsPerYear === null) throw new RangeError("Cannot run with periodsPerYear null: give a number");
  if (!(initialBalance > 0)) throw new RangeError(`Cannot run with a balance of ${initialBalance}: it must be above 0`);
  for (const { id, currency = null, candles, firstIndex } of markets) {
    if (currency !== null && (currencies[currency]?.rate.length ?? 0) === 0) {
      throw new RangeError(`Cannot convert the currency of ${id}: there are no rates for it`);
    }
    if (!(firstIndex >= 0 && firstIndex <= candles.close.length)) {
      throw new RangeError(`Cannot run ${id} from candle ${firstIndex}: there are ${candles.close.length} candles`);
    }
  }
  if (strategy.kind === "each") {
    if (strategy.strategies.length !== length) {
      throw new RangeError(`Cannot run ${strategy.strategies.length} strategies over ${length} markets: each has one`);
    }
    if (!(strategy.positionsMax >= 1)) {
      throw new RangeError(`Cannot hold ${strategy.positionsMax} positions at most: positions_max is 1 or more`);
    }
    return;
  }
  const { fill, sizingPrice, exclusive } = execution;
  if (fill !== "next_open" || sizingPrice !== "fill" || exclusive === "any") {
    throw new RangeError(
      `Cannot run a portfolio strategy with fill ${fill}, sizingPrice ${sizingPrice} and exclusive ${exclusive}: ` +
        "targets need next_open, fill, and opposite or off",
    );
  }
}

function planOf(request: PortfolioRequest, timeline: Timeline, days: RangeDays): PortfolioPlan {
  const { strategy } = request;
  if (strategy.kind === "each") {
    return {
      timeline,
      asks: new Uint8Array(0),
      callsAtCloses: false,
      execution: withSlots(request.execution, Math.min(strategy.positionsMax, request.markets.length)),
    };
  }
  const rows = timeline.instant.length;
  let warm = rows;
  request.markets.forEach(({ firstIndex, candles }, n) => {
    const first = Math.max(firstIndex, strategy.warmup - 1);
    if (first < candles.close.length) warm = Math.min(warm, timeline.closes[n]!.rowOf(first));
  });
  return {
    timeline,
    callsAtCloses: false,
    asks: findAsks(strategy, { dates: datesOf(days, rows), instant: timeline.instant }, warm),
    execution: request.execution,
  };
}

/** The default size of a position: an equal part of the equity. */
function withSlots(execution: Execution, slots: number): Execution {
  const { type, value } = execution.sizing;
  return type === "equity_fraction" ? { ...execution, sizing: { type, value: value / slots } } : execution;
}

/** The date of each row's trading day. */
function datesOf({ ends, dates }: RangeDays, rows: number): Float64Array {
  const all = new Float64Array(rows);
  for (let day = 0, row = 0; day < ends.length; day++) {
    for (; row < ends[day]!; row++) all[row] = dates[day]!;
  }
  return all;
}

function measure(request: PortfolioRequest, simulation: PortfolioSimulation, beside: Beside): ComputedMetrics {
  const { orders, trades, equity, account, timeline: { time, closes } } = simulation;
  return computeMetrics({
    time,
    close: beside.close,
    equity,
    trades: trades.tally((market, candle) => closes[market]!.rowOf(candle)),
    initialBalance: request.initialBalance,
    timeframeMs: request.timeframeMs,
    assetClass: request.assetClass ?? null,
    rangeDays: beside.days,
    riskFreeRate: request.execution.riskFreeRate,
    periodsPerYear: request.execution.periodsPerYear ?? NaN,
    rejectedOrders: orders.rejected,
    feesPaid: account.feesPaid,
    tradedValue: account.tradedValue,
    cashInterest: account.interest,
    benchmark: request.benchmark ?? null,
  });
}

function resultOf(
  request: PortfolioRequest,
  simulation: PortfolioSimulation,
  sampler: Sampler,
  beside: Beside,
): PortfolioResult {
  const { orders, trades, equity, timeline: { time, instant, closes }, seats } = simulation;
  const measured = measure(request, simulation, beside);
  const orderMarkets = orders.markets();
  const placed = withCanonicalNaN({ ...orders.finish(), market: orderMarkets });
  const columns = withCanonicalNaN({
    ...trades.finish(orders.hasTags ? placed.tag : null),
    market: trades.markets(),
  });
  return {
    ...measured,
    time,
    instant,
    equity,
    cash: simulation.cash,
    netExposure: withCanonicalNaN([simulation.net])[0]!,
    grossExposure: withCanonicalNaN([simulation.gross])[0]!,
    trades: columns,
    orders: placed,
    contributions: contributionsOf(columns, seats),
    ...sampler.finish(),
    holdings: sampler.holdings,
    correlation: correlationOf(seats, closes, beside.days),
    bounds: null,
    marginBounds: null,
    notes: [
      ...describePortfolio(request, simulation, datesOf(beside.days, time.length)),
      ...describeRefusals(placed),
    ],
  };
}

/** The bounds as in a run over one market: the ends with stops first and with targets first. */
function boundsOf(
  request: PortfolioRequest,
  plan: PortfolioPlan,
  simulation: PortfolioSimulation,
  hasAmbiguous: boolean,
): Bounds | null {
  if (!hasAmbiguous) return null;
  const boundOf = (bothTouched: "stop_first" | "target_first") => {
    if (plan.execution.bothTouched === bothTouched) return endOf(simulation);
    return endOf(repeat(request, { ...plan, execution: { ...plan.execution, bothTouched } }));
  };
  return { stop_first: boundOf("stop_first"), target_first: boundOf("target_first") };
}

/** The ends with worst prices that come together and with closes alone; null where the account is not called. */
function marginBoundsOf(
  request: PortfolioRequest,
  plan: PortfolioPlan,
  simulation: PortfolioSimulation,
  { exitReason }: PortfolioTrades,
): MarginBounds | null {
  const isCalled = plan.execution.marginCall && exitReason.includes(MARGIN_CALL);
  if (!isCalled || !simulation.account.isShared) return null;
  return { worst_together: endOf(simulation), closes_only: endOf(repeat(request, { ...plan, callsAtCloses: true })) };
}

function repeat(request: PortfolioRequest, plan: PortfolioPlan): PortfolioSimulation {
  const simulation = prepare(request, plan, null);
  simulation.run(null);
  return simulation;
}

function endOf({ account, trades, seats }: PortfolioSimulation): Bound {
  const open = seats.reduce((count, { ledger }) => count + ledger.open.count, 0);
  return { final_equity: account.equity, trades: trades.count - open };
}
