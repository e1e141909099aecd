/** The trades and the fills of a run, as a script sees them. */
import type { Layout } from "../../contracts/layout.ts";
import { type Memory, want } from "./memory.ts";
import { isCallable } from "./world.ts";

/** The candles of a realm for one market, up to the deciding one. */
export interface CandlesNow {
  readonly high?: unknown;
  readonly low?: unknown;
  readonly close?: unknown;
}

type Column = ArrayLike<number>;
/** A script's function that is told of a fill, or of a trade that was closed. */
export type Listener = (told: object) => unknown;

/** The functions of a script that are told of fills, and of trades that were closed. */
export interface Listeners {
  readonly onFill: Listener | null;
  readonly onClose: Listener | null;
}

/** The list of open trades. One that has not changed is not made again, nor is a trade, unless its details are read. */
export function makeTradeList(layout: Layout, memory: Memory, now: CandlesNow | null): () => readonly object[] {
  const { state: STATE, trade: TRADE } = layout;
  const word = (at: number) => memory.words[at >>> 2]!;
  const details = makeDetails(layout, memory, now);
  const hasDetails = () => (memory.listBits & 8) !== 0;
  const readTrade = (n: number, last: object | undefined): object => {
    const at = layout.tradesAt + n * layout.tradeBytes;
    const trade = word(at + TRADE.number);
    const quantity = memory.doubles[(at + TRADE.quantity) >>> 3]!;
    const entryPrice = memory.doubles[(at + TRADE.entryPrice) >>> 3]!;
    if (hasDetails()) return details.read(n, { trade, quantity, entryPrice });
    const isSame = last !== undefined && "trade" in last && last.trade === trade && "quantity" in last &&
      last.quantity === quantity && "entryPrice" in last && last.entryPrice === entryPrice;
    return isSame ? last : details.hide(trade, quantity, entryPrice);
  };
  let open: readonly object[] = Object.freeze([]);
  let revision = 0;
  return () => {
    if ((memory.listBits & 2) === 0) want(layout, memory);
    if (revision === word(STATE.tradesRevision)) return open;
    revision = word(STATE.tradesRevision);
    const list: object[] = [];
    for (let n = 0; n < word(STATE.tradesCount); n++) list.push(readTrade(n, open[n]));
    return open = Object.freeze(list);
  };
}

/** Fields of a trade besides its quantity and its entry price. */
export function makeDetails(layout: Layout, memory: Memory, now: CandlesNow | null) {
  const { detail: DETAIL, state: STATE } = layout;
  const names = ["order", "tag", "entryIndex", "entryTime", "stopLoss", "takeProfit", "trailingStop"];
  const get = () => want(layout, memory);
  const { freeze } = Object;
  // On a prototype, because ten properties of its own would cost more than the rest of a trade.
  const hidden = {};
  for (const name of [...names, "profit", "bestPrice", "worstPrice"]) {
    Object.defineProperty(hidden, name, { get, enumerable: true });
  }
  const toJSON = function (this: object) {
    get();
    return { ...this };
  };
  Object.freeze(Object.defineProperty(hidden, "toJSON", { value: toJSON }));
  /** Extends a price that is known by the close of candle `from` by the candles since. */
  const extreme = (column: unknown, price: number, from: number, isHigh: boolean): number => {
    const values: Column = Object(column);
    let found = price;
    for (let i = from + 1; i <= memory.i; i++) if (isHigh ? values[i]! > found : values[i]! < found) found = values[i]!;
    return found;
  };
  return {
    /** A trade whose details the host has not been asked for. */
    hide: (trade: number, quantity: number, entryPrice: number): object =>
      freeze({ __proto__: hidden, trade, quantity, entryPrice }),
    read(n: number, known: { readonly trade: number; readonly quantity: number; readonly entryPrice: number }): object {
      const at = layout.detailsAt + n * layout.detailBytes;
      const word = (offset: number) => memory.words[(at + offset) >>> 2]!;
      const double = (offset: number) => memory.doubles[(at + offset) >>> 3]!;
      const price = (offset: number) => double(offset) === 0 ? null : double(offset);
      const { quantity, entryPrice } = known;
      const from = memory.words[STATE.tradesIndex >>> 2]!;
      let [best, worst, seen] = [double(DETAIL.bestPrice), double(DETAIL.worstPrice), from];
      const given = double(DETAIL.profit);
      const look = () => {
        if (now === null || seen >= memory.i) return;
        const isLong = quantity > 0;
        best = extreme(isLong ? now.high : now.low, best, seen, isLong);
        worst = extreme(isLong ? now.low : now.high, worst, seen, !isLong);
        seen = memory.i;
      };
      return Object.freeze({
        ...known,
        order: word(DETAIL.order),
        tag: readText(memory, at + DETAIL.tag, word(DETAIL.tagBytes)),
        entryIndex: word(DETAIL.entryIndex),
        entryTime: double(DETAIL.entryTime),
        stopLoss: price(DETAIL.stopLoss),
        takeProfit: price(DETAIL.takeProfit),
        trailingStop: price(DETAIL.trailingStop),
        get profit(): number {
          if (now === null || from >= memory.i) return given;
          const closes: Column = Object(now.close);
          return quantity * (closes[memory.i]! - entryPrice);
        },
        get bestPrice(): number {
          look();
          return best;
        },
        get worstPrice(): number {
          look();
          return worst;
        },
      });
    },
  };
}

