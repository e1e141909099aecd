import type { PortfolioResult } from "./portfolio.ts";

/** A result's tables over markets as plain data, without its long columns. Rows are in the markets' order. */
export interface PortfolioSummary {
  readonly contributions: readonly {
    /** `SPY@ARCA`. */
    readonly instrument: string;
    /** Money, net of fees and financing, open trades at the last close. */
    readonly pnl: number;
    readonly fees: number;
    readonly trades: number;
    /** Fraction of the marks at which it was held. */
    readonly held: number;
    /** Fraction of the sum of all pnl; null where that is 0. */
    readonly share: number | null;
  }[];
  /** Over all marks with a position; null where there is none. */
  readonly holdings: {
    readonly mean: number;
    readonly largest_weight: number;
    readonly herfindahl: number;
  } | null;
  /** Weights at some marks: rows without zeros. `instrument` is a row of `contributions`. */
  readonly weights: {
    readonly timestamps: readonly string[];
    readonly rows: readonly (readonly [timestamp: number, instrument: number, weight: number])[];
  };
  /** Correlation of daily returns of the markets' own closes; null where it is unknown. */
  readonly correlation: {
    readonly instruments: readonly number[];
    readonly values: readonly (readonly (number | null)[])[];
  };
  /** Mean over marks of the net and gross value of positions, as fractions of equity. */
  readonly exposure: { readonly net: number; readonly gross: number };
}

/** The tables of a result. @param ids Of the markets, in their order. */
export function summarizePortfolio(result: PortfolioResult, ids: readonly string[]): PortfolioSummary {
  const { contributions: { pnl, fees, trades, marksHeld, share }, holdings, weights, correlation } = result;
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
    correlation: {
      instruments: [...correlation.markets],
      values: Array.from(
        { length },
        (_, a) => Array.from({ length }, (_, b) => numberOrNull(correlation.values[a * length + b]!)),
      ),
    },
    exposure: { net: mean(result.netExposure), gross: mean(result.grossExposure) },
  };
}

function numberOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

function mean(values: Float64Array): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
