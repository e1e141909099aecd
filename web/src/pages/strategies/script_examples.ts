/** Scripts to begin with. */
import type { InputForm } from "../new_run/inputs_form.ts";

/** A script that runs as it stands. */
interface ScriptExample {
  readonly label: string;
  readonly source: string;
  /** The part of the source that names the parameters. */
  readonly head: string;
  readonly schema: object;
  /** Candles that it reads beside its own. */
  readonly inputs: readonly InputForm[];
}

/** The first is the example of strategies/SCRIPTS.md, the second strategies/scripts/inputs/sma_cross_daily.ts. */
export const EXAMPLES: readonly [ScriptExample, ...ScriptExample[]] = [
  {
    label: "above an average",
    source: `strategy(({ period = 20, stop = 0.1 }: { period?: number; stop?: number }) => ({
  warmup: period + 1,
  prepare({ close }) {
    this.mean = sma(close, period);
  },
  decide(i, { close }, account, orders) {
    plot("mean", this.mean[i]);
    if (account.quantity === 0 && close[i] > this.mean[i]) orders.buy({ stopLossFraction: stop });
    else if (account.quantity > 0 && close[i] < this.mean[i]) orders.close();
  },
}));
`,
    head: "({ period = 20, stop = 0.1 }: { period?: number; stop?: number })",
    schema: {
      type: "object",
      properties: {
        period: { type: "integer", default: 20, minimum: 2, description: "Candles of the average" },
        stop: {
          type: "number",
          default: 0.1,
          minimum: 0,
          maximum: 1,
          description: "Loss that ends a trade, as a fraction",
        },
      },
    },
    inputs: [],
  },
  {
    label: "a cross of averages with a daily trend",
    source:
      `/** Follows the cross of two averages, and buys only while the last closed day is above the average of days. Reads the input \`daily\`. */
strategy(({ fast = 10, slow = 30, days = 20 }: { fast?: number; slow?: number; days?: number }) => {
  if (fast >= slow) throw new RangeError(\`fast must be less than slow: \${fast} is not less than \${slow}\`);
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
`,
    head: "({ fast = 10, slow = 30, days = 20 }: { fast?: number; slow?: number; days?: number })",
    schema: {
      type: "object",
      properties: {
        fast: { type: "integer", default: 10, minimum: 1, description: "Candles of the fast average" },
        slow: { type: "integer", default: 30, minimum: 2, description: "Candles of the slow average" },
        days: { type: "integer", default: 20, minimum: 1, description: "Days of the trend's average" },
      },
    },
    inputs: [{ name: "daily", timeframe: "1d", symbol: "", exchange: "" }],
  },
];
