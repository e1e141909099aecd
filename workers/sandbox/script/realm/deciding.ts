/** A strategy's decisions and scores, candle by candle: part of the inside of a script's realm (realm.ts). */
import type { Layout } from "../../contracts/layout.ts";
import type { Columns } from "./columns.ts";
import type { Memory } from "./memory.ts";
import type { OrderWriter } from "./orders.ts";
import type { Listeners, makeFills } from "./trades.ts";
import { refusePromise } from "./world.ts";

/** The strategy that a script's function of the parameters made. */
export interface Definition extends Listeners {
  readonly warmup: number;
  readonly self: object;
  readonly prepare: ((candles: object) => unknown) | null;
  readonly decide: (i: number, candles: object, account: object, orders: object) => unknown;
  readonly score: ((i: number, candles: object) => unknown) | null;
}

/** The call of decisions: shows a candle and the account, calls `decide`, and stops at orders. */
export function makeDecide(
  { state: at, windowRows }: Layout,
  memory: Memory,
  parts: {
    readonly columns: Columns;
    readonly writer: OrderWriter;
    readonly fills: ReturnType<typeof makeFills>;
    readonly definition: () => Definition;
  },
  fail: (error: unknown) => void,
): (i: number, until: number) => number {
  const { fills } = parts;
  const account = { cash: 0, equity: 0, quantity: 0, entryPrice: NaN, initialBalance: 0 };
  Object.defineProperty(account, "closedTrades", { get: fills.closedTrades });
  const { words, doubles, windows, decided } = memory;
  const { columns: { show }, writer } = parts;
  let definition: Definition | null = null;
  let candles: object = parts.columns.candles;
  let [shown, orders]: readonly [object, object] = [account, writer.orders];
  const begin = (): Definition => {
    const { guard } = memory;
    if (guard !== null) {
      candles = guard.show(candles, "candles");
      shown = guard.show(account, "account");
      orders = guard.show(orders, "orders");
    }
    return parts.definition();
  };
  const decideUntil = (strategy: Definition, i: number, until: number): number => {
    const { decide, self } = strategy;
    const cash = doubles[at.cash >>> 3]!;
    const quantity = doubles[at.quantity >>> 3]!;
    const entryPrice = quantity === 0 ? NaN : doubles[at.entryPrice >>> 3]!;
    const { firstIndex } = memory;
    const initialBalance = doubles[at.initialBalance >>> 3]!;
    const logged = words[at.logged >>> 2]!;
    for (;;) {
      memory.i = i;
      show(i);
      account.cash = cash;
      account.equity = cash + quantity * windows[i & (windowRows - 1)]!;
      account.quantity = quantity;
      account.entryPrice = entryPrice;
      account.initialBalance = initialBalance;
      if (fills.areWaiting()) fills.report(self, strategy);
      const answer = decide.call(self, i, candles, shown, orders);
      if (typeof answer === "object") refusePromise("decide", answer);
      decided[0] = i + 1 - firstIndex;
      if (writer.rows() !== 0) break;
      i++;
      if (i === until || words[at.wanted >>> 2] !== 0 || words[at.logged >>> 2] !== logged) break;
    }
    return i;
  };
  return (i, until) => {
    try {
      definition ??= begin();
      writer.begin();
      const reached = decideUntil(definition, i, until);
      words[at.rows >>> 2] = writer.rows();
      return reached;
    } catch (error) {
      words[at.rows >>> 2] = -1;
      fail(error);
      return memory.i;
    }
  };
}

/** The call of scores, which are asked for before any market decides. */
export function makeScore(
  { state: at }: Layout,
  memory: Memory,
  { columns, definition }: { readonly columns: Columns; readonly definition: () => Definition },
  fail: (error: unknown) => void,
): (i: number) => number {
  const { words } = memory;
  return (i) => {
    words[at.rows >>> 2] = 0;
    try {
      const { score, self } = definition();
      memory.i = i;
      columns.show(i);
      const value = score === null
        ? NaN
        : score.call(self, i, memory.guard?.show(columns.candles, "candles") ?? columns.candles);
      if (typeof value !== "number") throw new TypeError(`score must return a number, not ${typeof value}`);
      return value;
    } catch (error) {
      words[at.rows >>> 2] = -1;
      fail(error);
      return NaN;
    }
  };
}
