import type { Layout } from "../../contracts/layout.ts";
import { makeBook } from "./book.ts";
import type { Memory } from "./memory.ts";
import type { CandlesNow } from "./trades.ts";
import { nameValue } from "./world.ts";

/** The argument `orders` of `decide`, and what the host's call needs around it. */
export interface OrderWriter {
  readonly orders: object;
  /** Begins a decision. */
  begin(): void;
  /** Rows of the order table that this decision has written. */
  rows(): number;
}

type Options = Readonly<Record<string, unknown>>;

/** The rows of the order table that a decision writes. */
export function makeRows({ order: ORDER, ...layout }: Layout, { words }: Memory) {
  let count = 0;
  return {
    begin(): void {
      count = 0;
    },
    count: () => count,
    /** True if there is nothing to cancel. */
    isIdle: () => count === 0 && words[layout.state.workingOrders >>> 2] === 0,
    /** The address of a new row. */
    add(action: number): number {
      if (count === layout.ordersMax) throw new RangeError(`a decision can have at most ${layout.ordersMax} orders`);
      const at = layout.ordersAt + count++ * layout.orderBytes;
      words[(at + ORDER.action) >>> 2] = action;
      return at;
    },
    /** Clears the newest row. A script may catch the error of its order and go on: nothing may be placed then. */
    drop(): void {
      const at = layout.ordersAt + --count * layout.orderBytes;
      for (let n = at >>> 2; n < (at + layout.orderBytes) >>> 2; n++) words[n] = 0;
    },
  };
}

/** The orders as a script sees them. @param now The candles that trades are valued at; null: the host values them at each decision. */
export function makeOrders(layout: Layout, memory: Memory, now: CandlesNow | null): OrderWriter {
  const { order: ORDER, action: ACTION } = layout;
  const book = makeBook(layout, memory, now);
  const write = makeRowWriter(layout, memory);
  const rows = makeRows(layout, memory);
  const enter = (action: number, side: number, options: unknown, target: number): number => {
    // The script's getters run here, before there is a row: they may place orders, too.
    const given = options === undefined ? {} : copyOptions(options);
    const at = rows.add(action);
    memory.words[(at + ORDER.side) >>> 2] = side;
    memory.words[(at + ORDER.target) >>> 2] = target;
    try {
      write.options(at, given);
    } catch (error) {
      rows.drop();
      throw error;
    }
    return book.add();
  };
  const leave = (action: number, target: number, fraction: unknown, tag: unknown): number => {
    const size = readFraction(fraction);
    const encoded = tag === undefined ? null : write.encodeTag(tag);
    const at = rows.add(action);
    memory.words[(at + ORDER.target) >>> 2] = target;
    memory.doubles[(at + ORDER.size) >>> 3] = size;
    if (encoded !== null) write.tag(at, encoded);
    return book.add();
  };
  const orders = {
    buy: (options?: unknown) => enter(ACTION.place, 1, options, 0),
    sell: (options?: unknown) => enter(ACTION.place, -1, options, 0),
    close: (fraction: unknown = 1, tag?: unknown) => leave(ACTION.close, 0, fraction, tag),
    closeTrade: (trade: unknown, fraction: unknown = 1, tag?: unknown) =>
      leave(ACTION.closeTrade, readWhole("trade", trade), fraction, tag),
    cancel(order: unknown): void {
      const target = book.target(order);
      if (!rows.isIdle()) memory.words[(rows.add(ACTION.cancel) + ORDER.target) >>> 2] = target;
    },
    cancelAll(): void {
      if (!rows.isIdle()) rows.add(ACTION.cancelAll);
    },
    replace(order: unknown, side: unknown, options?: unknown): number {
      if (side !== "buy" && side !== "sell") {
        throw new TypeError(`side must be "buy" or "sell", not ${nameValue(side)}`);
      }
      return enter(ACTION.replace, side === "buy" ? 1 : -1, options, book.target(order));
    },
    protect(trade: unknown, guards: unknown): void {
      const [number, { stopLoss, takeProfit, keeps }] = [readWhole("trade", trade), readGuards(layout, guards)];
      const at = rows.add(ACTION.protect);
      memory.words[(at + ORDER.flags) >>> 2] = keeps;
      memory.words[(at + ORDER.target) >>> 2] = number;
      memory.doubles[(at + ORDER.stopLoss) >>> 3] = stopLoss;
      memory.doubles[(at + ORDER.takeProfit) >>> 3] = takeProfit;
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
      rows.begin();
    },
    rows: rows.count,
  };
}

export function readWhole(name: string, value: unknown): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
  const hint = typeof value === "object" && value !== null ? `: give its number, as in ${name}.${name}` : "";
  throw new TypeError(`${name} must be a whole number of at least 0, not ${nameValue(value)}${hint}`);
}

