import type { PortfolioSummary } from "../result.ts";
import type { MarginBounds, PortfolioResult } from "./portfolio.ts";

/** The tables of a result. @param ids Of the markets, in their order. */
export function summarizePortfolio(result: PortfolioResult, ids: readonly string[]): PortfolioSummary {
  const { contributions: { pnl, fees, trades, marksHeld, share }, holdings, weights, profits, correlation } = result;
  const { marginBounds } = result;
  const at = (column: Float64Array) => Array.from(weights.marks, (mark) => column[mark]!);
  const marks = Math.max(1, result.time.length);
  const length = correlation.markets.length;
  const rowOf = new Map([...weights.marks].map((mark, row) => [mark, row]));
  return {
    contributions: ids.map((instrument, n) => ({
      instrument,
      pnl: pnl[n]!,
      fees: fees[n]!,
      trades: trades[n]!,
      held: marksHeld[n]! / marks,
      share: numberOrNull(share[n]!),
    })),
    holdings: holdings &&
      { mean: holdings.mean, largest_weight: holdings.largestWeight, herfindahl: holdings.herfindahl },
    weights: {
      timestamps: [...weights.marks].map((mark) => new Date(result.instant[mark]!).toISOString()),
      rows: [...weights.mark].map((mark, k) => [rowOf.get(mark)!, weights.market[k]!, weights.weight[k]!] as const),
    },
    profits: {
      rows: [...profits.mark].map((mark, k) => [rowOf.get(mark)!, profits.market[k]!, profits.profit[k]!] as const),
    },
    correlation: {
      instruments: [...correlation.markets],
      values: Array.from(
        { length },
        (_, a) => Array.from({ length }, (_, b) => numberOrNull(correlation.values[a * length + b]!)),
      ),
    },
    exposure: {
      net: mean(result.netExposure),
      gross: mean(result.grossExposure),
      over_time: { net: at(result.netExposure), gross: at(result.grossExposure) },
    },
    ...(marginBounds === null || areEqual(marginBounds) ? {} : { margin_bounds: marginBounds }),
  };
}

function areEqual({ worst_together: one, closes_only: other }: MarginBounds): boolean {
  return one.final_equity === other.final_equity && one.trades === other.trades;
}

function numberOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

function mean(values: Float64Array): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
