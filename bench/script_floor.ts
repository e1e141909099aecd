import { stripTypeScriptTypes } from "node:module";
import vm from "node:vm";
import type { Candles } from "../engine/candles.ts";
import { crossesAbove } from "../engine/indicators/cross.ts";
import { newDraft, type OrderBook, type OrderDraft, SIZES_BY, type Strategy } from "../engine/strategy.ts";
import type { Series } from "../workers/sandbox/candle_series.ts";
import { computeIndicator, describeIndicators } from "../workers/sandbox/script/indicators.ts";

/** The options of a script's order. */
interface Options extends Partial<Omit<OrderDraft, "sizeBy">> {
  readonly sizeBy?: string;
}

interface Definition {
  readonly warmup?: number;
  prepare?(candles: Candles): void;
  decide(i: number, candles: Candles, account: unknown, orders: unknown): void;
}

type Factory = (parameters: object, series: Series) => Definition;

/**
 * A script as a plain function beside the engine, asked at each candle: no realm, no checks, all of its columns in sight, and its
 * orders go straight to the book. It is the least that any way of running the script in V8 takes.
 */
export function bareScript(source: string, parameters: object, series: Series): Strategy {
  const code = stripTypeScriptTypes(source);
  const globals = globalsOf();
  // New code each time, which V8 has not optimised yet, as a realm's.
  const program: (...globals: readonly unknown[]) => Factory = vm.runInThisContext(
    `(${
      Object.keys(globals).join()
    }) => { "use strict"; let made; const strategy = (make) => made = make;\n${code}\nreturn made; }`,
  );
  const definition = program(...Object.values(globals))(parameters, series);
  const orders = new BareOrders();
  let candles: Candles;
  return {
    warmup: definition.warmup ?? 1,
    prepare(given) {
      candles = given;
      definition.prepare?.(given);
    },
    decide(i, account, book) {
      orders.book = book;
      definition.decide(i, candles, account, orders);
    },
  };
}

function globalsOf(): Readonly<Record<string, unknown>> {
  const globals: Record<string, unknown> = {
    crossesAbove: (a: Float64Array, b: Float64Array, i: number) => crossesAbove(a, b, i, true),
    crossesBelow: (a: Float64Array, b: Float64Array, i: number) => crossesAbove(b, a, i, true),
  };
  for (const { name, inputs, outputs } of describeIndicators()) {
    globals[name] = (...args: (Float64Array & number)[]) => {
      const columns = computeIndicator(name, args.slice(0, inputs.length), args.slice(inputs.length), null);
      return outputs.length === 0 ? columns[0] : Object.fromEntries(outputs.map((output, n) => [output, columns[n]]));
    };
  }
  return globals;
}

/** A script's `orders`: calls of the book. */
class BareOrders {
  book: OrderBook | null = null;
  readonly #draft = newDraft();
  #working: number[] = [];
  #trades: object[] = [];
  #workingRevision = -1;
  #tradesRevision = -1;

  buy(options?: Options): number {
    return this.#keep(this.#book.place(this.#fill(1, options)));
  }

  sell(options?: Options): number {
    return this.#keep(this.#book.place(this.#fill(-1, options)));
  }

  close(fraction = 1, tag: string | null = null): number {
    return this.#book.close(fraction, tag);
  }

  cancel(order: number): void {
    this.#book.cancel(order);
  }

  cancelAll(): void {
    this.#book.cancelAll();
  }

  replace(order: number, side: "buy" | "sell", options?: Options): number {
    return this.#keep(this.#book.replace(order, this.#fill(side === "buy" ? 1 : -1, options)));
  }

  protect(trade: number, { stopLoss = NaN, takeProfit = NaN }: Options): void {
    this.#book.protect(trade, stopLoss, takeProfit);
  }

  isWorking(order: number): boolean {
    return this.#book.isWorking(order);
  }

  get working(): readonly number[] {
    const book = this.#book;
    if (this.#workingRevision !== book.revision) this.#working = this.#working.filter((order) => book.isWorking(order));
    this.#workingRevision = book.revision;
    return this.#working;
  }

  get trades(): readonly object[] {
    const book = this.#book;
    if (this.#tradesRevision === book.revision) return this.#trades;
    this.#tradesRevision = book.revision;
    this.#trades = [];
    for (let n = 0; n < book.openTrades; n++) {
      const trade = book.tradeAt(n);
      this.#trades.push({ trade, quantity: book.tradeQuantity(trade), entryPrice: book.tradeEntryPrice(trade) });
    }
    return this.#trades;
  }

  get #book(): OrderBook {
    if (this.book === null) throw new Error("Cannot place orders outside of decide");
    return this.book;
  }

  #keep(order: number): number {
    this.#working.push(order);
    return order;
  }

  #fill(side: number, options: Options = {}): OrderDraft {
    const draft = this.#draft;
    const { limitPrice = NaN, stopPrice = NaN, size = NaN, sizeBy } = options;
    draft.side = side;
    draft.limitPrice = limitPrice;
    draft.stopPrice = stopPrice;
    draft.type = (limitPrice > 0 ? 1 : 0) + (stopPrice > 0 ? 2 : 0);
    draft.size = size;
    draft.sizeBy = Number.isNaN(size) ? 0 : sizeBy === undefined ? 1 : SIZES_BY.findIndex((name) => name === sizeBy);
    draft.stopLoss = options.stopLoss ?? NaN;
    draft.takeProfit = options.takeProfit ?? NaN;
    draft.stopLossFraction = options.stopLossFraction ?? NaN;
    draft.takeProfitFraction = options.takeProfitFraction ?? NaN;
    draft.trailDistance = options.trailDistance ?? NaN;
    draft.trailFraction = options.trailFraction ?? NaN;
    draft.candlesMax = options.candlesMax ?? 0;
    draft.timeStopCandles = options.timeStopCandles ?? 0;
    draft.reduceOnly = options.reduceOnly ?? false;
    draft.tag = options.tag ?? null;
    return draft;
  }
}
