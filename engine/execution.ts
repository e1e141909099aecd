import { DAY_MS } from "./durations.ts";

/**
 * The assumptions under which orders are filled: the one home of every `parameters.execution` key, of its values and of
 * the defaults of each profile. What each key means in the market is written where it is applied (engine/rules).
 */
export const ASSET_CLASSES = ["forex", "crypto", "stock"] as const;
export const PROFILES = ["hindcast", "backtesting.py"] as const;
export const FILLS = ["next_open", "close"] as const;
export const SIZING_TYPES = ["equity_fraction", "units", "cash", "risk_fraction"] as const;
export const FRACTIONS_OF = ["equity", "free_margin"] as const;
export const SIZING_PRICES = ["fill", "signal_close"] as const;
export const SIZING_MARKS = ["fill", "close"] as const;
export const SIZING_FEES = ["order", "one_lot"] as const;
export const SPREADS_ON = ["both", "entry"] as const;
export const LIMIT_FILLS = ["touch", "penetrate"] as const;
export const STOP_GAPS = ["open"] as const;
export const BOTH_TOUCHED = ["stop_first", "target_first", "nearest", "magnify"] as const;
export const EXCLUSIVES = ["opposite", "any", "off"] as const;
export const CLOSES_AT_END = ["none", "last_open", "last_close"] as const;

export type AssetClass = (typeof ASSET_CLASSES)[number];
export type Profile = (typeof PROFILES)[number];

/** Quantity of an order that names none: a fraction, units, money, or a fraction of equity lost at the stop. */
export interface Sizing {
  readonly type: (typeof SIZING_TYPES)[number];
  readonly value: number;
}

/** Fee of one fill; money, but for `rate` and `maximumRate`, which are fractions of the fill's value. */
export interface Commission {
  readonly rate: number;
  readonly fixed: number;
  readonly perUnit: number;
  readonly minimum: number;
  /** The fee is never more than this fraction of the fill's value; null: no cap. */
  readonly maximumRate: number | null;
}

/** How much worse than the candle's price a market or stop order is filled; 0: not at all. */
export type Slippage =
  | 0
  | { readonly bps: number }
  | { readonly ticks: number; readonly tickSize: number }
  | { readonly volumeShare: number; readonly impact: number };

/** Every assumption of a run, complete: what is echoed with its result. Plain data, so it survives JSON unchanged. */
export interface Execution {
  readonly profile: Profile;
  /** Where a market order that was decided at a candle's close is filled. */
  readonly fill: (typeof FILLS)[number];
  /** Orders are rounded down to a multiple of this quantity. */
  readonly quantityStep: number;
  readonly sizing: Sizing;
  /** What a fraction is taken of: equity, or equity less the margin of what is open. */
  readonly fractionOf: (typeof FRACTIONS_OF)[number];
  /** The price at which an order is sized: that of its fill, or the close at which it was decided. */
  readonly sizingPrice: (typeof SIZING_PRICES)[number];
  /** What values the trades that stay open when an order is sized: the fill's price, or the close of its candle. */
  readonly sizingMark: (typeof SIZING_MARKS)[number];
  /** The fee that sizing sets aside: the order's own, or for each lot the fee of an order for one lot. */
  readonly sizingFee: (typeof SIZING_FEES)[number];
  readonly commission: Commission;
  /** Fraction of price. */
  readonly spread: number;
  readonly spreadOn: (typeof SPREADS_ON)[number];
  readonly slippage: Slippage;
  /** Buying power is equity times this. */
  readonly leverage: number;
  readonly marginCall: boolean;
  /** Fraction of the initial margin. */
  readonly maintenanceMargin: number;
  readonly allowShort: boolean;
  /** Fraction per year of 365 days, on the value of what is short. */
  readonly borrowRate: number;
  /** Fraction per 8 hours: longs pay it to shorts. */
  readonly fundingRate: number;
  readonly limitFill: (typeof LIMIT_FILLS)[number];
  readonly stopGap: (typeof STOP_GAPS)[number];
  readonly bothTouched: (typeof BOTH_TOUCHED)[number];
  /**
   * Whether an open beyond the target fills it even if the candle then comes to the stop, too: the open is known to come
   * first. The library does not look at that, and prefers the stop.
   */
  readonly openDecides: boolean;
  /**
   * Whether a stop or target can fill on the candle of its entry. `same_direction`: after a market order always, after a
   * stop order the target alone, when the stop loss was not touched, after a limit order never.
   */
  readonly entryCandleExit: boolean | "same_direction";
  readonly exclusive: (typeof EXCLUSIVES)[number];
  readonly closeAtEnd: (typeof CLOSES_AT_END)[number];
  /** Whether candles before start_date may warm the strategy up. */
  readonly lookback: boolean;
  /** Fraction per year. */
  readonly riskFreeRate: number;
  /** Days in a trading year, or weeks where candles are weeks; null until the asset class is known. */
  readonly periodsPerYear: number | null;
}

