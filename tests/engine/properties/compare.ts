import { ORDER_REASONS, ORDER_STATUSES } from "../../../engine/order_columns.ts";
import type { RunInput, RunResult } from "../../../engine/run.ts";
import { EXIT_REASONS, STILL_OPEN } from "../../../engine/trade_columns.ts";
import { simulateSlowly, type SlowResult } from "../oracle/simulate.ts";
import type { TradeRow } from "../oracle/state.ts";

type Row = Readonly<Record<string, string | number | null>>;

/** Relative difference by which two sums of the same money may differ. */
const ROUNDING = 1e-9;

/**
 * Lists the differences between engine and slow simulator, a line each; empty when they agree.
 *
 * @param scale Money at stake: amounts may differ by its rounding error.
 */
export function differences(input: RunInput, result: RunResult, slow: SlowResult, scale: number): string[] {
  const time = (index: number | null) => index === null ? NaN : input.candles.time[index]!;
  const lines = [
    ...differencesOf("order", ordersOf(result), slowOrders(slow, time), scale),
    ...differencesOf("trade", tradesOf(result), slowTrades(slow, time), scale),
    ...differencesOf("close", closesOf(result.equity, result.position), closesOf(slow.equity, slow.position), scale),
    ...differencesOf("total", [totalsOf(result)], [slowTotals(input, slow)], scale),
  ];
  return lines;
}

/** Lines that name the row, the column and both values. */
function differencesOf(what: string, got: readonly Row[], want: readonly Row[], scale: number): string[] {
  const lines = got.length === want.length ? [] : [`${got.length} rows of ${what}, not ${want.length}`];
  for (let k = 0; k < Math.min(got.length, want.length); k++) {
    for (const name of Object.keys(want[k]!)) {
      const [a, b] = [got[k]![name], want[k]![name]];
      if (!isSame(a, b, scale)) lines.push(`${what} ${k}: ${name} is ${a}, not ${b}`);
    }
  }
  return lines;
}

/** True if two numbers are equal but for rounding of the value itself or of the money at stake. */
export function isSame(a: unknown, b: unknown, scale: number): boolean {
  if (typeof a !== "number" || typeof b !== "number") return a === b;
  if (!Number.isFinite(a) || !Number.isFinite(b)) return Object.is(a, b);
  return Math.abs(a - b) <= ROUNDING * Math.max(Math.abs(a), Math.abs(b), scale);
}

function ordersOf({ orders }: RunResult): Row[] {
  return Array.from({ length: orders.count }, (_, k) => ({
    placed: orders.time[k]!,
    side: orders.side[k]!,
    quantity: orders.quantity[k]!,
    status: ORDER_STATUSES[orders.status[k]!]!,
    reason: ORDER_REASONS[orders.reason[k]!]!,
    filledQuantity: orders.filledQuantity[k]!,
    price: orders.price[k]!,
    fillTime: orders.fillTime[k]!,
    tag: orders.tag[k]!,
  }));
}

function slowOrders({ state }: SlowResult, time: (index: number | null) => number): Row[] {
  return state.orders.map((order) => ({
    placed: time(order.placedAt),
    side: order.draft.side,
    quantity: order.quantity,
    status: order.status,
    reason: order.reason,
    filledQuantity: order.filledUnits,
    price: order.filledUnits === 0 ? NaN : order.filledValue / order.filledUnits,
    fillTime: time(order.filledAt),
    tag: order.draft.tag,
  }));
}

function tradesOf({ trades }: RunResult): Row[] {
  return Array.from({ length: trades.count }, (_, k) => ({
    side: trades.side[k]!,
    quantity: trades.quantity[k]!,
    entryTime: trades.entryTime[k]!,
    entryPrice: trades.entryPrice[k]!,
    exitTime: trades.exitTime[k]!,
    exitPrice: trades.exitPrice[k]!,
    reason: trades.exitReason[k] === STILL_OPEN ? null : EXIT_REASONS[trades.exitReason[k]!]!,
    fees: trades.fees[k]!,
    pnl: trades.pnl[k]!,
    return: trades.return[k]!,
    candles: trades.candles[k]!,
    mae: trades.mae[k]!,
    mfe: trades.mfe[k]!,
    isAmbiguous: trades.ambiguous[k]!,
    entryOrder: trades.entryOrder[k]!,
    exitOrder: trades.exitOrder[k]!,
    tag: trades.tag[k]!,
    exitTag: trades.exitTag[k]!,
  }));
}

