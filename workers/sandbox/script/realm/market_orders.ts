/** The orders of a strategy that decides on many markets: targets, and the orders of each market. */
import type { Layout } from "../../contracts/layout.ts";
import { type Memory, want } from "./memory.ts";
import { makeOrders, type OrderWriter, readDouble } from "./orders.ts";
import { nameValue } from "./world.ts";

/** Finds a market by its id, or by a symbol that only one has. In a trial, a name that is not there finds one of those that are. */
export function makeFinder(
  names: readonly (readonly [id: string, symbol: string, exchange: string])[],
  isTrial: boolean,
): (name: unknown) => number {
  const places = new Map<string, number>();
  for (let n = 0; n < names.length; n++) places.set(names[n]![1], places.has(names[n]![1]) ? -1 : n);
  for (let n = 0; n < names.length; n++) places.set(names[n]![0], n);
  let tried = 0;
  return (name) => {
    if (typeof name !== "string") throw new TypeError("a market is named by a text, such as SPY or SPY@ARCA");
    const place = places.get(name);
    if (place !== undefined && place >= 0) return place;
    const shown = nameValue(name);
    if (place !== undefined) throw new Error(`${shown} is the symbol of several markets: name its exchange, too`);
    if (!isTrial) throw new Error(`there is no market ${shown}`);
    places.set(name, tried % names.length);
    return tried++ % names.length;
  };
}

/** The targets of a decision. */
export function makeTargets(
  { portfolio: at, tagBytesMax }: Layout,
  state: Float64Array,
  names: readonly unknown[],
  find: (name: unknown) => number,
) {
  const count = names.length;
  const first = at.head + count * at.market;
  let tag = "";
  const readOptions = (options: unknown) => {
    if (options !== undefined && (typeof options !== "object" || options === null)) {
      throw new TypeError("the options of target are an object");
    }
    const { partial = false, minTrade = 0, tag: given = "", ...rest }: Record<string, unknown> = { ...Object(options) };
    for (const name in rest) {
      throw new TypeError(`${nameValue(name)} is no option of target: there are partial, minTrade, tag`);
    }
    if (typeof given !== "string" || given.length > tagBytesMax) {
      throw new TypeError(`tag must be a text of at most ${tagBytesMax} bytes`);
    }
    return { isPartial: partial === true, minTrade: readDouble("minTrade", minTrade), tag: given };
  };
  return {
    tag: () => tag,
    begin(): void {
      state[at.hasTarget] = 0;
    },
    target(weights: unknown, options?: unknown): void {
      if (typeof weights !== "object" || weights === null) {
        throw new TypeError("target takes weights by the names of markets, such as {SPY: 0.6, TLT: 0.4}");
      }
      const given = readOptions(options);
      const wanted = new Float64Array(count).fill(NaN);
      for (const name of Object.keys(weights)) {
        const place = find(name);
        const weight: unknown = Reflect.get(weights, name);
        if (typeof weight !== "number" || !(Math.abs(weight) <= at.weightMax)) {
          const value = typeof weight === "number" ? weight : typeof weight;
          const range = `from -${at.weightMax} to ${at.weightMax}`;
          throw new RangeError(`the weight of ${nameValue(name)} must be a number ${range}, not ${value}`);
        }
        if (!Number.isNaN(wanted[place])) throw new Error(`target names ${nameValue(name)} twice`);
        wanted[place] = weight;
      }
      const isFirst = state[at.hasTarget] === 0;
      for (let n = 0; n < count; n++) {
        const isNamed = !Number.isNaN(wanted[n]);
        if (isNamed || isFirst || !given.isPartial) state[first + n] = isNamed || given.isPartial ? wanted[n]! : 0;
      }
      state[at.hasTarget] = 1;
      state[at.minTrade] = given.minTrade;
      tag = given.tag;
    },
  };
}

/** The orders of single markets: each has a table of its own, once the script asks for it. */
export function makeBooks(layout: Layout, memory: Memory, state: Float64Array, count: number) {
  const { portfolio: at, state: STATE } = layout;
  const first = at.head + count * (at.market + 1);
  const none = new ArrayBuffer(0);
  const memories: (Memory | null)[] = new Array(count).fill(null);
  const writers: (OrderWriter | null)[] = new Array(count).fill(null);
  let touched: number[] = [];
  const open = (market: number): OrderWriter => {
    const buffer = new ArrayBuffer(layout.memoryBytes);
    const own = {
      ...memory,
      ...{ buffer, words: new Int32Array(buffer), doubles: new Float64Array(buffer), bytes: new Uint8Array(buffer) },
    };
    const writer = makeOrders(layout, own, null);
    memories[market] = own;
    return writers[market] = writer;
  };
  return {
    memory: (market: number) => memories[market]?.buffer ?? none,
    begin(): void {
      touched = [];
      state[at.touched] = 0;
    },
    end(): void {
      for (let n = 0; n < touched.length; n++) {
        const market = touched[n]!;
        const { words } = memories[market]!;
        words[STATE.rows >>> 2] = writers[market]!.rows();
        if (words[STATE.wanted >>> 2] !== 0) want(layout, memory);
        state[first + n] = market;
      }
      state[at.touched] = touched.length;
    },
    of(market: number, names: readonly (readonly [id: string, symbol: string, exchange: string])[]): object {
      if (!(state[at.head + market * at.market + at.i]! >= 0)) {
        throw new Error(`${names[market]![0]} has no candle yet: it cannot have orders`);
      }
      const writer = writers[market] ?? open(market);
      if (!touched.includes(market)) {
        touched.push(market);
        writer.begin();
      }
      return writer.orders;
    },
  };
}
