import { bollinger } from "../../engine/indicators/bollinger.ts";
import {
  DIRECTION,
  entryDraft,
  periodProperty,
  readNumber,
  readShorts,
  STOP_LOSS_LEVEL,
  TAKE_PROFIT_LEVEL,
} from "./parameter_schema.ts";
import { type Builtin, DEFAULT_RULES, priceLine } from "./builtin.ts";

/** Expects closes outside the Bollinger bands to return to their mean. */
export const bollingerReversion: Builtin = {
  slug: "bollinger-reversion",
  name: "Bollinger Reversion",
  description:
    "Mean reversion. Buys when the close falls through the lower Bollinger band and leaves once it is back at the middle one; goes short when it rises through the upper band, and covers likewise. In a crash the bands widen and the strategy keeps buying: consider a stop loss.",
  default_frequency: "DAILY",
  min_candles: 3,
  lookback_candles: 21,
  default_config: {},
  parameter_schema: {
    type: "object",
    properties: {
      period: periodProperty(
        "Candles of the simple average and of the standard deviation (of a population, as Bollinger has it)",
        20,
        2,
      ),
      width: {
        type: "number",
        description: "Standard deviations from the middle to a band",
        default: 2,
        exclusiveMinimum: 0,
        maximum: 10,
      },
      direction: DIRECTION,
      takeProfitLevel: TAKE_PROFIT_LEVEL,
      stopLossLevel: STOP_LOSS_LEVEL,
    },
    additionalProperties: false,
  },
  reasons: {
    long: "the close fell below the lower band",
    short: "the close rose above the upper band",
    exit_long: "the close came back to the middle band",
    exit_short: "the close came back to the middle band",
  },
  lines(parameters, { close }) {
    const { upper, middle, lower } = bollinger(
      close,
      readNumber(parameters, "period"),
      readNumber(parameters, "width"),
    );
    return [priceLine("upper band", upper), priceLine("middle band", middle), priceLine("lower band", lower)];
  },
  create(parameters, rules = DEFAULT_RULES) {
    const period = readNumber(parameters, "period");
    const width = readNumber(parameters, "width");
    const shorts = readShorts(parameters, rules);
    const entry = entryDraft(parameters);
    let close: Float64Array = new Float64Array(0);
    let { upper, middle, lower } = bollinger(close, period, width);
    return {
      warmup: period + 1,
      prepare(candles, pool) {
        close = candles.close;
        ({ upper, middle, lower } = bollinger(close, period, width, pool));
      },
      decide(i, account, book) {
        if (account.quantity <= 0 && close[i - 1]! >= lower[i - 1]! && close[i]! < lower[i]!) {
          entry.side = 1;
          book.place(entry);
        } else if (shorts && account.quantity >= 0 && close[i - 1]! <= upper[i - 1]! && close[i]! > upper[i]!) {
          entry.side = -1;
          book.place(entry);
        } else if (
          (account.quantity > 0 && close[i]! >= middle[i]!) || (account.quantity < 0 && close[i]! <= middle[i]!)
        ) {
          // Repeated at each close until flat: volume may have held back part of the entry or of the last exit.
          book.cancelAll();
          book.close(1, null);
        }
      },
    };
  },
};
