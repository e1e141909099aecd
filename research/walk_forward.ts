/** Walk-forward windows: the dates of each, and the account that trades them one after the other. */
import { ratioMetrics } from "../engine/metrics/ratios.ts";
import type { Measured } from "../engine/metrics/measured.ts";
import { DAY_MS } from "../engine/time/durations.ts";

// Enough for a curve on a screen; metrics are those of all days.
const EQUITY_POINTS_MAX = 500;

const NO_WINDOW_TRADED = "no test window has traded";
const NO_GAIN_IN_SAMPLE = "the annual return in sample is not above 0";
const RUINED = "equity reached zero";

/** How windows follow each other, in calendar days. */
export interface WalkForward {
  readonly trainDays: number;
  readonly testDays: number;
  /** From the start of one test window to that of the next; at least `testDays`. */
  readonly stepDays: number;
  /** Every training window begins with the range. */
  readonly anchored: boolean;
  /** Days between each training and its test, which neither sees; absent: none. */
  readonly purgeDays?: number;
  /** One account trades all tests and keeps its position from one to the next; absent: each test starts flat. */
  readonly carry?: boolean;
}

/** Dates as YYYY-MM-DD; ends are exclusive. */
export interface WindowDates {
  readonly trainStart: string;
  readonly trainEnd: string;
  /** Absent: the test begins where the training ends. */
  readonly testStart?: string;
  readonly testEnd: string;
}

interface DateRange {
  readonly startDate: string;
  readonly endDate: string;
}

/** Calendar days of a range. */
export function countDays({ startDate, endDate }: DateRange): number {
  return Math.round((Date.parse(endDate) - Date.parse(startDate)) / DAY_MS);
}

/** How many windows fit into a range with their whole tests. */
export function countWindows(range: DateRange, { trainDays, purgeDays = 0, testDays, stepDays }: WalkForward): number {
  return Math.max(0, Math.floor((countDays(range) - trainDays - purgeDays - testDays) / stepDays) + 1);
}

/** How many times the trainings of all windows together go through the whole range. */
export function countTrainings(range: DateRange, walk: WalkForward): number {
  const days = listWindows(range, walk).reduce(
    (sum, { trainStart, trainEnd }) => sum + countDays({ startDate: trainStart, endDate: trainEnd }),
    0,
  );
  return days / countDays(range);
}

/** The first day of a window's test. */
export function testStartOf({ trainEnd, testStart = trainEnd }: WindowDates): string {
  return testStart;
}

/** The windows of a range, the first one first. */
export function listWindows(range: DateRange, walk: WalkForward): WindowDates[] {
  const dateAt = (days: number) => new Date(Date.parse(range.startDate) + days * DAY_MS).toISOString().slice(0, 10);
  return Array.from({ length: countWindows(range, walk) }, (_, i) => {
    const { purgeDays = 0 } = walk;
    const from = i * walk.stepDays;
    const test = from + walk.trainDays + purgeDays;
    return {
      trainStart: walk.anchored ? range.startDate : dateAt(from),
      trainEnd: dateAt(from + walk.trainDays),
      ...(purgeDays === 0 ? {} : { testStart: dateAt(test) }),
      testEnd: dateAt(test + walk.testDays),
    };
  });
}

/** The test windows as one account. A figure that cannot be computed is null, and `undefined_figures` says why. */
export interface OutOfSample {
  /** Test windows that traded. */
  readonly windows: number;
  /** Trading days of them. */
  readonly days: number;
  readonly final_equity: number;
  readonly total_return: number;
  readonly annual_return: number | null;
  readonly annual_volatility: number | null;
  readonly sharpe: number | null;
  /** The ends of its 95 % interval; absent in results from before that. */
  readonly sharpe_low?: number | null;
  readonly sharpe_high?: number | null;
  readonly sortino: number | null;
  readonly max_drawdown: number;
  /** One account kept its position between the tests; absent in results from before that. */
  readonly carried?: boolean;
  /** Share of the candles with a position: in the tests, and the mean of the trainings; null where it is not known. */
  readonly exposure?: number | null;
  readonly in_sample_exposure?: number | null;
  /** Geometric mean of the training windows' annual returns. */
  readonly in_sample_annual_return: number | null;
  /** `annual_return` over `in_sample_annual_return`. */
  readonly efficiency: number | null;
  readonly undefined_figures: Readonly<Record<string, string>>;
  /** The account at the end of some days, evenly chosen, from day 0, the day before the first test, to the last one. */
  readonly equity: readonly EquityPoint[];
}

interface EquityPoint {
  readonly day: number;
  /** YYYY-MM-DD; null where the test's dates are not known. */
  readonly date: string | null;
  readonly equity: number;
}

/** A window of which the test has run. */
export interface TradedWindow {
  /** Daily returns of the test, fractions, oldest first. */
  readonly returns: Float64Array;
  /** The account after each of them; absent: it follows from the returns. */
  readonly marks?: Float64Array;
  /** The dates of the returns, in days since 1970, and perhaps of days after them; null where they are not known. */
  readonly dates: readonly number[] | null;
  /** Fraction per year, of the best trial of the training; null where it has none. */
  readonly trainAnnualReturn: number | null;
}

interface Rates {
  readonly initialBalance: number;
  readonly periodsPerYear: number;
  readonly riskFreeRate: number;
}

/**
 * Lets one account trade the test windows one after the other. It ends where its equity reaches zero.
 *
 * @param traded In order of their dates; one alone where an account was carried through all of them.
 * @param trainings The annual return of each training whose parameters traded; null where it has none.
 */
