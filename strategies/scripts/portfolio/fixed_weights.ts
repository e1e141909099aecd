/// <reference path="../strategy.d.ts" />
/** Chosen weights, restored once one of them is too far off. */
portfolio(({ weights, band, every }: { weights: string; band: number; every: Period }) => {
  const wanted = weights.split(",").map((part) => part.trim().split(/\s+/)).filter(([name]) => name !== "");
  let shares: readonly number[] = [];
  let hasBegun = false;
  return {
    every,
    prepare(markets) {
      hasBegun = false;
      const named = new Map(wanted.map(([name, value]) => [markets.of(name!).index, Number(value)]));
      shares = markets.map(({ index }) => wanted.length === 0 ? 1 / markets.length : named.get(index) ?? 0);
    },
    decide(_now, markets, _account, orders) {
      const held = markets.map(({ isMember, quantity, index }) => isMember || quantity !== 0 ? shares[index]! : 0);
      const isOff = markets.some(({ weight, index }) => Math.abs(weight - held[index]!) >= band);
      if (hasBegun && !isOff) return;
      hasBegun = true;
      orders.target(Object.fromEntries(markets.map(({ id, index }) => [id, held[index]!])));
    },
  };
});
