import type { Layout } from "../../contracts/layout.ts";
import { type Memory, want } from "./memory.ts";
import { type CandlesNow, makeTradeList } from "./trades.ts";
import { nameValue } from "./world.ts";

/** The orders by their names, which are 1, 2, ... */
export function makeBook(layout: Layout, memory: Memory, now: CandlesNow | null) {
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
    throw new TypeError(`an order is what buy, sell, close and replace return, not ${nameValue(order)}`);
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
    trades: makeTradeList(layout, memory, now),
  };
}