export function stitchWindows(
  traded: readonly TradedWindow[],
  { initialBalance, periodsPerYear, riskFreeRate }: Rates,
  trainings: readonly (number | null)[] = traded.map(({ trainAnnualReturn }) => trainAnnualReturn),
): OutOfSample {
  const { returns, equity } = compound(traded, initialBalance);
  const days = returns.length;
  const growth = equity[days]! / initialBalance;
  const ratios = ratioMetrics({ periodsPerYear, riskFreeRate }, { returns });
  const annual = days === 0
    ? { reason: NO_WINDOW_TRADED }
    : growth > 0
    ? growth ** (periodsPerYear / days) - 1
    : { reason: RUINED };
  const inSample = meanGrowth(trainings);
  const measured: Readonly<Record<Figure, Measured>> = {
    annual_return: annual,
    annual_volatility: ratios.annual_volatility,
    sharpe: ratios.sharpe,
    sharpe_low: ratios.sharpe_low,
    sharpe_high: ratios.sharpe_high,
    sortino: ratios.sortino,
    in_sample_annual_return: inSample,
    efficiency: measureEfficiency(annual, inSample),
  };
  return {
    windows: trainings.length,
    days,
    final_equity: equity[days]!,
    total_return: growth - 1,
    max_drawdown: deepestFall(equity),
    ...split(measured),
    equity: sample(equity, datesOf(traded)),
  };
}

/** Every day of the account that stitchWindows() measures. */
export interface AccountDays {
  readonly returns: Float64Array;
  /** At the end of each day. */
  readonly equity: Float64Array;
  /** In days since 1970; NaN where they are not known. */
  readonly dates: Float64Array;
}

/** The days of the account that stitchWindows() measures, the first one first. */
export function listAccountDays(traded: readonly TradedWindow[], initialBalance: number): AccountDays {
  const { returns, equity } = compound(traded, initialBalance);
  const dates = daysOf(traded);
  return {
    returns: Float64Array.from(returns),
    equity: Float64Array.from(equity.slice(1)),
    dates: Float64Array.from(returns, (_, i) => dates[i] ?? NaN),
  };
}

type Figure =
  | "annual_return"
  | "annual_volatility"
  | "sharpe"
  | "sharpe_low"
  | "sharpe_high"
  | "sortino"
  | "in_sample_annual_return"
  | "efficiency";

function compound(traded: readonly TradedWindow[], initialBalance: number) {
  const [first] = traded;
  // An account that was carried has its own equity, to the last bit.
  if (first?.marks !== undefined) return { returns: first.returns, equity: [initialBalance, ...first.marks] };
  const all = traded.flatMap(({ returns }) => [...returns]);
  const equity = [initialBalance];
  for (const each of all) {
    const before = equity.at(-1)!;
    if (before <= 0) break;
    equity.push(before * (1 + each));
  }
  return { returns: Float64Array.from(all.slice(0, equity.length - 1)), equity };
}

function meanGrowth(annual: readonly (number | null)[]): Measured {
  if (annual.length === 0) return { reason: NO_WINDOW_TRADED };
  let logs = 0;
  for (const each of annual) {
    if (each === null || each <= -1) return { reason: "a training window has no annual return above -1" };
    logs += Math.log1p(each);
  }
  return Math.expm1(logs / annual.length);
}

function measureEfficiency(annual: Measured, inSample: Measured): Measured {
  if (typeof annual !== "number") return annual;
  if (typeof inSample !== "number") return inSample;
  return inSample > 0 ? annual / inSample : { reason: NO_GAIN_IN_SAMPLE };
}

function deepestFall(equity: readonly number[]): number {
  let [peak, deepest] = [0, 0];
  for (const each of equity) {
    peak = Math.max(peak, each);
    deepest = Math.max(deepest, 1 - each / peak);
  }
  return deepest;
}

function split(measured: Readonly<Record<Figure, Measured>>) {
  const reasons: Record<string, string> = {};
  const valueOf = (name: Figure): number | null => {
    const value = measured[name];
    if (typeof value === "number" && Number.isFinite(value)) return value;
    reasons[name] = typeof value === "number" ? "it is too large for a number" : value.reason;
    return null;
  };
  return {
    annual_return: valueOf("annual_return"),
    annual_volatility: valueOf("annual_volatility"),
    sharpe: valueOf("sharpe"),
    sharpe_low: valueOf("sharpe_low"),
    sharpe_high: valueOf("sharpe_high"),
    sortino: valueOf("sortino"),
    in_sample_annual_return: valueOf("in_sample_annual_return"),
    efficiency: valueOf("efficiency"),
    undefined_figures: reasons,
  };
}

/** The days of all returns, in days since 1970. */
function daysOf(traded: readonly TradedWindow[]): (number | null)[] {
  return traded.flatMap(({ returns, dates }) => Array.from(returns, (_, i) => dates?.[i] ?? null));
}

/** The dates of all days, from day 0 on. */
function datesOf(traded: readonly TradedWindow[]): readonly (string | null)[] {
  const days = daysOf(traded);
  const [first = null] = days;
  return [first === null ? null : first - 1, ...days].map((day) =>
    day === null ? null : new Date(day * DAY_MS).toISOString().slice(0, 10)
  );
}

function sample(equity: readonly number[], dates: readonly (string | null)[]): OutOfSample["equity"] {
  const last = equity.length - 1;
  const count = Math.min(equity.length, EQUITY_POINTS_MAX);
  return Array.from({ length: count }, (_, i) => {
    const day = count === 1 ? 0 : Math.round(i * last / (count - 1));
    return { day, date: dates[day] ?? null, equity: equity[day]! };
  });
}