/** Closed trades in order of entry and then of exit, open ones last. */
function inOrder(rows: readonly TradeRow[]): TradeRow[] {
  const isOpen = (row: TradeRow) => row.exitReason === null ? 1 : 0;
  return rows.map((row, k) => ({ row, k }))
    .sort((a, b) => isOpen(a.row) - isOpen(b.row) || a.row.number - b.row.number || a.k - b.k)
    .map(({ row }) => row);
}

function slowTrades({ state }: SlowResult, time: (index: number) => number): Row[] {
  return inOrder(state.closed).map((row) => ({
    side: row.side,
    quantity: row.quantity,
    entryTime: time(row.entryIndex),
    entryPrice: row.entryPrice,
    exitTime: row.exitReason === null ? NaN : time(row.exitIndex),
    exitPrice: row.exitPrice,
    reason: row.exitReason,
    fees: row.fees,
    pnl: row.pnl,
    return: row.pnl / (row.entryPrice * row.quantity),
    candles: row.exitIndex - row.entryIndex,
    mae: row.mae,
    mfe: row.mfe,
    isAmbiguous: row.isAmbiguous ? 1 : 0,
    entryOrder: row.entryOrder,
    exitOrder: row.exitOrder,
    tag: row.tag,
    exitTag: row.exitTag,
  }));
}

function closesOf(equity: ArrayLike<number>, position: ArrayLike<number>): Row[] {
  return Array.from({ length: equity.length }, (_, k) => ({ equity: equity[k]!, position: position[k]! }));
}

function totalsOf({ metrics, notes, bounds }: RunResult): Row {
  return {
    feesPaid: metrics.fees_paid,
    rejected: metrics.rejected_orders,
    ambiguous: metrics.ambiguous_trades,
    exposure: metrics.exposure,
    trades: metrics.trades,
    openTrades: metrics.open_trades,
    unreplayed: Number(notes.join().match(/no finer ones cover[^:]*: (\d+)/)?.[1] ?? 0),
    cashInterest: metrics.cash_interest,
    lossBeyond: Number(notes.join().match(/exceed the account by (\S+)\. /)?.[1] ?? 0),
    stopFirstEquity: bounds === null ? null : bounds.stop_first.final_equity,
    stopFirstTrades: bounds === null ? null : bounds.stop_first.trades,
    targetFirstEquity: bounds === null ? null : bounds.target_first.final_equity,
    targetFirstTrades: bounds === null ? null : bounds.target_first.trades,
  };
}

function slowTotals(input: RunInput, { state, equity }: SlowResult): Row {
  const closed = state.closed.filter((row) => row.exitReason !== null);
  const hasAmbiguous = state.closed.some((row) => row.isAmbiguous);
  const stopFirst = hasAmbiguous ? slowBound(input, "stop_first") : null;
  const targetFirst = hasAmbiguous ? slowBound(input, "target_first") : null;
  const exposed = equity.filter((_, k) =>
    state.closed.some((row) => row.entryIndex <= input.firstIndex + k && row.exitIndex >= input.firstIndex + k)
  );
  return {
    feesPaid: state.feesPaid,
    rejected: state.orders.filter((order) => order.status === "rejected").length,
    ambiguous: state.closed.filter((row) => row.isAmbiguous).length,
    exposure: exposed.length / equity.length,
    trades: closed.length,
    openTrades: state.closed.length - closed.length,
    unreplayed: input.execution.bothTouched === "magnify" ? state.unreplayedCandles : 0,
    cashInterest: state.interest,
    lossBeyond: state.lossBeyond,
    stopFirstEquity: stopFirst?.equity ?? null,
    stopFirstTrades: stopFirst?.trades ?? null,
    targetFirstEquity: targetFirst?.equity ?? null,
    targetFirstTrades: targetFirst?.trades ?? null,
  };
}

/** The run's end under another rule for bothTouched, with the same finer candles. */
function slowBound(input: RunInput, bothTouched: "stop_first" | "target_first"): { equity: number; trades: number } {
  const replays = input.execution.bothTouched === "magnify" && input.finer !== undefined && input.finer !== null;
  const { state, equity } = simulateSlowly({ ...input, execution: { ...input.execution, bothTouched } }, replays);
  return { equity: equity.at(-1)!, trades: state.closed.filter((row) => row.exitReason !== null).length };
}