/** A text in UTF-8; null: an empty one. */
export function readText({ bytes }: Memory, at: number, length: number): string | null {
  let escaped = "";
  for (let n = 0; n < length; n++) escaped += `%${(256 + bytes[at + n]!).toString(16).slice(1)}`;
  return length === 0 ? null : decodeURIComponent(escaped);
}

/** The listeners of what a script has defined. */
export function readListeners({ onFill = null, onClose = null }: Readonly<Record<string, unknown>>): Listeners {
  if (onFill !== null && !isCallable(onFill)) throw new TypeError("onFill must be a function");
  if (onClose !== null && !isCallable(onClose)) throw new TypeError("onClose must be a function");
  return { onFill, onClose };
}

/** The fills that the host has given and the script has not been told of, and the trades that they closed. */
export function makeFills(layout: Layout, memory: Memory) {
  const { fill: FILL } = layout;
  let markets: readonly string[] | null = null;
  let waiting: { readonly fill: object; readonly closed: object | null }[] = [];
  let closed: object[] = [];
  let shown: readonly object[] | null = Object.freeze([]);
  const marketOf = (n: number) =>
    markets === null ? null : { market: markets[memory.words[(layout.fillMarketsAt >>> 2) + n]!] };
  const read = (n: number) => {
    const at = layout.fillsAt + n * layout.fillBytes;
    const word = (offset: number) => memory.words[(at + offset) >>> 2]!;
    const double = (offset: number) => memory.doubles[(at + offset) >>> 3]!;
    const reason = layout.exitReasons[word(FILL.reason)] ?? null;
    const [trade, side] = [word(FILL.trade), word(FILL.side) > 0 ? "buy" : "sell"];
    const [price, units, time, index] = [
      double(FILL.price),
      double(FILL.quantity),
      double(FILL.time),
      word(FILL.index),
    ];
    const tag = readText(memory, at + FILL.tag, word(FILL.tagBytes));
    const order = word(FILL.order) === 0 ? null : word(FILL.order);
    const fee = double(FILL.fee);
    const market = marketOf(n);
    const rest = { price, fee, index, time, tag, exitReason: reason, ...market };
    const fill = Object.freeze({ order, trade, side, quantity: units, ...rest });
    if (reason === null) return { fill, closed: null };
    return {
      fill,
      closed: Object.freeze({
        ...{ trade, order: word(FILL.entryOrder), tag, quantity: side === "sell" ? units : -units },
        ...{
          entryIndex: word(FILL.entryIndex),
          entryTime: double(FILL.entryTime),
          entryPrice: double(FILL.entryPrice),
        },
        ...{ exitIndex: index, exitTime: time, exitPrice: price, exitReason: reason },
        ...{ profit: double(FILL.profit), fees: double(FILL.fees) },
        ...{ bestPrice: double(FILL.bestPrice), worstPrice: double(FILL.worstPrice) },
        ...market,
      }),
    };
  };
  return {
    /** Names the markets of the fills to come. */
    nameMarkets(names: readonly string[]): void {
      markets = names;
    },
    take(count: number): void {
      for (let n = 0; n < count; n++) {
        const each = read(n);
        waiting.push(each);
        if (each.closed === null) continue;
        closed.push(each.closed);
        shown = null;
      }
      if (closed.length > 2 * layout.closedTradesMax) closed = closed.slice(-layout.closedTradesMax);
    },
    areWaiting: () => waiting.length > 0,
    /** Notes what the script is told of, once its reads are known. */
    expect({ onFill, onClose }: Listeners): void {
      if ((onFill !== null || onClose !== null) && (memory.listBits & 16) === 0) want(layout, memory);
    },
    /** Calls the script's functions for the fills that wait. */
    report(self: object, { onFill, onClose }: Listeners): void {
      const told = waiting;
      waiting = [];
      for (let n = 0; n < told.length; n++) {
        const { fill, closed } = told[n]!;
        const { guard } = memory;
        onFill?.call(self, guard?.show(fill, "fill") ?? fill);
        if (closed !== null) onClose?.call(self, guard?.show(closed, "trade") ?? closed);
      }
    },
    /** The trades that were closed last, the newest first. */
    closedTrades(): readonly object[] {
      if ((memory.listBits & 16) === 0) want(layout, memory);
      return shown ??= Object.freeze(closed.slice(-layout.closedTradesMax).reverse());
    },
  };
}
