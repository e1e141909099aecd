import { realisedVolatility } from "../../engine/indicators/realised_volatility.ts";
import { BY_UNITS, newDraft } from "../../engine/strategy.ts";
import { periodProperty, positiveProperty, readNumber, schemaOf } from "./parameter_schema.ts";
import { type Builtin, levelLine } from "./builtin.ts";

/** Holds more of a quiet market and less of a volatile one. */
export const volatilityTarget: Builtin = {
  slug: "volatility-target",
  name: "Volatility Target",
  description:
    "Risk control. Always long, with so much of the equity that the volatility of the account is near its target: target / realised volatility, up to the largest exposure. Buys or sells the difference whenever the holding is off by the rebalancing share of equity. It sells into storms and buys in calm.",
  default_frequency: "DAILY",
  min_candles: 2,
  lookback_candles: 21,
  parameter_schema: schemaOf({
    period: periodProperty("Returns in the realised volatility", 20),
    target: positiveProperty("Volatility of the account, a fraction a year of 365 days (0.2 is 20%)", 0.2, 10),
    exposure: positiveProperty(
      "The largest holding, as a fraction of equity; below 1 leaves money for a worse open and fees",
      0.95,
      100,
    ),
    rebalance: positiveProperty("Trades when the holding is off by this fraction of equity", 0.1, 10),
  }),
  reasons: {
    long: "the position was smaller than the volatility allows",
    short: null,
    exit_long: "the position was larger than the volatility allows",
    exit_short: null,
  },
  lines(parameters, { time, close }) {
    const period = readNumber(parameters, "period");
    return [
      { name: `volatility ${period}`, pane: "volatility", values: realisedVolatility(time, close, period) },
      levelLine("target", "volatility", readNumber(parameters, "target"), close.length),
    ];
  },
  create(parameters) {
    const period = readNumber(parameters, "period");
    const target = readNumber(parameters, "target");
    const exposure = readNumber(parameters, "exposure");
    const rebalance = readNumber(parameters, "rebalance");
    if (rebalance >= exposure) {
      throw new RangeError(`rebalance must be less than exposure: ${rebalance} is not less than ${exposure}`);
    }
    const order = { ...newDraft(), sizeBy: BY_UNITS };
    let close: Float64Array = new Float64Array(0);
    let volatility = close;
    return {
      warmup: period + 1,
      prepare(candles, pool) {
        close = candles.close;
        volatility = realisedVolatility(candles.time, close, period, pool);
      },
      decide(i, { equity, quantity }, book) {
        // A market order that volume has held back is part of the last difference.
        book.cancelAll();
        const price = close[i]!;
        // Without any movement the quotient is infinite.
        const wanted = Math.min(exposure, target / volatility[i]!) * equity / price;
        const change = wanted - quantity;
        if (Math.abs(change) * price < rebalance * equity) return;
        order.side = change > 0 ? 1 : -1;
        order.size = Math.abs(change);
        order.reduceOnly = change < 0;
        book.place(order);
      },
    };
  },
};
