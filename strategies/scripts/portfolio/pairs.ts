/// <reference path="../strategy.d.ts" />
/** Two instruments that belong together, when they have drifted apart. */
portfolio(({ lookback, entry, exit, stop, halfLife: halfLifeMax, exposure }: {
  lookback: number;
  entry: number;
  exit: number;
  stop: number;
  halfLife: number;
  exposure: number;
}, { timeframeMs }) => {
  const DAY_MS = 86_400_000;
  const keyOf = (open: number) => timeframeMs >= DAY_MS / 2 ? Math.floor(open / DAY_MS) : open;
  const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

  /** The newest logarithms of closes that both have in common, the oldest first; null where there are too few. */
  const commonLogs = ([one, two]: readonly Market[]) => {
    const [a, b]: [number[], number[]] = [[], []];
    let [i, j] = [one!.i, two!.i];
    while (a.length < lookback) {
      if (i < 0 || j < 0) return null;
      const [left, right] = [keyOf(one!.time[i]!), keyOf(two!.time[j]!)];
      if (left > right) i--;
      else if (right > left) j--;
      else {
        a.push(Math.log(one!.close[i--]!));
        b.push(Math.log(two!.close[j--]!));
      }
    }
    return { a: a.reverse(), b: b.reverse() };
  };

  /** The slope of `y` by `x`; 0 where `x` does not move. */
  const slopeOf = (x: readonly number[], y: readonly number[]) => {
    const [meanX, meanY] = [sumOf(x) / x.length, sumOf(y) / x.length];
    let [xy, xx] = [0, 0];
    for (let k = 0; k < x.length; k++) {
      xy += (x[k]! - meanX) * (y[k]! - meanY);
      xx += (x[k]! - meanX) ** 2;
    }
    return xx > 0 ? xy / xx : 0;
  };

  const measure = (a: readonly number[], b: readonly number[]) => {
    const hedge = slopeOf(b, a);
    const spread = a.map((value, k) => value - hedge * b[k]!);
    const mean = sumOf(spread) / lookback;
    const squares = spread.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    const deviation = Math.sqrt(squares / (lookback - 1));
    // The change of a candle by the deviation before it: a negative slope pulls back.
    const pull = slopeOf(spread.slice(0, -1), spread.slice(1).map((value, k) => value - spread[k]!));
    const halfLife = pull < 0 && pull > -1 ? -Math.LN2 / Math.log1p(pull) : pull <= -1 ? 0 : Infinity;
    return { hedge, score: deviation > 0 ? (spread[lookback - 1]! - mean) / deviation : 0, halfLife };
  };

  let side = 0;
  let hasStopped = false;
  return {
    warmup: lookback,
    decide(_now, markets, _account, orders) {
      const two = markets.slice(0, 2);
      if (!two.every(({ hasClosed }) => hasClosed)) return;
      const logs = commonLogs(two);
      if (logs === null) return;
      const { hedge, score, halfLife } = measure(logs.a, logs.b);
      if (Math.abs(score) <= exit) hasStopped = false;
      const before = side;
      if (side !== 0 && (Math.abs(score) >= stop || -side * score <= exit)) {
        hasStopped = Math.abs(score) >= stop;
        side = 0;
      }
      const isMember = two.every((market) => market.isMember);
      const enters = Math.abs(score) >= entry && Math.abs(score) < stop && halfLife <= halfLifeMax;
      if (side === 0 && before === 0 && isMember && !hasStopped && enters) side = -Math.sign(score);
      if (side === before) return;
      const first = side * exposure / (1 + Math.abs(hedge));
      const [one, other] = two;
      orders.target(side === 0 ? {} : { [one!.id]: first, [other!.id]: -first * hedge });
    },
  };
});
