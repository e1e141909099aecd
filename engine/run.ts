import type { Balances } from "./balance_log.ts";
import type { BufferPool } from "./buffer_pool.ts";
import type { Candles } from "./candles.ts";
import { keepCompiledCode } from "./compiled_code.ts";
import { isAskedToStop, nextLook, writeProgress } from "./control.ts";
import type { AssetClass, Execution } from "./execution.ts";
import { describeDecisions } from "./decision_notes.ts";
import { type ComputedMetrics, computeMetrics } from "./metrics/compute.ts";
import type { Metrics } from "./metrics/definitions.ts";
import { type BenchmarkColumns, cutDays, type RangeDays, type TradingDayColumns } from "./metrics/input.ts";
import { withCanonicalNaN } from "./canonical_nan.ts";
import type { OrderColumns } from "./order_columns.ts";
import { Simulation } from "./simulation.ts";
import { CANDLES_AHEAD_MAX, type Strategy } from "./strategy.ts";
import type { TradeColumns } from "./trade_columns.ts";
import { noteRuin, noteUnreachable, noteUnreplayed } from "./result_notes.ts";

/** Everything besides the decisions that a run's result depends on. */
interface RunSettings {
  readonly candles: Candles;
  /** Candles before this one are lookback: indicators see them, but they have no decision and no row of equity. */
  readonly firstIndex: number;
  /** Length of a candle; null for calendar months, which differ. */
  readonly timeframeMs: number | null;
  /** The instrument's class decides which days count as one for the metrics. Absent or null: every day counts by itself. */
  readonly assetClass?: AssetClass | null;
  /** The market's own trading days. Absent or null: the asset class decides. */
  readonly tradingDays?: TradingDayColumns | null;
  /** The days from firstIndex on, where they have been found before; absent or null: the run finds them. */
  readonly rangeDays?: RangeDays | null;
  /** Money, above zero. */
  readonly initialBalance: number;
  /** Complete rules, periodsPerYear included. */
  readonly execution: Execution;
  /** Candles of a finer timeframe for bothTouched `magnify`; absent or null where there are none. */
  readonly finer?: Candles | null;
  /** The benchmark that equity is compared with; absent or null: holding the instrument itself. */
  readonly benchmark?: BenchmarkColumns | null;
  /** Gives the run's columns their memory; absent or null: all of it is new. */
  readonly pool?: BufferPool | null;
  /** False: nobody reads the trades' mae and mfe, which are NaN, or the balances, which are empty. */
  readonly keepsDetails?: boolean;
}

/** A run: equal inputs give equal bytes, on any machine. */
export interface RunInput extends RunSettings {
  readonly strategy: Strategy;
  /** Words of control.ts, read every 1,024 candles. Null: nobody watches. */
  readonly control: Int32Array | null;
}

/** Two ends of a run, with stops first and with targets first: they bound the effect of the unknown path in a candle. */
export interface Bounds {
  readonly stop_first: Bound;
  readonly target_first: Bound;
}

export interface Bound {
  readonly final_equity: number;
  readonly trades: number;
}

/** The result of a run: plain data that can be cloned to another thread. */
export interface RunResult {
  readonly trades: TradeColumns;
  /** Money at each candle's close, a value per candle from firstIndex. */
  readonly equity: Float64Array;
  /** Units held at each candle's close, negative when short; as long as `equity`. */
  readonly position: Float64Array;
  readonly balances: Balances;
  readonly metrics: Metrics;
  /** The reason for each null among the metrics. */
  readonly undefinedMetrics: Readonly<Record<string, string>>;
  /** Fractions per trading day, oldest first (metrics/daily.ts). */
  readonly dailyReturns: Float64Array;
  /** Null where no trade is ambiguous, and where the caller drove the simulation (resultOf). */
  readonly bounds: Bounds | null;
  readonly orders: OrderColumns;
  /** Notes for the reader of the result, in words. */
  readonly notes: readonly string[];
}

/** A strategy's acts in a run: its orders, and the account at each candle. */
export type Acts = Pick<RunResult, "orders" | "equity" | "position">;

