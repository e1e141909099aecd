// Strategies that decide on many markets at once, beside hindcast.ts. One extends Portfolio, is named in playMarkets(), and exports
// abi_version, alloc, init and on_candle from there, and on_markets and every from here.
import { begin, Frame, Input, placed, play, Strategy } from "./hindcast";

const MARKET_BYTES: usize = 80;

/** A market at this moment. Its columns are read with `valueAt`; its newest closed candle is at count - 1. */
@unmanaged
export class Market {
  idPointer: usize;
  idLength: u32;
  time: usize;
  open: usize;
  high: usize;
  low: usize;
  close: usize;
  volume: usize;
  count: u32;
  flags: u32;
  quantity: f64;
  entryPrice: f64;
  weight: f64;
  /** The weight that it is brought to, if the decision has targets. */
  target: f64;
  /** 1 leaves it alone. */
  keep: u32;
  reserved: u32;

  /** The instrument, such as SPY@ARCA. */
  get id(): string {
    return String.UTF8.decodeUnsafe(this.idPointer, this.idLength);
  }

  /** True if a candle of it closed at this moment. */
  get hasClosed(): bool {
    return (this.flags & 1) != 0;
  }

  /** True if it may be entered now. */
  get isMember(): bool {
    return (this.flags & 2) != 0;
  }
}

/** The markets of a run, in the order in which they were listed. */
@unmanaged
export class Markets {
  count: u32;
  rows: usize;
  /** Milliseconds since 1970. */
  now: f64;
  minTrade: f64;
  hasTargets: u32;
  orderMarkets: usize;
  tag: usize;
  tagLength: u32;
  tradeMarkets: usize;
  workingMarkets: usize;
  fillMarkets: usize;
  inputTables: usize;

  at(index: i32): Market {
    return changetype<Market>(this.rows + MARKET_BYTES * index);
  }

  /** A market's own candles of an input, or longer ones, by the place that `askInput` or `askResampled` gave. */
  inputOf(market: i32, place: i32): Input {
    return changetype<Input>(load<usize>(this.inputTables + (<usize> market << 2)) + (<usize> place << 5));
  }

  /** The market of row `n` of the table of open trades, and of that of their details. */
  tradeMarket(n: i32): i32 {
    return load<i32>(this.tradeMarkets + (<usize> n << 2));
  }

  /** The market of row `n` of the table of working orders. */
  workingMarket(n: i32): i32 {
    return load<i32>(this.workingMarkets + (<usize> n << 2));
  }

  /** The market of row `n` of the table of fills. */
  fillMarket(n: i32): i32 {
    return load<i32>(this.fillMarkets + (<usize> n << 2));
  }

  /** Sends the targets of this decision. @param minTrade Smaller differences, as fractions of equity, are left. */
  sendTargets(minTrade: f64 = 0): void {
    this.hasTargets = 1;
    this.minTrade = minTrade;
  }

  /** Says that the next order, such as `buy()`, is for this market. */
  next(index: i32): void {
    store<i32>(this.orderMarkets + (<usize> placed() << 2), index);
  }
}

/** Periods after which a strategy decides. */
export const EVERY_CLOSE = 0, DAY = 1, WEEK = 2, MONTH = 3, QUARTER = 4;

/** A strategy for many markets. */
export abstract class Portfolio extends Strategy {
  every(): i32 {
    return EVERY_CLOSE;
  }

  decide(): void {}

  /** Called at the first close of each period. */
  abstract decideOn(markets: Markets): void;
}

let makePortfolio: (() => Portfolio) | null = null;
let portfolio: Portfolio | null = null;

/** Names the function that makes the strategy. */
export function playMarkets(make: () => Portfolio): void {
  makePortfolio = make;
  play(() => {
    portfolio = makePortfolio!();
    return portfolio!;
  });
}

export function every(): i32 {
  return portfolio!.every();
}

export function on_markets(shared: Frame, markets: Markets): i32 {
  begin(shared);
  portfolio!.decideOn(markets);
  return placed();
}
