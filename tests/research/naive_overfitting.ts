/** The figures of an optimization's luck as their definitions read, without any thought for time. */

type Series = readonly number[];

const mean = (values: Series) => values.reduce((sum, each) => sum + each, 0) / values.length;

function deviation(values: Series): number {
  const centre = mean(values);
  return Math.sqrt(values.reduce((sum, each) => sum + (each - centre) ** 2, 0) / (values.length - 1));
}

const sharpe = (values: Series) => deviation(values) < 1e-14 ? 0 : mean(values) / deviation(values);

/** Every choice of `size` of the numbers from 0. */
function* choices(count: number, size: number, from = 0): Generator<number[]> {
  if (size === 0) return void (yield []);
  for (let first = from; first <= count - size; first++) {
    for (const rest of choices(count, size - 1, first + 1)) yield [first, ...rest];
  }
}

/** Combinatorially symmetric cross-validation with 16 blocks, one split after the other. */
export function naiveOverfittingProbability(trials: readonly Series[]): number {
  const days = trials[0]!.length;
  const blocksOf = (trial: Series) =>
    Array.from({ length: 16 }, (_, i) => trial.slice(Math.floor(i * days / 16), Math.floor((i + 1) * days / 16)));
  const blocks = trials.map(blocksOf);
  let [failures, splits] = [0, 0];
  for (const chosen of choices(16, 8)) {
    const inside = blocks.map((each) => sharpe(each.filter((_, i) => chosen.includes(i)).flat()));
    const outside = blocks.map((each) => sharpe(each.filter((_, i) => !chosen.includes(i)).flat()));
    const judged = outside[inside.indexOf(Math.max(...inside))]!;
    const below = outside.filter((each) => each < judged).length;
    const equal = outside.filter((each) => each === judged).length;
    const share = (below + (equal + 1) / 2) / (trials.length + 1);
    if (Math.log(share / (1 - share)) <= 0) failures++;
    splits++;
  }
  return failures / splits;
}

export function correlation(a: Series, b: Series): number {
  const [x, y] = [mean(a), mean(b)];
  const covariance = a.reduce((sum, each, i) => sum + (each - x) * (b[i]! - y), 0) / (a.length - 1);
  return covariance / (deviation(a) * deviation(b));
}