/** The run was asked to stop through its control words. */
export class RunStopped extends Error {
  override readonly name = "RunStopped";

  constructor(readonly candlesDone: number) {
    super(`The run was stopped after ${candlesDone} candles`);
  }
}

/**
 * Runs a strategy over candles by the rules of `execution`.
 *
 * @throws {RunStopped} When the control words ask for it.
 * @throws {RangeError} When there is no candle from firstIndex on, periodsPerYear is unknown or the balance is not positive.
 * @throws Whatever the strategy throws.
 */
export function run(input: RunInput): RunResult {
  checkInput(input);
  const { control, execution } = input;
  const simulation = simulate(input, execution, control);
  if (control !== null) report(control, simulation, simulation.equity.length);
  const result = resultOf(input, simulation, input.strategy.warmup);
  return { ...result, bounds: computeBounds(input, simulation, result.trades.ambiguous.includes(1)) };
}

/** Runs a strategy again for its acts alone: trades, metrics and bounds take longer than a short simulation. @throws As `run`. */
export function repeat(input: RunInput): Acts {
  checkInput(input);
  const { orders, equity, position } = simulate({ ...input, keepsDetails: false }, input.execution, null);
  return { orders: orders.finish(), equity, position };
}

/**
 * Runs a strategy for its metrics alone, which are those of `run` to the last bit: without the columns of a result, and without the
 * further simulations of its bounds.
 *
 * @throws As `run`.
 */
export function measureTrial(input: RunInput): ComputedMetrics {
  checkInput(input);
  return measure(input, simulate({ ...input, keepsDetails: false }, input.execution, input.control));
}

function checkInput({ candles, firstIndex, execution, initialBalance }: RunSettings): void {
  const count = candles.close.length;
  if (!(firstIndex >= 0 && firstIndex < count)) {
    throw new RangeError(`Cannot run from candle ${firstIndex}: there are ${count} candles`);
  }
  if (execution.periodsPerYear === null) throw new RangeError("Cannot run with periodsPerYear null: give a number");
  if (!(initialBalance > 0)) throw new RangeError(`Cannot run with a balance of ${initialBalance}: it must be above 0`);
}

/**
 * Simulates a run without computing its metrics: the hot loop. An order decided at the close of candle `i` is filled no
 * earlier than that close.
 *
 * @param progress Words of control.ts that receive the progress, or null.
 * @throws As `run`.
 */
export function simulate(input: RunInput, execution: Execution, progress: Int32Array | null): Simulation {
  const { candles, firstIndex, strategy, control } = input;
  // Bounds override bothTouched in `execution` and still replay the run's finer candles.
  const finer = input.execution.bothTouched === "magnify" ? input.finer ?? null : null;
  const settings = { ...input, execution, finer };
  keepCompiledCode(settings);
  const simulation = new Simulation(settings);
  const { book, ledger } = simulation;
  const count = candles.close.length;
  strategy.prepare(candles, input.pool, input.tradingDays);
  const isAsked = strategy.nextDecision !== undefined;
  let next = Math.max(firstIndex, strategy.warmup - 1);
  let held = ledger.quantity;
  let ahead = 1;
  for (let i = firstIndex; i < count; i++) {
    if (i < next) {
      i = simulation.rest(i, Math.min(next, nextLook(i)));
      if (i >= count) break;
    }
    if (!simulation.advance(i)) break;
    if (isAsked && (i > next || ledger.quantity !== held)) {
      held = ledger.quantity;
      next = strategy.nextDecision?.(i, ledger) ?? i;
    }
    if (i >= next) {
      let hasOrders = true;
      if (strategy.decideAhead !== undefined) {
        const until = simulation.rest(i + 1, Math.min(i + ahead, nextLook(i) + 1));
        const acting = strategy.decideAhead(i, until, ledger, book);
        hasOrders = acting < until;
        // Candles behind the next orders are marked in vain.
        ahead = hasOrders ? Math.max(ahead >> 1, 1) : Math.min(2 * ahead, CANDLES_AHEAD_MAX);
        i = hasOrders ? acting : until - 1;
        book.index = i;
        simulation.account.equity = simulation.equity[i - firstIndex]!;
      }
      if (hasOrders) strategy.decide(i, ledger, book);
      if (!simulation.settle(i)) break;
    }
    if (control !== null && i === nextLook(i)) look(control, progress, simulation, i - firstIndex);
  }
  simulation.finish();
  return simulation;
}

