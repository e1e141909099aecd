import type { Layout } from "../layout.ts";
import type { Memory } from "./memory.ts";

/** The argument `orders` of `decide`, and what the host's call needs around it. */
export interface OrderWriter {
  readonly orders: object;
  /** Takes in the results of the last decision. */
  begin(): void;
  /** Rows of the order table that this decision has written. */
  rows(): number;
}

type Options = Readonly<Record<string, unknown>>;

/** A row of the order table: its number in the decision, and its address. */
export function makeOrders(layout: Layout, memory: Memory): OrderWriter {
  const { order: ORDER, action: ACTION } = layout;
  const book = makeBook(layout, memory);
  const write = makeRowWriter(layout, memory);
  let rows = 0;
  const row = (action: number): number => {
    if (rows === layout.ordersMax) throw new RangeError(`a decision can have at most ${layout.ordersMax} orders`);
    const at = memory.words[layout.frame.ordersPointer >>> 2]! + rows * layout.orderBytes;
    memory.words[(at + ORDER.action) >>> 2] = action;
    rows++;
    return at;
  };
  const enter = (action: number, side: number, options: unknown, target: number): number => {
    const at = row(action);
    memory.words[(at + ORDER.side) >>> 2] = side;
    memory.words[(at + ORDER.target) >>> 2] = target;
    if (options !== undefined) write.options(at, options);
    return book.add(rows);
  };
  const leave = (action: number, target: number, fraction: unknown, tag: unknown): number => {
    if (typeof fraction !== "number" || !(fraction > 0 && fraction <= 1)) {
      throw new RangeError(`the fraction to close must be above 0 and at most 1, not ${String(fraction)}`);
    }
    const at = row(action);
    memory.words[(at + ORDER.target) >>> 2] = target;
    memory.doubles[(at + ORDER.size) >>> 3] = fraction;
    if (tag !== undefined) write.tag(at, tag);
    return book.add(rows);
  };
  const orders = {
    buy: (options?: unknown) => enter(ACTION.place, 1, options, 0),
    sell: (options?: unknown) => enter(ACTION.place, -1, options, 0),
    close: (fraction: unknown = 1, tag?: unknown) => leave(ACTION.close, 0, fraction, tag),
    closeTrade: (trade: unknown, fraction: unknown = 1, tag?: unknown) =>
      leave(ACTION.closeTrade, readWhole("trade", trade), fraction, tag),
    cancel(order: unknown): void {
      const at = row(ACTION.cancel);
      memory.words[(at + ORDER.target) >>> 2] = book.numberOf(order);
    },
    cancelAll(): void {
      row(ACTION.cancelAll);
    },
    replace(order: unknown, side: unknown, options?: unknown): number {
      if (side !== "buy" && side !== "sell") throw new TypeError(`side must be "buy" or "sell", not ${String(side)}`);
      return enter(ACTION.replace, side === "buy" ? 1 : -1, options, book.numberOf(order));
    },
    protect(trade: unknown, guards: unknown): void {
      const at = row(ACTION.protect);
      memory.words[(at + ORDER.target) >>> 2] = readWhole("trade", trade);
      write.guards(at, guards);
    },
    isWorking: (order: unknown): boolean => book.isWorking(order),
    get working(): readonly number[] {
      return book.working();
    },
    get trades(): readonly object[] {
      return book.trades();
    },
  };
  return {
    orders: Object.freeze(orders),
    begin() {
      book.begin();
      write.begin();
      rows = 0;
    },
    rows: () => rows,
  };
}

export function readWhole(name: string, value: unknown): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
  throw new TypeError(`${name} must be a whole number of at least 0, not ${String(value)}`);
}

