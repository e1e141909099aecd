/// <reference path="../strategy.d.ts" />
/** More of quiet instruments and less of volatile ones. */
portfolio(({ lookback, every, exposure, minTrade }: {
  lookback: number;
  every: Period;
  exposure: number;
  minTrade: number;
}) => {
  const weightOf = ({ close, i }: Market) => {
    const returns = Array.from(
      { length: lookback },
      (_, k) => close[i - lookback + 1 + k]! / close[i - lookback + k]! - 1,
    );
    const mean = returns.reduce((sum, value) => sum + value, 0) / lookback;
    const squares = returns.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    const volatility = Math.sqrt(squares / (lookback - 1));
    return volatility > 0 ? 1 / volatility : 0;
  };
  return {
    warmup: lookback + 1,
    every,
    decide(_now, markets, _account, orders) {
      const members = markets.filter(({ isMember, i }) => isMember && i >= lookback);
      const weights = members.map(weightOf);
      const sum = weights.reduce((all, weight) => all + weight, 0);
      const weightIn = (k: number) => sum > 0 ? exposure * weights[k]! / sum : 0;
      orders.target(Object.fromEntries(members.map(({ id }, k) => [id, weightIn(k)])), { minTrade });
    },
  };
});
