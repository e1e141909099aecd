/** The days of markets that trade on different ones, as one calendar: the returns of one day stand beside each other. */

/** Daily returns of holding an instrument. */
export interface Holding {
  readonly returns: Float64Array;
  /** In days since 1970, one a return. */
  readonly days: readonly number[];
}

/** All days of some markets. */
interface JoinedDays {
  /** In days since 1970, ascending. */
  readonly days: readonly number[];
  /** Writes the returns of a market's trial on their days; others stay 0. */
  place(market: number, returns: Float64Array, to: Float64Array): void;
  /** A holding's returns on these days: one of another day counts on the next of these. */
  align(holding: Holding): Float64Array;
}

/** Joins the days of markets. @param markets By their places, each ascending. */
export function joinDays(markets: ReadonlyMap<number, readonly number[] | Int32Array>): JoinedDays {
  const all = new Set<number>();
  for (const days of markets.values()) for (const day of days) all.add(day);
  const days = [...all].sort((a, b) => a - b);
  const rows = new Map(days.map((day, row) => [day, row]));
  return {
    days,
    place(market, returns, to) {
      const own = markets.get(market) ?? [];
      for (let i = 0; i < returns.length && i < own.length; i++) to[rows.get(own[i]!)!] = returns[i]!;
    },
    align(holding) {
      const aligned = new Float64Array(days.length);
      let row = 0;
      for (const [i, day] of holding.days.entries()) {
        while (row < days.length && days[row]! < day) row++;
        if (row === days.length) break;
        aligned[row] = (1 + aligned[row]!) * (1 + (holding.returns[i] ?? 0)) - 1;
      }
      return aligned;
    },
  };
}
