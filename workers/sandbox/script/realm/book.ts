import type { Layout } from "../layout.ts";
import { type Memory, want } from "./memory.ts";

interface Trade {
  readonly trade: number;
  readonly quantity: number;
  readonly entryPrice: number;
}

/** The orders' names for the script, from 1, and the engine's, which the host writes after a decision. */
export function makeBook(layout: Layout, memory: Memory) {
  const { state: STATE } = layout;
  /** The engine's number of each order, from 1; -1: refused. Those of this decision have none yet. */
  const numbers: number[] = [0];
  const names: number[] = [];
  /** The name of each row of the last decision; 0: it was no order. */
  const last = new Int32Array(layout.ordersMax);
  let lastRows = 0;
  /** The name of the first order of this decision. */
  let firstNew = 1;
  const word = (at: number) => memory.words[at >>> 2]!;
  const nameOf = (number: number) => names[number] ?? 0;
  const workingAt = (n: number) => word(layout.workingAt + 4 * n);
  let listed: readonly number[] = Object.freeze([]);
  let revision = 0;
  const working = (): readonly number[] => {
    if ((memory.listBits & 1) === 0) want(layout, memory);
    if (revision === word(STATE.workingRevision)) return listed;
    revision = word(STATE.workingRevision);
    const list: number[] = [];
    for (let n = 0; n < word(STATE.workingCount); n++) list.push(nameOf(workingAt(n)));
    return listed = Object.freeze(list);
  };
  const isListed = (number: number): boolean => {
    if ((memory.listBits & 1) === 0) want(layout, memory);
    for (let n = word(STATE.workingCount) - 1; n >= 0; n--) if (workingAt(n) === number) return true;
    return false;
  };
  const check = (order: unknown): number => {
    if (typeof order === "number" && Number.isInteger(order) && order >= 1 && order < numbers.length) {
      return order;
    }
    throw new TypeError(`an order is what buy, sell, close and replace return, not ${String(order)}`);
  };
  return {
    begin(): void {
      for (let n = 0; n < lastRows; n++) {
        const name = last[n]!;
        if (name === 0) continue;
        last[n] = 0;
        const number = word(layout.resultsAt + 4 * n);
        numbers[name] = number;
        if (number >= 0) names[number] = name;
      }
      lastRows = 0;
      firstNew = numbers.length;
    },
    /** A new name for the order in this row, counted from 1. */
    add(rows: number): number {
      last[rows - 1] = numbers.length;
      lastRows = rows;
      return numbers.push(-1) - 1;
    },
    numberOf(order: unknown): number {
      const name = check(order);
      if (name >= firstNew) {
        throw new Error("an order cannot be cancelled or replaced in the decision that places it");
      }
      return numbers[name]!;
    },
    isWorking: (order: unknown): boolean => {
      const name = check(order);
      return name >= firstNew || (numbers[name]! >= 0 && isListed(numbers[name]!));
    },
    working,
    trades: makeTradeList(layout, memory),
  };
}

/** The list of open trades. One that has not changed is not made again, nor is a trade. */
export function makeTradeList(layout: Layout, memory: Memory): () => readonly object[] {
  const { state: STATE, trade: TRADE } = layout;
  const word = (at: number) => memory.words[at >>> 2]!;
  const readTrade = (n: number, last: Trade | undefined): Trade => {
    const at = layout.tradesAt + n * layout.tradeBytes;
    const trade = word(at + TRADE.number);
    const quantity = memory.doubles[(at + TRADE.quantity) >>> 3]!;
    const entryPrice = memory.doubles[(at + TRADE.entryPrice) >>> 3]!;
    const isSame = last !== undefined && last.trade === trade && last.quantity === quantity &&
      last.entryPrice === entryPrice;
    return isSame ? last : Object.freeze({ trade, quantity, entryPrice });
  };
  let open: readonly Trade[] = Object.freeze([]);
  let revision = 0;
  return () => {
    if ((memory.listBits & 2) === 0) want(layout, memory);
    if (revision === word(STATE.tradesRevision)) return open;
    revision = word(STATE.tradesRevision);
    const list: Trade[] = [];
    for (let n = 0; n < word(STATE.tradesCount); n++) list.push(readTrade(n, open[n]));
    return open = Object.freeze(list);
  };
}
