/// <reference path="../strategy.d.ts" />
/** Follows the cross of two averages, and buys only while the last closed day is above the average of days. Reads the input `daily`. */
strategy(({ fast = 10, slow = 30, days = 20 }: { fast?: number; slow?: number; days?: number }) => {
  if (fast >= slow) throw new RangeError(`fast must be less than slow: ${fast} is not less than ${slow}`);
  return {
    // As many days as hours come before the range.
    warmup: Math.max(slow + 1, days),
    prepare({ close, inputs }) {
      this.first = sma(close, fast);
      this.second = sma(close, slow);
      this.trend = sma(inputs.daily!.close, days);
    },
    decide(i, { inputs }, account, orders) {
      const rises = inputs.daily!.close[i]! > this.trend[i];
      if (account.quantity === 0 && rises && crossesAbove(this.first, this.second, i)) orders.buy();
      else if (account.quantity > 0 && crossesBelow(this.first, this.second, i)) orders.close();
    },
  };
});