/** The orders' names for the script, from 1, and the engine's, which the host writes after a decision. */
export function makeBook(layout: Layout, memory: Memory) {
  const { frame: FRAME } = layout;
  /** The engine's number of each order, from 1; -1: refused. Those of this decision have none yet. */
  const numbers: number[] = [0];
  const names: number[] = [];
  /** The name of each row of the last decision; 0: it was no order. */
  const last: number[] = [];
  const word = (at: number) => memory.words[at >>> 2]!;
  const nameOf = (number: number) => names[number] ?? 0;
  const workingAt = (n: number) => word(word(FRAME.workingPointer) + 4 * n);
  // A list that has not changed is not made again.
  let listed: readonly number[] = Object.freeze([]);
  const readsLists = () => void (memory.words[layout.listsFlag >>> 2] = 1);
  const working = (): readonly number[] => {
    readsLists();
    const count = word(FRAME.workingCount);
    let same = 0;
    while (same < count && listed[same] === nameOf(workingAt(same))) same++;
    if (same < count || listed.length !== count) {
      listed = Object.freeze(Array.from({ length: count }, (_, n) => nameOf(workingAt(n))));
    }
    return listed;
  };
  const isListed = (number: number): boolean => {
    readsLists();
    for (let n = word(FRAME.workingCount) - 1; n >= 0; n--) if (workingAt(n) === number) return true;
    return false;
  };
  const check = (order: unknown): number => {
    if (typeof order === "number" && Number.isInteger(order) && order >= 1 && order < numbers.length + last.length) {
      return order;
    }
    throw new TypeError(`an order is what buy, sell, close and replace return, not ${String(order)}`);
  };
  return {
    begin(): void {
      for (let n = 0; n < last.length; n++) {
        const name = last[n];
        if (name === undefined || name === 0) continue;
        const number = word(word(FRAME.resultsPointer) + 4 * n);
        numbers[name] = number;
        if (number >= 0) names[number] = name;
      }
      if (last.length > 0) last.length = 0;
    },
    /** A new name for the order in this row, counted from 1. */
    add(rows: number): number {
      last[rows - 1] = numbers.length;
      numbers.push(-1);
      return numbers.length - 1;
    },
    numberOf(order: unknown): number {
      const name = check(order);
      if (last.includes(name)) {
        throw new Error("an order cannot be cancelled or replaced in the decision that places it");
      }
      return numbers[name]!;
    },
    isWorking: (order: unknown): boolean => {
      const name = check(order);
      return last.includes(name) || (numbers[name]! >= 0 && isListed(numbers[name]!));
    },
    working,
    trades: makeTradeList(layout, memory),
  };
}

/** The list of open trades. One that has not changed is not made again. */
export function makeTradeList(layout: Layout, memory: Memory): () => readonly object[] {
  const { frame: FRAME, trade: TRADE } = layout;
  const word = (at: number) => memory.words[at >>> 2]!;
  const tradeAt = (n: number) => word(FRAME.tradesPointer) + n * layout.tradeBytes;
  const readTrade = (n: number) => {
    const at = tradeAt(n);
    const quantity = memory.doubles[(at + TRADE.quantity) >>> 3]!;
    const entryPrice = memory.doubles[(at + TRADE.entryPrice) >>> 3]!;
    return Object.freeze({ trade: word(at + TRADE.number), quantity, entryPrice });
  };
  let open: readonly ReturnType<typeof readTrade>[] = Object.freeze([]);
  const isOpenTrade = (n: number): boolean => {
    const [at, listed] = [tradeAt(n), open[n]];
    return listed !== undefined && listed.trade === word(at + TRADE.number) &&
      listed.quantity === memory.doubles[(at + TRADE.quantity) >>> 3] &&
      listed.entryPrice === memory.doubles[(at + TRADE.entryPrice) >>> 3];
  };
  return () => {
    memory.words[layout.listsFlag >>> 2] = 1;
    const count = word(FRAME.tradesCount);
    let same = 0;
    while (same < count && isOpenTrade(same)) same++;
    if (same < count || open.length !== count) {
      open = Object.freeze(Array.from({ length: count }, (_, n) => readTrade(n)));
    }
    return open;
  };
}

