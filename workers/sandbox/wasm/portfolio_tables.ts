import type { MarketView, PortfolioOrders } from "../../../engine/portfolio/portfolio.ts";
import { DETAIL_BYTES, FILL_BYTES, FRAME, MARKETS, TRADE, TRADE_BYTES } from "../contracts/abi.ts";
import type { Guest } from "./guest.ts";
import { type Views, writeDetails, writeFill } from "./trade_rows.ts";

const sameOrder = (order: number) => order;

/** Bytes of the tables, in the order of their addresses: each with the markets of its rows. */
export function portfolioTablesBytes({ tradesMax, workingMax, fillsMax, hasDetails }: Guest): readonly number[] {
  const details = hasDetails ? tradesMax * DETAIL_BYTES : 0;
  return [
    ...[tradesMax * TRADE_BYTES, tradesMax * 4, details],
    ...[workingMax * 4, workingMax * 4, fillsMax * FILL_BYTES, fillsMax * 4],
  ];
}

/** The tables of an instance that decides on many markets: open trades, working orders and fills. */
export class PortfolioTables {
  readonly #guest: Guest;
  readonly #at: {
    readonly trades: number;
    readonly tradeMarkets: number;
    readonly details: number;
    readonly working: number;
    readonly workingMarkets: number;
    readonly fills: number;
    readonly fillMarkets: number;
  };
  /** Orders of the instance that worked at the last decision, or were placed then. */
  #working: { readonly market: number; readonly order: number }[] = [];

  /** @param block Address of the block of markets. @param places Addresses of the tables, as `portfolioTablesBytes`. */
  constructor(guest: Guest, { words }: Views, block: number, places: readonly number[]) {
    const [trades = 0, tradeMarkets = 0, details = 0, working = 0, workingMarkets = 0, fills = 0, fillMarkets = 0] =
      places;
    this.#guest = guest;
    this.#at = { trades, tradeMarkets, details, working, workingMarkets, fills, fillMarkets };
    const { frame, hasDetails, tradesMax, workingMax, fillsMax } = guest;
    words[(frame + FRAME.tradesPointer) / 4] = tradesMax === 0 ? 0 : trades;
    words[(frame + FRAME.workingPointer) / 4] = workingMax === 0 ? 0 : working;
    words[(frame + FRAME.detailsPointer) / 4] = hasDetails ? details : 0;
    words[(frame + FRAME.fillsPointer) / 4] = fillsMax === 0 ? 0 : fills;
    words[(block + MARKETS.tradeMarkets) / 4] = tradesMax === 0 ? 0 : tradeMarkets;
    words[(block + MARKETS.workingMarkets) / 4] = workingMax === 0 ? 0 : workingMarkets;
    words[(block + MARKETS.fillMarkets) / 4] = fillsMax === 0 ? 0 : fillMarkets;
  }

  /** Remembers an order that the instance has placed. */
  keep(market: number, order: number): void {
    this.#working.push({ market, order });
  }

  /** Writes the tables that the instance asked for, and the numbers of their rows. */
  write(views: Views, markets: readonly MarketView[], orders: PortfolioOrders): void {
    const { tradesMax, workingMax, fillsMax } = this.#guest;
    if (tradesMax > 0) this.#writeTrades(views, markets, orders);
    if (workingMax > 0) this.#writeWorking(views, orders);
    if (fillsMax > 0) this.#writeFills(views, orders);
  }

  #writeTrades({ words, doubles }: Views, markets: readonly MarketView[], orders: PortfolioOrders): void {
    const { frame, tradesMax, hasDetails } = this.#guest;
    const { trades, tradeMarkets, details } = this.#at;
    let [count, rows] = [0, 0];
    for (const { index, i, quantity } of markets) {
      if (quantity === 0) continue;
      const book = orders.of(index);
      count += book.openTrades;
      for (let n = 0; n < book.openTrades && rows < tradesMax; n++, rows++) {
        const trade = book.tradeAt(n);
        const row = trades + rows * TRADE_BYTES;
        words[(row + TRADE.number) >>> 2] = trade;
        doubles[(row + TRADE.quantity) >>> 3] = book.tradeQuantity(trade);
        doubles[(row + TRADE.entryPrice) >>> 3] = book.tradeEntryPrice(trade);
        words[(tradeMarkets >>> 2) + rows] = index;
        const known = hasDetails ? book.describeTrade(trade, i) : null;
        if (known !== null) writeDetails({ words, doubles }, details + rows * DETAIL_BYTES, known, sameOrder);
      }
    }
    words[(frame + FRAME.openTrades) / 4] = count;
    words[(frame + FRAME.tradesCount) / 4] = rows;
  }

  #writeWorking({ words }: Views, orders: PortfolioOrders): void {
    const { frame, workingMax } = this.#guest;
    this.#working = this.#working.filter(({ market, order }) => orders.of(market).isWorking(order));
    const rows = Math.min(this.#working.length, workingMax);
    for (let n = 0; n < rows; n++) {
      const { market, order } = this.#working[n]!;
      words[(this.#at.working >>> 2) + n] = order;
      words[(this.#at.workingMarkets >>> 2) + n] = market;
    }
    words[(frame + FRAME.workingOrders) / 4] = this.#working.length;
    words[(frame + FRAME.workingCount) / 4] = rows;
  }

  #writeFills(views: Views, orders: PortfolioOrders): void {
    const { frame, fillsMax } = this.#guest;
    const taken = orders.watchFills().splice(0, fillsMax);
    for (const [n, fill] of taken.entries()) {
      writeFill(views, this.#at.fills + n * FILL_BYTES, fill, sameOrder);
      views.words[(this.#at.fillMarkets >>> 2) + n] = fill.market;
    }
    views.words[(frame + FRAME.fillsCount) / 4] = taken.length;
  }
}
