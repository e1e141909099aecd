/** The columns of a result over many markets, as they are stored. */
import type { PortfolioResult } from "../../engine/portfolio/portfolio.ts";
import { equityPart, ordersPart, type PartColumns, tradesPart } from "./result_parts.ts";

/** All parts of a result, without plots: each trade and each order has the row of its market. */
export function portfolioParts(result: PortfolioResult): PartColumns[] {
  const withMarket = (part: PartColumns, market: Uint16Array): PartColumns => ({
    ...part,
    columns: { ...part.columns, market: Int32Array.from(market.subarray(0, part.count)) },
  });
  const { time, equity, netExposure } = result;
  const rows = lastRows(time);
  const pick = (values: Float64Array) => Float64Array.from(rows, (row) => values[row]!);
  const curve = { time: pick(time), equity: pick(equity), position: pick(netExposure) };
  return [
    withMarket(tradesPart(result.trades), result.trades.market),
    withMarket(ordersPart(result.orders), result.orders.market),
    equityPart(curve),
  ];
}

/** The last row of each time: candles that open together may close at different times, and the last mark counts. */
export function lastRows(time: Float64Array): Int32Array {
  return Int32Array.from(time.keys().filter((row) => row === time.length - 1 || time[row]! < time[row + 1]!));
}
