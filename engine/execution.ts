import { DAY_MS } from "./time/durations.ts";
import { EXCLUSIVES } from "./rules/exclusive_rules.ts";
import { FILLS } from "./rules/fill_rules.ts";
import { FRACTIONS_OF, SIZING_FEES } from "./rules/sizing/sizing_model.ts";
import { SIZING_TYPES } from "./rules/sizing/sizing_models.ts";
import { SPREADS_ON } from "./rules/spread.ts";
import { ASSET_CLASSES, type AssetClass } from "./time/asset_classes.ts";
import type { Commission } from "./rules/commission/commission_models.ts";
import { type Slippage, SLIPPAGE_KINDS, type SlippageSettings } from "./rules/slippage/slippage_models.ts";

/**
 * The rules by which orders are filled: every key of `parameters.execution`, its values and the defaults of each profile.
 * docs/execution.md explains the keys; engine/rules applies them.
 */
export const PROFILES = ["hindcast", "backtesting.py"] as const;
export const SIZING_PRICES = ["fill", "signal_close"] as const;
export const SIZING_MARKS = ["fill", "close"] as const;
export const LIMIT_FILLS = ["touch", "penetrate"] as const;
export const STOP_GAPS = ["open"] as const;
export const BOTH_TOUCHED = ["stop_first", "target_first", "nearest", "magnify"] as const;
export const CLOSES_AT_END = ["none", "last_open", "last_close"] as const;

export { ASSET_CLASSES, type AssetClass, EXCLUSIVES, FILLS, FRACTIONS_OF, SIZING_FEES, SIZING_TYPES, SPREADS_ON };
export { SLIPPAGE_KINDS, type SlippageSettings };
type Profile = (typeof PROFILES)[number];

/** Quantity of an order that names none: a fraction, units, money, or a fraction of equity lost at the stop. */
interface Sizing {
  readonly type: (typeof SIZING_TYPES)[number];
  readonly value: number;
}

/** The complete rules of a run, repeated with its result. Plain data, which JSON leaves unchanged. */
export interface Execution {
  readonly profile: Profile;
  /** Where a market order that was decided at a candle's close is filled. */
  readonly fill: (typeof FILLS)[number];
  /** Candles by which an order reaches the market later than that; absent: none. */
  readonly delay?: number;
  /** Orders are rounded down to a multiple of this quantity. */
  readonly quantityStep: number;
  readonly sizing: Sizing;
  /** The base of a fraction: equity, or equity less the margin of the open trades. */
  readonly fractionOf: (typeof FRACTIONS_OF)[number];
  /** The price that sizes an order: that of its fill, or the close at which it was decided. */
  readonly sizingPrice: (typeof SIZING_PRICES)[number];
  /** The price that values the open trades when an order is sized: the fill's, or the close of its candle. */
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
  /** Fraction per year of 365 days, on the value of short positions. */
  readonly borrowRate: number;
  /** Fraction per year of 365 days, on the money that long positions borrow: cash below 0. */
  readonly marginRate: number;
  /** Fraction per year of 365 days that cash earns, the proceeds of short sales aside. */
  readonly cashRate: number;
  /** Fraction per 8 hours that longs pay to shorts. */
  readonly fundingRate: number;
  readonly limitFill: (typeof LIMIT_FILLS)[number];
  readonly stopGap: (typeof STOP_GAPS)[number];
  readonly bothTouched: (typeof BOTH_TOUCHED)[number];
  /**
   * True if an open beyond the target fills the target even if the candle reaches the stop later: the open comes first.
   * The library prefers the stop there.
   */
  readonly openDecides: boolean;
  /**
   * A stop or target can fill on the candle of its entry: true always, false never. `same_direction`: after a market
   * order always; after a stop order only the target, if the stop loss was not touched; after a limit order never.
   */
  readonly entryCandleExit: boolean | "same_direction";
  readonly exclusive: (typeof EXCLUSIVES)[number];
  readonly closeAtEnd: (typeof CLOSES_AT_END)[number];
  /** True if candles before start_date may warm the strategy up. */
  readonly lookback: boolean;
  /**
   * True if two lines of a built-in strategy that met exactly, and then part on the other side, have crossed. The library
   * loses this cross.
   */
  readonly crossThroughTouch: boolean;
  /** The account's currency in a run over many markets; absent or null: that of its instruments. */
  readonly baseCurrency?: string | null;
  /** The instrument that equity is compared with; null: the traded one. */
  readonly benchmark: { readonly symbol: string; readonly exchange: string } | null;
  /** Fraction per year. */
  readonly riskFreeRate: number;
  /** Daily returns in a year, weekly or monthly ones where candles are that long; null until the asset class is known. */
  readonly periodsPerYear: number | null;
}

/** A client's request: any of the keys, complete or not. A number for `commission` is a rate. */
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
  marginRate: 0,
  cashRate: 0,
  fundingRate: 0,
  limitFill: "touch",
  stopGap: "open",
  bothTouched: "stop_first",
  openDecides: true,
  entryCandleExit: true,
  exclusive: "opposite",
  closeAtEnd: "none",
  lookback: true,
  crossThroughTouch: true,
  benchmark: null,
  riskFreeRate: 0,
  periodsPerYear: null,
};

/** The defaults of each profile. `backtesting.py` reproduces the library of that name (version 0.6). */
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
    crossThroughTouch: false,
  },
};

/** The names of all settings: those that every profile has, and those that are absent by default. */
export const EXECUTION_NAMES: readonly string[] = [
  ...Object.keys(HINDCAST),
  ...["delay", "baseCurrency"] satisfies (keyof Execution)[],
];

/** Trading days in a year: stocks rest on weekends and holidays, forex on weekends. */
const PERIODS_PER_YEAR: Readonly<Record<AssetClass, number>> = { stock: 252, forex: 260, crypto: 365 };
/** Each candle of a week or a month gives one return. */
const WEEKS_PER_YEAR = 52;
const MONTHS_PER_YEAR = 12;

/**
 * Completes a request with the defaults of its profile.
 *
 * @param requested Checked values (routers/runs/execution_request.ts); absent and undefined keys take the profile's.
 * @param assetClass The instrument's class decides periodsPerYear; null while it is unknown.
 * @param timeframeMs Length of the run's candles; null for months.
 */
export function resolveExecution(
  requested: ExecutionRequest,
  assetClass: AssetClass | null,
  timeframeMs: number | null = DAY_MS,
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

/** Fills in periodsPerYear, unless it was requested or the asset class is unknown. */
export function withPeriodsPerYear(
  execution: Execution,
  assetClass: AssetClass | null,
  timeframeMs: number | null,
): Execution {
  if (execution.periodsPerYear !== null || assetClass === null) return execution;
  const longer = timeframeMs === null ? MONTHS_PER_YEAR : timeframeMs > DAY_MS ? WEEKS_PER_YEAR : null;
  return { ...execution, periodsPerYear: longer ?? PERIODS_PER_YEAR[assetClass] };
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
