/** Bars of the histogram of returns, about. */
const BINS = 40;
/** More trades than this are drawn as the cells of a grid that they lie in. */
const POINTS_MAX = 5_000;
const GRID = { columns: 200, rows: 100 };
/** The part of the trades on each side that counts in the outermost bars. */
const RETURNS_TAIL = 0.01;
/** The part of the trades within the axes of excursions, and the room that is left beside them. */
const EXCURSIONS_SHARE = 0.995;
const EXCURSIONS_ROOM = 1.05;
/** The extent of what has none. */
const WIDTH_MIN = 0.01;

/** Closed trades in columns: fractions of their entry prices. */
export interface ClosedTrades {
  readonly returns: Float64Array<ArrayBuffer>;
  /** How far each went against itself and for itself, not negative. */
  readonly mae: Float64Array<ArrayBuffer>;
  readonly mfe: Float64Array<ArrayBuffer>;
  /** 1 for each that made money. */
  readonly won: Uint8Array<ArrayBuffer>;
}

/** How a run's closed trades are spread. */
export interface TradeSpread {
  /** Closed trades. */
  readonly trades: number;
  /** Bars of `width` from `low` on, with an edge at 0. The outermost hundredth on each side counts in the last bars. */
  readonly returns: { readonly low: number; readonly width: number; readonly counts: readonly number[] };
  /** Points, one for each trade or, of many trades, for each place where some lie; those beyond the axes lie on their ends. */
  readonly excursions: {
    readonly mae_max: number;
    readonly mfe_max: number;
    readonly mae: readonly number[];
    readonly mfe: readonly number[];
    readonly won: readonly boolean[];
  };
}

/** Measures how closed trades are spread, however many there are. */
export function spreadTrades(trades: ClosedTrades): TradeSpread {
  return { trades: trades.won.length, returns: countReturns(trades.returns), excursions: placeTrades(trades) };
}

function countReturns(returns: Float64Array<ArrayBuffer>): TradeSpread["returns"] {
  const sorted = returns.toSorted();
  const [least, most] = [
    Math.min(0, quantile(sorted, RETURNS_TAIL)),
    Math.max(0, quantile(sorted, 1 - RETURNS_TAIL)),
  ];
  const width = (most - least) / BINS || WIDTH_MIN;
  const below = Math.ceil(-least / width);
  const counts = new Array<number>(below + Math.max(1, Math.ceil(most / width))).fill(0);
  for (const value of returns) {
    const bin = Math.min(counts.length - 1, Math.max(0, Math.floor(value / width) + below));
    counts[bin]!++;
  }
  return { low: -below * width, width, counts };
}

function placeTrades({ mae, mfe, won }: ClosedTrades): TradeSpread["excursions"] {
  const [maeMax, mfeMax] = [extentOf(mae), extentOf(mfe)];
  const isExact = won.length <= POINTS_MAX;
  const snap = (value: number, most: number, cells: number) => {
    const inside = Math.min(most, value);
    return isExact ? inside : Math.round(inside / most * cells) / cells * most;
  };
  const points = new Map<string | number, { mae: number; mfe: number; won: boolean }>();
  for (let i = 0; i < won.length; i++) {
    const point = {
      mae: snap(mae[i]!, maeMax, GRID.columns),
      mfe: snap(mfe[i]!, mfeMax, GRID.rows),
      won: won[i] === 1,
    };
    points.set(isExact ? i : `${point.mae} ${point.mfe} ${point.won}`, point);
  }
  const all = [...points.values()];
  return {
    ...{ mae_max: maeMax, mfe_max: mfeMax },
    mae: all.map((point) => point.mae),
    mfe: all.map((point) => point.mfe),
    won: all.map((point) => point.won),
  };
}

function extentOf(values: Float64Array<ArrayBuffer>): number {
  return quantile(values.toSorted(), EXCURSIONS_SHARE) * EXCURSIONS_ROOM || WIDTH_MIN;
}

/** The value below which a share of the values lies. @param sorted Rising. @param share From 0 to 1. */
function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}
