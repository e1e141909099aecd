/** Combinatorially symmetric cross-validation as its definition reads, one split after the other, without any thought for time. */

type Series = readonly number[];

const sum = (values: Series) => values.reduce((total, each) => total + each, 0);
const mean = (values: Series) => sum(values) / values.length;

function deviation(values: Series): number {
  const centre = mean(values);
  return Math.sqrt(values.reduce((total, each) => total + (each - centre) ** 2, 0) / (values.length - 1));
}

/** More is better. */
const SCORES: Readonly<Record<string, (values: Series) => number>> = {
  sharpe: (values) => deviation(values) < 1e-14 ? 0 : mean(values) / deviation(values) * Math.sqrt(365),
  total_return: (values) => values.reduce((account, each) => account * (1 + each), 1) - 1,
  max_drawdown: (values) => {
    let [account, peak, worst] = [1, 1, 0];
    for (const each of values) {
      account *= 1 + each;
      peak = Math.max(peak, account);
      worst = Math.max(worst, 1 - account / peak);
    }
    return -worst;
  },
};

/** Every choice of `size` of the numbers from 0. */
function* choices(count: number, size: number, from = 0): Generator<number[]> {
  if (size === 0) return void (yield []);
  for (let first = from; first <= count - size; first++) {
    for (const rest of choices(count, size - 1, first + 1)) yield [first, ...rest];
  }
}

/** The figures of all splits of 16 blocks. */
export function naiveSplits(trials: readonly Series[], objective: string) {
  const days = trials[0]!.length;
  const score = SCORES[objective]!;
  const blocksOf = (trial: Series) =>
    Array.from({ length: 16 }, (_, i) => trial.slice(Math.floor(i * days / 16), Math.floor((i + 1) * days / 16)));
  const blocks = trials.map(blocksOf);
  // Sums in another order differ by rounding; equal trials are equal.
  const place = (values: Series, of: number) => values.filter((each) => each < of - 1e-12).length;
  const found = [...choices(16, 8)].map((chosen) => {
    const inside = blocks.map((each) => score(each.filter((_, i) => chosen.includes(i)).flat()));
    const outside = blocks.map((each) => score(each.filter((_, i) => !chosen.includes(i)).flat()));
    const best = inside.findIndex((each) => each > Math.max(...inside) - 1e-12);
    const judged = outside[best]!;
    const equal = outside.filter((each) => Math.abs(each - judged) <= 1e-12).length;
    const rank = (place(outside, judged) + (equal + 1) / 2) / (trials.length + 1);
    const account = blocks[best]!.filter((_, i) => !chosen.includes(i)).flat().reduce(
      (sum, each) => sum * (1 + each),
      1,
    );
    return { rank, isLoss: account < 1 - 1e-15, inside: inside[best]!, outside: judged };
  });
  const ranks = found.map(({ rank }) => rank).toSorted((a, b) => a - b);
  const [x, y] = [mean(found.map((each) => each.inside)), mean(found.map((each) => each.outside))];
  const products = sum(found.map((each) => (each.inside - x) * (each.outside - y)));
  return {
    overfitting_probability: found.filter(({ rank }) => Math.log(rank / (1 - rank)) <= 0).length / found.length,
    loss_probability: found.filter(({ isLoss }) => isLoss).length / found.length,
    median_rank: (ranks[6434]! + ranks[6435]!) / 2,
    degradation_slope: products / sum(found.map((each) => (each.inside - x) ** 2)),
  };
}
