/// <reference path="../strategy.d.ts" />
/** The same weight for each member. */
portfolio(({ every, exposure, minTrade }: { every: Period; exposure: number; minTrade: number }) => ({
  every,
  decide(_now, markets, _account, orders) {
    const members = markets.filter(({ isMember, i }) => isMember && i >= 0);
    orders.target(Object.fromEntries(members.map(({ id }) => [id, exposure / members.length])), { minTrade });
  },
}));