/** Writes an order's options into its row. */
export function makeRowWriter(layout: Layout, memory: Memory) {
  const { order: ORDER } = layout;
  const prices: Readonly<Record<string, number>> = {
    limitPrice: ORDER.limitPrice,
    stopPrice: ORDER.stopPrice,
    stopLoss: ORDER.stopLoss,
    takeProfit: ORDER.takeProfit,
    stopLossFraction: ORDER.stopLossFraction,
    takeProfitFraction: ORDER.takeProfitFraction,
    trailDistance: ORDER.trailDistance,
    trailFraction: ORDER.trailFraction,
  };
  const counts: Readonly<Record<string, number>> = {
    candlesMax: ORDER.candlesMax,
    timeStopCandles: ORDER.timeStopCandles,
  };
  const others = ["size", "sizeBy", "reduceOnly", "tag"];
  const tags = makeTags(layout, memory);
  const price = (at: number, name: string, value: unknown, offset: number): void => {
    if (typeof value !== "number" || !Number.isFinite(value)) {
      throw new RangeError(`${name} must be a number, not ${value}`);
    }
    memory.doubles[(at + offset) >>> 3] = value;
  };
  const option = (at: number, name: string, value: unknown): void => {
    const offset = prices[name];
    if (offset !== undefined) return price(at, name, value, offset);
    const count = counts[name];
    if (count !== undefined) memory.words[(at + count) >>> 2] = readWhole(name, value);
    else if (name === "size") price(at, name, value, ORDER.size);
    else if (name === "tag") tags.write(at, value);
    else if (name === "reduceOnly") memory.words[(at + ORDER.flags) >>> 2] = value === true ? layout.reduceOnly : 0;
    else if (name === "sizeBy") memory.words[(at + ORDER.sizeBy) >>> 2] = readSizeBy(layout, value);
    else {
      const known = [...Object.keys(prices), ...Object.keys(counts), ...others].join(", ");
      throw new TypeError(`${name} is no option of an order: there are ${known}`);
    }
  };
  return {
    begin: tags.begin,
    tag: tags.write,
    options(at: number, options: unknown): void {
      if (typeof options !== "object" || options === null) throw new TypeError("the options of an order are an object");
      const given: Options = { ...options };
      for (const name in given) if (given[name] !== undefined && given[name] !== null) option(at, name, given[name]);
      memory.words[(at + ORDER.type) >>> 2] = (given.limitPrice == null ? 0 : 1) + (given.stopPrice == null ? 0 : 2);
      if (given.size != null && given.sizeBy == null) memory.words[(at + ORDER.sizeBy) >>> 2] = 1;
      if (given.size == null && given.sizeBy != null) throw new TypeError("sizeBy needs a size");
    },
    guards(at: number, guards: unknown): void {
      const { stopLoss, takeProfit, ...rest }: Options = { ...Object(guards) };
      const [unknown] = Object.keys(rest);
      if (unknown !== undefined) throw new TypeError(`${unknown} is not known: protect takes stopLoss and takeProfit`);
      if (stopLoss != null) price(at, "stopLoss", stopLoss, ORDER.stopLoss);
      if (takeProfit != null) price(at, "takeProfit", takeProfit, ORDER.takeProfit);
    },
  };
}

export function readSizeBy({ sizesBy }: Layout, value: unknown): number {
  const index = sizesBy.findIndex((name) => name === value);
  if (index > 0) return index;
  throw new TypeError(`sizeBy must be one of ${sizesBy.slice(1).join(", ")}, not ${String(value)}`);
}

/** Writes tags behind the tables, those of one decision at a time. */
export function makeTags({ order: ORDER, ...layout }: Layout, memory: Memory) {
  const known = new Map<string, Uint8Array>();
  let bytes: Uint8Array = new Uint8Array(0);
  let used = 0;
  return {
    begin(): void {
      used = 0;
    },
    write(at: number, tag: unknown): void {
      if (typeof tag !== "string") throw new TypeError(`tag must be a text, not ${typeof tag}`);
      let encoded = known.get(tag);
      if (encoded === undefined) {
        encoded = encodeTag(tag, layout.tagBytesMax);
        if (known.size < 1000) known.set(tag, encoded);
      }
      if (bytes.buffer !== memory.words.buffer) bytes = new Uint8Array(memory.words.buffer);
      const pointer = bytes.length - layout.ordersMax * layout.tagBytesMax + used;
      bytes.set(encoded, pointer);
      used += encoded.length;
      memory.words[(at + ORDER.tagPointer) >>> 2] = pointer;
      memory.words[(at + ORDER.tagBytes) >>> 2] = encoded.length;
    },
  };
}

/** A text in UTF-8. @throws {URIError} When it has half of a surrogate pair. */
export function encodeTag(tag: string, bytesMax: number): Uint8Array {
  const encoded: number[] = [];
  const escaped = encodeURIComponent(tag);
  for (let n = 0; n < escaped.length; n++) {
    const isEscape = escaped[n] === "%";
    encoded.push(isEscape ? Number.parseInt(escaped.slice(n + 1, n + 3), 16) : escaped.charCodeAt(n));
    if (isEscape) n += 2;
  }
  if (encoded.length <= bytesMax) return Uint8Array.from(encoded);
  throw new RangeError(`a tag can have at most ${bytesMax} bytes, not ${encoded.length}`);
}