/** What a client may send: any of the keys; a number for `commission` is a rate. A complete Execution is one, too. */
export type ExecutionRequest =
  & { readonly [Key in Exclude<keyof Execution, "commission">]?: Execution[Key] | undefined }
  & {
    readonly commission?:
      | number
      | { readonly [Key in keyof Commission]?: Commission[Key] | undefined }
      | undefined;
  };

const HINDCAST: Execution = {
  profile: "hindcast",
  fill: "next_open",
  quantityStep: 1e-8,
  sizing: { type: "equity_fraction", value: 1 },
  fractionOf: "equity",
  sizingPrice: "fill",
  sizingMark: "fill",
  sizingFee: "order",
  commission: { rate: 0, fixed: 0, perUnit: 0, minimum: 0, maximumRate: null },
  spread: 0,
  spreadOn: "both",
  slippage: 0,
  leverage: 1,
  marginCall: true,
  maintenanceMargin: 0.5,
  allowShort: true,
  borrowRate: 0,
  fundingRate: 0,
  limitFill: "touch",
  stopGap: "open",
  bothTouched: "stop_first",
  openDecides: true,
  entryCandleExit: true,
  exclusive: "opposite",
  closeAtEnd: "none",
  lookback: true,
  riskFreeRate: 0,
  periodsPerYear: null,
};

/** The defaults of each profile: `backtesting.py` reproduces the library of that name (version 0.6). */
export const PROFILE_DEFAULTS: Readonly<Record<Profile, Execution>> = {
  hindcast: HINDCAST,
  "backtesting.py": {
    ...HINDCAST,
    profile: "backtesting.py",
    quantityStep: 1,
    fractionOf: "free_margin",
    sizingMark: "close",
    sizingFee: "one_lot",
    spreadOn: "entry",
    marginCall: false,
    openDecides: false,
    entryCandleExit: "same_direction",
    exclusive: "any",
    lookback: false,
  },
};

/** Days of daily equity in a year: exchange holidays and weekends are no trading days for stocks, weekends for forex. */
const PERIODS_PER_YEAR: Readonly<Record<AssetClass, number>> = { stock: 252, forex: 260, crypto: 365 };
/** Candles that are longer than a day are weeks: each gives one day of equity, whatever the market. */
const WEEKS_PER_YEAR = 52;

/**
 * The complete assumptions: the profile's, overridden by what was requested.
 *
 * @param requested Checked values (routers/execution_request.ts); absent and undefined keys take the profile's.
 * @param assetClass The instrument's, which decides periodsPerYear; null while it is not known.
 * @param timeframeMs Of the candles that are run over.
 */
export function resolveExecution(
  requested: ExecutionRequest,
  assetClass: AssetClass | null,
  timeframeMs: number = DAY_MS,
): Execution {
  const { commission, ...others } = requested;
  const defaults = PROFILE_DEFAULTS[requested.profile ?? "hindcast"];
  const execution: Execution = {
    ...defaults,
    ...withoutUndefined(others),
    commission: {
      ...defaults.commission,
      ...(typeof commission === "number" ? { rate: commission } : withoutUndefined(commission ?? {})),
    },
  };
  return withPeriodsPerYear(execution, assetClass, timeframeMs);
}

/** Fills in periodsPerYear, unless it was requested or the asset class is not known. */
export function withPeriodsPerYear(
  execution: Execution,
  assetClass: AssetClass | null,
  timeframeMs: number,
): Execution {
  if (execution.periodsPerYear !== null || assetClass === null) return execution;
  return { ...execution, periodsPerYear: timeframeMs > DAY_MS ? WEEKS_PER_YEAR : PERIODS_PER_YEAR[assetClass] };
}

type Defined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

function withoutUndefined<T extends object>(values: T): Defined<T> {
  const defined: Defined<T> = {};
  for (const key in values) {
    const value = values[key];
    if (isDefined(value)) defined[key] = value;
  }
  return defined;
}

function isDefined<T>(value: T): value is Exclude<T, undefined> {
  return value !== undefined;
}
