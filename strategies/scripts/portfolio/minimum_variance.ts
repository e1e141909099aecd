/// <reference path="../strategy.d.ts" />
/** The mix of members that moved least, by a shrunk covariance (Ledoit and Wolf, 2004). */
portfolio(({ lookback, every, exposure, minTrade }: {
  lookback: number;
  every: Period;
  exposure: number;
  minTrade: number;
}, { timeframeMs }) => {
  const DAY_MS = 86_400_000;
  const keyOf = (open: number) => timeframeMs >= DAY_MS / 2 ? Math.floor(open / DAY_MS) : open;
  const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

  /** The newest returns that all members have in common, the oldest first; null where there are too few. */
  const commonReturns = (members: readonly Market[]) => {
    const closes: number[][] = members.map(() => []);
    const at = members.map(({ i }) => i);
    while (closes[0]!.length <= lookback) {
      if (at.some((i) => i < 0)) return null;
      const keys = members.map(({ time }, n) => keyOf(time[at[n]!]!));
      const oldest = Math.min(...keys);
      if (keys.some((key) => key > oldest)) keys.forEach((key, n) => key > oldest && at[n]!--);
      else members.forEach(({ close }, n) => closes[n]!.push(close[at[n]!--]!));
    }
    return closes.map((column) => column.reverse().slice(1).map((close, k) => close / column[k]! - 1));
  };

  /** The covariance, shrunk towards equal variances without correlation, row by row. */
  const covarianceOf = (returns: readonly (readonly number[])[]) => {
    const size = returns.length;
    const centred = returns.map((column) => {
      const mean = sumOf(column) / lookback;
      return column.map((value) => value - mean);
    });
    const rows = returns.map(() => new Array<number>(size).fill(0));
    let [trace, squares, fourths] = [0, 0, 0];
    for (let a = 0; a < size; a++) {
      for (let b = 0; b <= a; b++) {
        let [sum, sumOfSquares] = [0, 0];
        for (let t = 0; t < lookback; t++) {
          const product = centred[a]![t]! * centred[b]![t]!;
          sum += product;
          sumOfSquares += product * product;
        }
        const covariance = sum / lookback;
        rows[a]![b] = rows[b]![a] = covariance;
        const times = a === b ? 1 : 2;
        squares += times * covariance * covariance;
        fourths += times * (sumOfSquares / lookback - covariance * covariance);
        if (a === b) trace += covariance;
      }
    }
    const variance = trace / size;
    const distance = squares - size * variance * variance;
    const intensity = distance > 0 ? Math.min(1, fourths / lookback / distance) : 1;
    return rows.map((row, a) => row.map((value, b) => intensity * (a === b ? variance : 0) + (1 - intensity) * value));
  };

  /** Solves `matrix x = 1` by Cholesky's decomposition. Overwrites the matrix. */
  const solveOnes = (matrix: number[][]) => {
    const size = matrix.length;
    const solved = new Array<number>(size).fill(1);
    for (let a = 0; a < size; a++) {
      for (let b = 0; b <= a; b++) {
        let sum = matrix[a]![b]!;
        for (let k = 0; k < b; k++) sum -= matrix[a]![k]! * matrix[b]![k]!;
        matrix[a]![b] = a === b ? Math.sqrt(sum) : sum / matrix[b]![b]!;
      }
      for (let k = 0; k < a; k++) solved[a]! -= matrix[a]![k]! * solved[k]!;
      solved[a]! /= matrix[a]![a]!;
    }
    for (let a = size - 1; a >= 0; a--) {
      for (let k = a + 1; k < size; k++) solved[a]! -= matrix[k]![a]! * solved[k]!;
      solved[a]! /= matrix[a]![a]!;
    }
    return solved;
  };

  /** Weights of least variance. Those with a negative one are left out, all at once, until there is none. */
  const leastVariance = (rows: readonly (readonly number[])[]) => {
    const weights = rows.map(() => 0);
    let chosen = rows.map((_, n) => n);
    while (chosen.length > 0) {
      const solved = solveOnes(chosen.map((a) => chosen.map((b) => rows[a]![b]!)));
      const sum = sumOf(solved);
      if (solved.every((value) => value >= 0) && sum > 0) {
        chosen.forEach((n, k) => weights[n] = solved[k]! / sum);
        return weights;
      }
      const kept = chosen.filter((_, k) => solved[k]! > 0);
      chosen = kept.length < chosen.length ? kept : [];
    }
    return weights;
  };

  return {
    warmup: lookback + 1,
    every,
    decide(_now, markets, _account, orders) {
      const members = markets.filter(({ isMember, i }) => isMember && i >= lookback);
      const returns = members.length === 0 ? null : commonReturns(members);
      const weights = returns === null ? members.map(() => 0) : leastVariance(covarianceOf(returns));
      const sum = sumOf(weights);
      const weightIn = (k: number) => sum > 0 ? exposure * weights[k]! / sum : 0;
      orders.target(Object.fromEntries(members.map(({ id }, k) => [id, weightIn(k)])), { minTrade });
    },
  };
});
