/** The end of an account. */
interface Ruin {
  /** Candle of the run: a row of its equity, counted as its candles are. */
  readonly index: number;
  /** Money lost beyond the account, which the broker bears. */
  readonly loss: number;
  /** Trades, closed there, whose pnl is better by that money than their prices give. */
  readonly trades: number;
}

/** Trades with a guard at or below 0, which no price reaches. */
export interface Unreachable {
  trades: number;
  /** Of the first of them: the guard, in words, and its fraction of the entry price. */
  readonly guard: string;
  readonly fraction: number;
}

/** The log of the account's trades. */
interface Creditor {
  credit(rows: number, money: number): void;
}

/**
 * The money behind one or more markets (market.ts). A market's ledger moves `cash` at its fills; the driver, which knows all markets,
 * values the account.
 *
 * A market that fills an order has to know what the account holds in the others. The driver states it in `elsewhere` and the two
 * margins before it hands a market a candle. With one market they are 0.
 */
export class TradingAccount {
  // Numbers with a fraction start as NaN (see open_trade.ts).
  cash = NaN;
  /** At the last mark. */
  equity = NaN;
  /** Value of the positions in the other markets, negative for more short than long. */
  elsewhere = NaN;
  /** Initial margin of the positions in the other markets. */
  marginElsewhere = NaN;
  /** The value of the positions in the other markets at the worst prices of their candles, and their maintenance margin there. */
  worstElsewhere = NaN;
  maintenanceElsewhere = NaN;
  feesPaid = NaN;
  tradedValue = NaN;
  /** Money that cash has earned. */
  interest = NaN;
  /** How the account came to nothing; null unless it did. */
  ruin: Ruin | null = null;
  /** Null where there are none. */
  unreachable: Unreachable | null = null;
  /** Trades opened so far, in all markets: the number of the next one. */
  opened = 0;
  /** Markets with a position, and the most that may have one at a time. */
  positions = 0;
  positionsMax = Infinity;
  /** True if it holds more than one market: a price in one of them then says nothing about a margin call. */
  readonly isShared: boolean;
  readonly initialBalance: number;

  constructor(initialBalance: number, isShared = false) {
    this.initialBalance = initialBalance;
    this.isShared = isShared;
    this.cash = initialBalance;
    this.equity = initialBalance;
    this.elsewhere = 0;
    this.marginElsewhere = 0;
    this.worstElsewhere = 0;
    this.maintenanceElsewhere = 0;
    this.feesPaid = 0;
    this.tradedValue = 0;
    this.interest = 0;
  }

  /** Receives interest on cash, which belongs to no trade. */
  earn(money: number): void {
    this.cash += money;
    this.interest += money;
  }

  /**
   * Ends the account with nothing, after everything was closed at a loss beyond it. The broker bears the excess: it is credited to the
   * last `trades` rows of the log, in proportion to their quantities.
   *
   * @param index See Ruin.
   */
  end(index: number, log: Creditor, trades: number): void {
    this.ruin = { index, loss: -this.cash, trades };
    log.credit(trades, -this.cash);
    this.cash = 0;
    this.equity = 0;
  }
}