/** Writes an order's options into its row. */
export function makeRowWriter(layout: Layout, memory: Memory) {
  const { order: ORDER } = layout;
  const tags = makeTags(layout, memory);
  /** Offsets of the options that are numbers: one look at them costs less than many comparisons of names. */
  const doubles = new Map<string, number>();
  for (const name of layout.doubleOptions) doubles.set(name, ORDER[name]);
  const option = (at: number, name: string, value: unknown): void => {
    switch (name) {
      case "candlesMax":
      case "timeStopCandles":
        memory.words[(at + ORDER[name]) >>> 2] = readWhole(name, value);
        return;
      case "sizeBy":
        memory.words[(at + ORDER.sizeBy) >>> 2] = readSizeBy(layout, value);
        return;
      case "reduceOnly":
        memory.words[(at + ORDER.flags) >>> 2] = value === true ? layout.reduceOnly : 0;
        return;
      case "tag":
        return tags.write(at, tags.encode(value));
      default:
        throw unknownOption(name);
    }
  };
  return {
    begin: tags.begin,
    tag: tags.write,
    encodeTag: tags.encode,
    options(at: number, given: Options): void {
      let [type, hasSize, hasSizeBy] = [0, false, false];
      for (const name in given) {
        const value = given[name];
        if (value === undefined || value === null) continue;
        const offset = doubles.get(name);
        if (offset === undefined) option(at, name, value);
        else memory.doubles[(at + offset) >>> 3] = name === "size" ? readSize(value) : readDouble(name, value);
        if (offset === ORDER.limitPrice) type += 1;
        else if (offset === ORDER.stopPrice) type += 2;
        else if (offset === ORDER.size) hasSize = true;
        else if (name === "sizeBy") hasSizeBy = true;
      }
      memory.words[(at + ORDER.type) >>> 2] = type;
      if (hasSize && !hasSizeBy) memory.words[(at + ORDER.sizeBy) >>> 2] = 1;
      if (!hasSize && hasSizeBy) throw new TypeError("sizeBy needs a size");
    },
  };
}

export function copyOptions(options: unknown): Options {
  if (typeof options !== "object" || options === null) throw new TypeError("the options of an order are an object");
  return { ...options };
}

/** The prices of `protect`, 0 for none, and the flags of the guards that stay. */
export function readGuards({ keepStopLoss, keepTakeProfit }: Layout, guards: unknown) {
  const given: Options = { ...Object(guards) };
  for (const name in given) {
    if (name === "stopLoss" || name === "takeProfit") continue;
    throw new TypeError(`${name} is not known: protect takes stopLoss and takeProfit`);
  }
  return {
    stopLoss: readDouble("stopLoss", given.stopLoss ?? 0),
    takeProfit: readDouble("takeProfit", given.takeProfit ?? 0),
    keeps: (given.stopLoss === undefined ? keepStopLoss : 0) | (given.takeProfit === undefined ? keepTakeProfit : 0),
  };
}

export function readDouble(name: string, value: unknown): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new RangeError(`${name} must be a number, not ${value}`);
}

export function readSize(value: unknown): number {
  if (typeof value === "number" && value > 0 && value < Infinity) return value;
  throw new RangeError(`size must be a number above 0, not ${value}: orders.sell sells`);
}

export function unknownOption(name: string): TypeError {
  return new TypeError(
    `${name} is no option of an order: there are limitPrice, stopPrice, stopLoss, takeProfit, stopLossFraction, ` +
      "takeProfitFraction, trailDistance, trailFraction, candlesMax, timeStopCandles, size, sizeBy, reduceOnly, tag",
  );
}

export function readFraction(value: unknown): number {
  if (typeof value === "number" && value > 0 && value <= 1) return value;
  throw new RangeError(`the fraction to close must be above 0 and at most 1, not ${nameValue(value)}`);
}

export function readSizeBy({ sizesBy }: Layout, value: unknown): number {
  const index = sizesBy.findIndex((name) => name === value);
  if (index > 0) return index;
  throw new TypeError(`sizeBy must be one of ${sizesBy.slice(1).join(", ")}, not ${nameValue(value)}`);
}

/** Writes tags behind the tables, those of one decision at a time. */
export function makeTags({ order: ORDER, ...layout }: Layout, memory: Memory) {
  const known = new Map<string, Uint8Array>();
  let used = 0;
  return {
    begin(): void {
      used = 0;
    },
    encode(tag: unknown): Uint8Array {
      if (typeof tag !== "string") throw new TypeError(`tag must be a text, not ${typeof tag}`);
      let encoded = known.get(tag);
      if (encoded === undefined) {
        encoded = encodeTag(tag, layout.tagBytesMax);
        if (known.size < 1000) known.set(tag, encoded);
      }
      return encoded;
    },
    write(at: number, encoded: Uint8Array): void {
      const pointer = layout.tagsAt + used;
      for (let n = 0; n < encoded.length; n++) memory.bytes[pointer + n] = encoded[n]!;
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
