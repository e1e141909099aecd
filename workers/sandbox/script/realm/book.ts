import type { Layout } from "../../contracts/layout.ts";
import { type Memory, want } from "./memory.ts";

interface Trade {
  readonly trade: number;
  readonly quantity: number;
  readonly entryPrice: number;
}

/** The orders by their names, which are 1, 2, ... */
export function makeBook(layout: Layout, memory: Memory) {
  const { state: STATE } = layout;
  let newest = 0;
  /** The newest one before this decision. */
  let known = 0;
  const word = (at: number) => memory.words[at >>> 2]!;
  const workingAt = (n: number) => word(layout.workingAt + 4 * n);
  let listed: readonly number[] = Object.freeze([]);
  let revision = 0;
  const working = (): readonly number[] => {
    if ((memory.listBits & 1) === 0) want(layout, memory);
    if (revision === word(STATE.workingRevision)) return listed;
    revision = word(STATE.workingRevision);
    const list: number[] = [];
    for (let n = 0; n < word(STATE.workingCount); n++) list.push(workingAt(n));
    return listed = Object.freeze(list);
  };
  const isListed = (name: number): boolean => {
    if ((memory.listBits & 1) === 0) want(layout, memory);
    for (let n = word(STATE.workingCount) - 1; n >= 0; n--) if (workingAt(n) === name) return true;
    return false;
  };
  const check = (order: unknown): number => {
    if (typeof order === "number" && Number.isInteger(order) && order >= 1 && order <= newest) return order;
    throw new TypeError(`an order is what buy, sell, close and replace return, not ${String(order)}`);
  };
  return {
    begin(): void {
      known = newest;
    },
    /** The name of the newest row, which is an order. */
    add: (): number => ++newest,
    target(order: unknown): number {
      const name = check(order);
      if (name > known) throw new Error("an order cannot be cancelled or replaced in the decision that places it");
      return name;
    },
    isWorking: (order: unknown): boolean => {
      // A counter that no order has been kept in yet.
      if (order === 0) return false;
      const name = check(order);
      return name > known || isListed(name);
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
