import type { OrderColumns } from "../../engine/order_columns.ts";
import type { TradeColumns } from "../../engine/trade_columns.ts";

const TRADES_MAX = 6;
const DECISIONS_MAX = 8;
const IDLE_MAX = 4;

/** The orders of a run that say where it pays to know more, and its trades by rows of them. */
export interface PlacedOrders {
  readonly orders: Pick<OrderColumns, "count" | "time" | "side" | "type">;
  readonly trades: Pick<TradeColumns, "count" | "entryOrder" | "exitOrder" | "pnl">;
}

/**
 * The candles at whose close it would have paid most to know later ones: indexes, the best first in each list. A strategy that looks
 * ahead does so there, however seldom it does.
 */
interface Temptations {
  /** An order was placed, and the next candle moved its way. */
  readonly decisions: readonly number[];
  /** The orders that opened and closed the trades with the largest pnl. */
  readonly trades: readonly number[];
  /** No order was placed, and the next candle moved far. */
  readonly idle: readonly number[];
  /** One candle for each type and side of an order. */
  readonly kinds: readonly number[];
}

/**
 * @param run The result, and all candles of its run: opens, ascending, and closes.
 * @param range Looks at the candles from `first` up to, not including, `until`.
 */
export function findTemptations(
  { result: { orders, trades }, time, close }: {
    readonly result: PlacedOrders;
    readonly time: Float64Array;
    readonly close: Float64Array;
  },
  { first, until }: { readonly first: number; readonly until: number },
): Temptations {
  const moveAfter = (i: number) => i + 1 < close.length ? close[i + 1]! / close[i]! - 1 : 0;
  const decisions = new Best(DECISIONS_MAX);
  const idle = new Best(IDLE_MAX);
  const kinds = new Map<number, number>();
  const placedAt = new Int32Array(orders.count);
  let row = 0;
  for (let i = first; i < until; i++) {
    const begin = row;
    for (; row < orders.count && orders.time[row]! <= time[i]!; row++) {
      placedAt[row] = i;
      decisions.offer(i, orders.side[row]! * moveAfter(i));
      const kind = orders.type[row]! * 2 + (orders.side[row]! > 0 ? 1 : 0);
      if (!kinds.has(kind)) kinds.set(kind, i);
    }
    if (row === begin) idle.offer(i, Math.abs(moveAfter(i)));
  }
  const best = new Best(TRADES_MAX);
  for (let k = 0; k < trades.count; k++) {
    if (trades.exitOrder[k]! < row && trades.entryOrder[k]! < row) best.offer(k, trades.pnl[k]!);
  }
  const orderRows = best.indexes.flatMap((k) => [trades.entryOrder[k]!, trades.exitOrder[k]!]);
  return {
    decisions: decisions.indexes,
    trades: orderRows.flatMap((order) => order < 0 ? [] : [placedAt[order]!]),
    idle: idle.indexes,
    kinds: [...kinds.values()],
  };
}

/** Takes from each list in turn, each candle once. @param countMax Candles at most. */
export function takeInTurn(lists: readonly (readonly number[])[], countMax: number): number[] {
  const chosen = new Set<number>();
  const longest = Math.max(0, ...lists.map((list) => list.length));
  for (let place = 0; place < longest; place++) {
    for (const list of lists) {
      if (place < list.length && chosen.size < countMax) chosen.add(list[place]!);
    }
  }
  return [...chosen];
}

/** Keeps the indexes with the largest values above 0, the largest first; of equal ones the first. */
class Best {
  readonly #max: number;
  readonly #kept: { readonly index: number; readonly value: number }[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  get indexes(): readonly number[] {
    return this.#kept.map(({ index }) => index);
  }

  offer(index: number, value: number): void {
    const kept = this.#kept;
    if (!(value > 0) || (kept.length === this.#max && value <= kept.at(-1)!.value)) return;
    const place = kept.findIndex((other) => other.value < value);
    kept.splice(place < 0 ? kept.length : place, 0, { index, value });
    if (kept.length > this.#max) kept.pop();
  }
}
