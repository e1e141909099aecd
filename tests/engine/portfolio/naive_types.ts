/** The arguments and results of the naive simulator. */
export interface NaiveCandle {
  readonly opens: number;
  readonly closes: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
}

export interface NaiveMarket {
  readonly id: string;
  readonly candles: readonly NaiveCandle[];
  readonly members: readonly (readonly [from: number, until: number])[] | null;
  readonly isDelisted: boolean;
  /** Rates from instants on; null: the account's currency. */
  readonly rates: readonly (readonly [from: number, rate: number])[] | null;
}

export interface NaiveRules {
  readonly balance: number;
  readonly rate: number;
  readonly fixed: number;
  readonly bps: number;
  readonly spread: number;
  readonly leverage: number;
  readonly maintenance: number;
  readonly lot: number;
  readonly positionsMax: number;
  /** Part of equity of an order. */
  readonly size: number;
}

/** An act at an instant: an entry or an exit in one market, or weights for all. */
export type NaiveAct =
  | {
    readonly kind: "enter";
    readonly id: string;
    readonly side: number;
    readonly stop: number;
    readonly target: number;
  }
  | { readonly kind: "close"; readonly id: string }
  | { readonly kind: "weights"; readonly weights: Readonly<Record<string, number>>; readonly minTrade: number };

export interface NaiveTrade {
  readonly id: string;
  readonly side: number;
  readonly quantity: number;
  readonly entryAt: number;
  readonly entryPrice: number;
  readonly exitAt: number | null;
  readonly exitPrice: number | null;
  readonly pnl: number;
  readonly reason: string | null;
}

export interface NaiveResult {
  readonly trades: readonly NaiveTrade[];
  readonly equity: ReadonlyMap<number, number>;
  readonly refused: number;
}
