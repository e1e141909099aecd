import type { Candles } from "./candles.ts";
import { Excursions } from "./excursions.ts";
import { AT_CLOSE, Fill } from "./fill.ts";
import type { OpenTrade } from "./open_trade.ts";
import { NO_ORDER, SIGNAL } from "./trade_columns.ts";

/** The `reason` of a fill that opens a trade or adds to it. */
const ENTRY = -1;

/** An open trade as its strategy sees it at a candle's close. Prices are NaN where there is none. */
export interface TradeDetails {
  /** The order that opened it, and its tag. */
  readonly order: number;
  readonly tag: string | null;
  readonly entryIndex: number;
  readonly entryTime: number;
  readonly stopLoss: number;
  readonly takeProfit: number;
  /** Where the trailing stop stands. */
  readonly trailingStop: number;
  /** quantity x (close - entry price), in the quote currency, before costs. */
  readonly profit: number;
  readonly bestPrice: number;
  readonly worstPrice: number;
}

/** A trade, or the part of one that a fill has closed. */
export interface ClosedTrade {
  /** The order that opened it, and its tag. */
  readonly order: number;
  readonly tag: string | null;
  readonly entryIndex: number;
  readonly entryTime: number;
  readonly entryPrice: number;
  /** Net of fees and financing, in the account's currency. */
  readonly profit: number;
  /** Of the entry and the exit. */
  readonly fees: number;
  readonly bestPrice: number;
  readonly worstPrice: number;
}

export interface FillRecord {
  /** Index of the market. */
  readonly market: number;
  /** The order that was filled; NO_ORDER: a stop, a target or the simulator closed the trade. */
  readonly order: number;
  readonly trade: number;
  readonly index: number;
  readonly time: number;
  /** 1 bought, -1 sold. */
  readonly side: number;
  readonly quantity: number;
  readonly price: number;
  readonly fee: number;
  /** Index into EXIT_REASONS; ENTRY. */
  readonly reason: number;
  /** Of its order, where that opened a trade; else null. */
  readonly tag: string | null;
  /** The trade, or the part of one, that it closed; null: none. */
  readonly closed: ClosedTrade | null;
}

/** The parts of a run that are watched. */
interface Watched {
  readonly market: number;
  readonly candles: Candles;
  readonly tagOf: (order: number) => string | null;
  /** The profit and the fees of the trade that was logged last. */
  readonly lastClosed: () => { readonly pnl: number; readonly fees: number };
}

/** The fills and trades of one market, for a strategy that asks for more of them than it needs for orders. */
export class TradeWatch {
  /** Fills since the strategy last emptied the list, oldest first; one list may be that of several markets. */
  fills: FillRecord[] = [];
  readonly #watched: Watched;
  readonly #excursions: Excursions;
  readonly #mark = new Fill();

  constructor(watched: Watched) {
    this.#watched = watched;
    this.#excursions = new Excursions(watched.candles);
  }

  /** Notes a fill that opened a trade, or added to it. @param side Of the trade. */
  enter(trade: OpenTrade, { index, units, price, fee, order }: Fill, side: number): void {
    const { market, candles, tagOf } = this.#watched;
    this.fills.push({
      market,
      ...{ order, trade: trade.number, index, time: candles.time[index]!, tag: tagOf(order) },
      ...{ side, quantity: units, price, fee, reason: ENTRY, closed: null },
    });
  }

  /** Notes a fill that closed a trade, or a part of it, once it is logged. @param side Of the trade. */
  exit(trade: OpenTrade, fill: Fill, side: number, reason: number): void {
    const { market, candles: { time }, tagOf, lastClosed } = this.#watched;
    const { index, units: quantity, price, fee } = fill;
    const { number, order, entryIndex, price: entryPrice } = trade;
    const { pnl: profit, fees } = lastClosed();
    const { bestPrice, worstPrice } = this.#measure(trade, side, fill);
    const entryTime = time[entryIndex]!;
    const closed = { order, tag: tagOf(order), entryIndex, entryTime, entryPrice, profit, fees, bestPrice, worstPrice };
    this.fills.push({
      market,
      ...{ order: reason === SIGNAL ? fill.order : NO_ORDER, trade: number, index, time: time[index]! },
      ...{ side: -side, quantity, price, fee, reason, tag: null, closed },
    });
  }

  /** An open trade at the close of candle `i`. @param side Of the trade. */
  describe(trade: OpenTrade, side: number, i: number): TradeDetails {
    const { candles: { time, close }, tagOf } = this.#watched;
    const { order, entryIndex, stopLoss, takeProfit, trailStop: trailingStop, quantity, price } = trade;
    this.#mark.at(i, AT_CLOSE, close[i]!, false);
    this.#mark.price = close[i]!;
    return {
      ...{ order, tag: tagOf(order), entryIndex, entryTime: time[entryIndex]!, stopLoss, takeProfit, trailingStop },
      ...this.#measure(trade, side, this.#mark),
      profit: side * quantity * (close[i]! - price),
    };
  }

  #measure(trade: OpenTrade, side: number, until: Fill): { readonly bestPrice: number; readonly worstPrice: number } {
    const excursions = this.#excursions;
    excursions.measure(trade, side, until);
    const high = Math.max(excursions.high, trade.price);
    const low = Math.min(excursions.low, trade.price);
    return side > 0 ? { bestPrice: high, worstPrice: low } : { bestPrice: low, worstPrice: high };
  }
}
