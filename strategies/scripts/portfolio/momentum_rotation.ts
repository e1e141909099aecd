/// <reference path="../strategy.d.ts" />
/** The winners of the last months, in equal parts. */
portfolio((
  { top = 3, lookback = 126, skip = 0, filter = 0, every = "month", exposure = 1, minTrade = 0 }: {
    top?: number;
    lookback?: number;
    skip?: number;
    filter?: number;
    every?: Period;
    exposure?: number;
    minTrade?: number;
  },
) => {
  if (skip >= lookback) throw new RangeError(`skip must be less than lookback: ${skip} is not less than ${lookback}`);
  const pastOf = ({ close, i }: Market) => close[i - skip]! / close[i - lookback]! - 1;
  return {
    warmup: lookback + 1,
    every,
    decide(_now, markets, _account, orders) {
      const ranked = markets
        .filter((market) => market.isMember && market.i >= lookback && pastOf(market) >= filter)
        .sort((a, b) => pastOf(b) - pastOf(a) || a.index - b.index);
      orders.target(Object.fromEntries(ranked.slice(0, top).map(({ id }) => [id, exposure / top])), { minTrade });
    },
  };
});
