/** The reality check and its kin as their papers read, without any thought for time. Days of resamples are given. */

type Series = readonly number[];
type Objective = (returns: Series) => number;

const sum = (values: Series) => values.reduce((total, each) => total + each, 0);
const mean = (values: Series) => sum(values) / values.length;

function deviation(values: Series): number {
  const centre = mean(values);
  return Math.sqrt(sum(values.map((each) => (each - centre) ** 2)) / (values.length - 1));
}

/** The largest fall of an account from a peak, as a fraction. */
function drawdown(logs: Series): number {
  let [account, peak, worst] = [1, 1, 0];
  for (const each of logs) {
    account *= Math.exp(each);
    peak = Math.max(peak, account);
    worst = Math.max(worst, 1 - account / peak);
  }
  return worst;
}

const YEAR = 252;
const downside = (returns: Series) => Math.sqrt(mean(returns.map((each) => Math.min(0, each) ** 2)));
const above = (returns: Series) => sum(returns.filter((each) => each > 0));
const below = (returns: Series) => -sum(returns.filter((each) => each < 0));
const perYear = (logs: Series) => Math.exp(mean(logs) * YEAR) - 1;

/** Objectives by name: of returns, or of logarithms of growth. */
export const OBJECTIVES: Readonly<Record<string, { readonly logs: boolean; readonly of: Objective }>> = {
  sharpe: { logs: false, of: (returns) => mean(returns) / deviation(returns) * Math.sqrt(YEAR) },
  annual_volatility: { logs: false, of: (returns) => deviation(returns) * Math.sqrt(YEAR) },
  sortino: { logs: false, of: (returns) => mean(returns) / downside(returns) * Math.sqrt(YEAR) },
  omega: { logs: false, of: (returns) => above(returns) / below(returns) },
  total_return: { logs: true, of: (logs) => Math.exp(sum(logs)) - 1 },
  annual_return: { logs: true, of: perYear },
  max_drawdown: { logs: true, of: drawdown },
  calmar: { logs: true, of: (logs) => perYear(logs) / drawdown(logs) },
  recovery_factor: { logs: true, of: (logs) => (Math.exp(sum(logs)) - 1) / drawdown(logs) },
};

/** A check of trials; more is better with a `sign` of 1. */
export interface NaiveCheck {
  readonly returns: readonly Series[];
  readonly objective: string;
  readonly sign: 1 | -1;
  /** The value without skill; null: the mean of the resamples. */
  readonly still: number | null;
  readonly orders: readonly Series[];
  /** Mean length of their blocks. */
  readonly blockDays: number;
  /** Places of the trials with which a guided search began; absent: none was guided. */
  readonly starts?: readonly number[];
}

/**
 * The factor by which a mean of new days deviates more than one of resamples: two drawn days of one block are as far apart as in the
 * original, and others anywhere. The mean is taken off, so that each day less depends on each other day by a share of -1 / days.
 */
function widening(days: number, blockDays: number): number {
  let variance = 0;
  for (let one = 0; one < days; one++) {
    for (let other = 0; other < days; other++) {
      const inOneBlock = (1 - 1 / blockDays) ** Math.abs(one - other);
      variance += inOneBlock * ((one === other ? 1 : 0) - 1 / days);
    }
  }
  return Math.sqrt(days / variance);
}

/** White's, Hansen's and Romano and Wolf's answers. */
export function naiveCheck({ returns, objective, sign, still, orders, blockDays, starts }: NaiveCheck) {
  const { logs, of } = OBJECTIVES[objective]!;
  const columns = returns.map((each) => logs ? each.map((value) => Math.log(1 + value)) : each);
  const own = columns.map((column) => sign * of(column));
  const centred = columns.map((column) => {
    const centre = mean(column);
    return column.map((each) => each - centre);
  });
  // Growth is compared as a logarithm.
  const isGrowth = ["total_return", "annual_return"].includes(objective);
  const compared = (values: Series) => isGrowth ? values.map(Math.log1p) : values;
  const factor = widening(returns[0]!.length, blockDays);
  const widen = (value: number) => {
    if (still === null) return value;
    return isGrowth ? Math.expm1(factor * Math.log1p(value)) : still + factor * (value - still);
  };
  const resampled = orders.map((order) => centred.map((column) => sign * widen(of(order.map((day) => column[day]!)))));
  const bestOwn = Math.max(...own);
  const bests = resampled.map((row) => Math.max(...row));
  const share = (values: Series, bound: number) =>
    (values.filter((each) => each >= bound).length + 1) / (values.length + 1);
  const middle = bests.toSorted((a, b) => a - b)[(bests.length - 1) / 2]!;
  const searches = starts === undefined ? 1 : independentStarts(starts, resampled);
  const among = (each: number) => starts === undefined ? each : 1 - (1 - each) ** searches;
  const superior = superiority(
    compared(own),
    resampled.map(compared),
    still === null ? null : sign * still,
    returns[0]!.length,
  );
  return {
    best: sign * bestOwn,
    expected_best: sign * middle,
    p_value: among(share(bests, bestOwn)),
    spa_p_value: among(superior),
    survivors: stepwise(own, resampled, among),
    searches,
  };
}

/** The best of so many independent trials is above the median of the best start in half of the cases. */
function independentStarts(starts: readonly number[], resampled: readonly Series[]): number {
  const rows = resampled.map((row) => starts.map((place) => row[place]!));
  const bests = rows.map((row) => Math.max(...row)).sort((a, b) => a - b);
  const middle = bests[(bests.length - 1) / 2]!;
  const above = rows.flat().filter((each) => each >= middle).length / rows.flat().length;
  return Math.min(starts.length, Math.max(1, Math.log(0.5) / Math.log(1 - above)));
}

function superiority(own: Series, resampled: readonly Series[], still: number | null, days: number): number {
  const trials = own.map((value, trial) => {
    const values = resampled.map((row) => row[trial]!);
    const usual = still ?? mean(values);
    const score = (value - usual) / deviation(values);
    const isPoor = score < -Math.sqrt(2 * Math.log(Math.log(days)));
    return { score, scores: values.map((each) => (each - usual) / deviation(values) + (isPoor ? score : 0)) };
  });
  const statistic = Math.max(0, ...trials.map(({ score }) => score));
  const bests = resampled.map((_, i) => Math.max(0, ...trials.map(({ scores }) => scores[i]!)));
  return (bests.filter((each) => each >= statistic).length + 1) / (bests.length + 1);
}

/** Rejects what stands out, forgets it, and looks again. @returns Places, in ascending order. */
function stepwise(own: Series, resampled: readonly Series[], among: (share: number) => number): number[] {
  const rejected: number[] = [];
  for (;;) {
    const left = own.map((_, trial) => trial).filter((trial) => !rejected.includes(trial));
    const bests = resampled.map((row) => Math.max(...left.map((trial) => row[trial]!)));
    const found = left.filter((trial) => {
      return among((bests.filter((each) => each >= own[trial]!).length + 1) / (bests.length + 1)) <= 0.05;
    });
    if (found.length === 0) return rejected.sort((a, b) => a - b);
    rejected.push(...found);
  }
}
