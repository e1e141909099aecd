/// <reference path="./strategy.d.ts" />
/** Buys once, at the first decision, and never sells. */
strategy(() => {
  let hasOrdered = false;
  return {
    decide(_i, _candles, _account, orders) {
      if (!hasOrdered) orders.buy();
      hasOrdered = true;
    },
  };
});