function look(
  control: Int32Array,
  progress: Int32Array | null,
  simulation: Simulation,
  candlesDone: number,
): void {
  if (isAskedToStop(control)) throw new RunStopped(candlesDone);
  if (progress !== null) report(progress, simulation, candlesDone);
}

function report(progress: Int32Array, { equity }: Simulation, candlesDone: number): void {
  writeProgress(progress, { candlesDone, equity: equity[candlesDone - 1] ?? NaN });
}

/** Simulates the run with stops first and with targets first. */
function computeBounds(input: RunInput, simulation: Simulation, hasAmbiguous: boolean): Bounds | null {
  if (!hasAmbiguous) return null;
  const boundOf = (bothTouched: "stop_first" | "target_first"): Bound => {
    const isSame = input.execution.bothTouched === bothTouched;
    const { account, ledger } = isSame ? simulation : simulate(input, { ...input.execution, bothTouched }, null);
    return { final_equity: account.equity, trades: ledger.log.count - ledger.open.count };
  };
  return { stop_first: boundOf("stop_first"), target_first: boundOf("target_first") };
}

/** Notes that the pnl of the last trades does not follow from their prices. */
function describeRuin({ candles: { time }, initialBalance }: RunSettings, { account: { ruin } }: Simulation): string[] {
  const note = noteRuin(ruin, initialBalance, time);
  if (ruin === null || note === null) return [];
  const trades = ruin.trades === 1 ? "the trade" : `the ${ruin.trades} trades`;
  return [`${note}: the pnl of ${trades} closed there is better by it than prices, fees and financing give`];
}

/**
 * The result of a finished simulation that the caller drove. It has no bounds: the decisions are known for one outcome alone.
 *
 * @param warmup Candles that the first decision needs, the deciding one included.
 * @throws {RangeError} As `run`.
 */
export function resultOf(input: RunSettings, simulation: Simulation, warmup: number): RunResult {
  checkInput(input);
  const { ledger, balances, equity, position, orders } = simulation;
  const placed = withCanonicalNaN(orders.finish());
  return {
    trades: withCanonicalNaN(ledger.log.finish(orders.hasTags ? placed.tag : null)),
    equity,
    position,
    balances: balances.finish(),
    ...measure(input, simulation),
    bounds: null,
    orders: placed,
    notes: [
      ...noteUnreplayed(input.execution, simulation.market.unreplayedCandles),
      ...describeRuin(input, simulation),
      ...noteUnreachable(simulation.account.unreachable),
      ...describeDecisions(input, warmup, placed),
    ],
  };
}

function measure(input: RunSettings, { account, ledger, equity, orders }: Simulation): ComputedMetrics {
  const { candles: { time, close }, firstIndex, execution, initialBalance, timeframeMs } = input;
  const { assetClass = null, tradingDays = null, rangeDays = null, benchmark = null } = input;
  return computeMetrics({
    time: time.subarray(firstIndex),
    close: close.subarray(firstIndex),
    equity,
    trades: ledger.log.tally(),
    initialBalance,
    timeframeMs,
    assetClass,
    tradingDays: tradingDays === null || rangeDays !== null ? null : cutDays(tradingDays, firstIndex),
    rangeDays,
    riskFreeRate: execution.riskFreeRate,
    periodsPerYear: execution.periodsPerYear ?? NaN,
    rejectedOrders: orders.rejected,
    feesPaid: account.feesPaid,
    tradedValue: account.tradedValue,
    cashInterest: account.interest,
    benchmark,
  });
}
