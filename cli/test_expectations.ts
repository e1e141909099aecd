/** The expectations of a strategy's test, and how a run differs from them. */
import { ORDER_STATUSES } from "../engine/order_columns.ts";
import { ORDER_TYPES } from "../engine/strategy.ts";
import { EXIT_REASONS } from "../engine/trade_columns.ts";
import type { Outcome } from "../workers/common/outcome.ts";
import type { SandboxRun } from "../workers/sandbox/task.ts";

type Value = string | number | boolean | null;
type Row = Readonly<Record<string, Value>>;

/** A run as a test sees it. Candles are counted from 0. */
export interface Summary {
  readonly orders: readonly Row[];
  readonly trades: readonly Row[];
  readonly metrics: Readonly<Record<string, unknown>>;
  readonly log: readonly string[];
  /** Null for a run that completed. */
  readonly error: string | null;
}

/** The parts that a test may expect; an absent one may be anything. */
export interface Expected {
  readonly orders?: readonly Row[] | undefined;
  readonly trades?: readonly Row[] | undefined;
  readonly metrics?: Row | undefined;
  readonly log?: readonly string[] | undefined;
  /** Words of the message that the run fails with. */
  readonly error?: string | undefined;
}

/** Digits of prices and sums that a test need not write. */
const TOLERANCE = 1e-6;

/** @param time Opens of the candles. */
export function summarize(outcome: Outcome<SandboxRun>, time: Float64Array): Summary {
  if (outcome.type !== "completed") {
    const error = "message" in outcome ? outcome.message : outcome.type;
    return { orders: [], trades: [], metrics: {}, log: "log" in outcome ? outcome.log ?? [] : [], error };
  }
  const { result: { orders, trades, metrics }, log } = outcome;
  const candleAt = (timeMs: number) => Number.isNaN(timeMs) ? null : time.indexOf(timeMs);
  const known = (value: number) => Number.isNaN(value) ? null : value;
  return {
    orders: Array.from({ length: orders.count }, (_, n) => ({
      candle: candleAt(orders.time[n]!),
      side: orders.side[n] === 1 ? "buy" : "sell",
      type: ORDER_TYPES[orders.type[n]!] ?? null,
      quantity: known(orders.quantity[n]!),
      limit_price: known(orders.limitPrice[n]!),
      stop_price: known(orders.stopPrice[n]!),
      status: ORDER_STATUSES[orders.status[n]!] ?? null,
      price: known(orders.price[n]!),
      tag: orders.tag[n] ?? null,
    })),
    trades: Array.from({ length: trades.count }, (_, n) => ({
      side: trades.side[n] === 1 ? "long" : "short",
      quantity: trades.quantity[n]!,
      entry_candle: candleAt(trades.entryTime[n]!),
      entry_price: trades.entryPrice[n]!,
      exit_candle: candleAt(trades.exitTime[n]!),
      exit_price: known(trades.exitPrice[n]!),
      pnl: trades.pnl[n]!,
      exit_reason: EXIT_REASONS[trades.exitReason[n]!] ?? null,
      tag: trades.tag[n] ?? null,
    })),
    metrics: { ...metrics },
    log,
    error: null,
  };
}

/** Compares a run with what is expected. @returns A line for each difference. */
export function findDifferences(found: Summary, expected: Expected): readonly string[] {
  const { error } = expected;
  if (error !== undefined) {
    if (found.error?.includes(error)) return [];
    return [`error: expected ${JSON.stringify(error)}, found ${JSON.stringify(found.error ?? "a run that completed")}`];
  }
  if (found.error !== null) return [`the run failed: ${found.error}`];
  return [
    ...compareRows("orders", found.orders, expected.orders),
    ...compareRows("trades", found.trades, expected.trades),
    ...compareRow("metrics", found.metrics, expected.metrics ?? {}),
    ...expected.log === undefined || JSON.stringify(expected.log) === JSON.stringify(found.log)
      ? []
      : [`log: expected ${JSON.stringify(expected.log)}, found ${JSON.stringify(found.log)}`],
  ];
}

function compareRows(what: string, found: readonly Row[], expected: readonly Row[] | undefined): readonly string[] {
  if (expected === undefined) return [];
  const differing = expected.flatMap((row, n) =>
    found[n] === undefined ? [] : compareRow(`${what}/${n}`, found[n], row)
  );
  if (found.length === expected.length) return differing;
  const next = found[expected.length];
  const behind = next === undefined ? "" : `; the next is ${JSON.stringify(next)}`;
  return [...differing, `${what}: expected ${expected.length}, found ${found.length}${behind}`];
}

function compareRow(where: string, found: Readonly<Record<string, unknown>>, expected: Row): readonly string[] {
  return Object.entries(expected).flatMap(([name, value]) => {
    if (!(name in found)) return [`${where}/${name}: there is none; there are ${Object.keys(found).join(", ")}`];
    const given = found[name];
    const isNear = typeof value === "number" && typeof given === "number" &&
      Math.abs(given - value) <= TOLERANCE * Math.max(1, Math.abs(value));
    if (isNear || given === value) return [];
    return [`${where}/${name}: expected ${JSON.stringify(value)}, found ${JSON.stringify(given)}`];
  });
}
