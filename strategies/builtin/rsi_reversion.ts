import { rsi } from "../../engine/indicators/rsi.ts";
import { wilderSettlingCandles } from "../../engine/indicators/wilder.ts";
import { entryDraft, entrySchema, levelProperty, periodProperty, readNumber, readShorts } from "./parameter_schema.ts";
import { type Builtin, DEFAULT_RULES, levelLine } from "./builtin.ts";

/** Buys weakness and sells strength, as Wilder's RSI measures them. */
export const rsiReversion: Builtin = {
  slug: "rsi-reversion",
  name: "RSI Reversion",
  description:
    "Mean reversion. Buys when the RSI falls below the oversold level and leaves once it is back at the exit level; goes short when it rises above the overbought level, and covers likewise. Expects moves to overshoot, so it suffers in a strong trend: consider a stop loss.",
  default_frequency: "DAILY",
  min_candles: 3,
  lookback_candles: 280,
  parameter_schema: entrySchema({
    period: periodProperty(
      "Changes of the close in the RSI, smoothed with Wilder's weight 1 / period, starting at their simple mean",
      14,
    ),
    oversold: levelProperty("Buys when the RSI falls below this", 30),
    overbought: levelProperty("Goes short when the RSI rises above this", 70),
    exit: levelProperty("Leaves a position when the RSI is back at this", 50),
  }),
  reasons: {
    long: "the RSI fell below oversold",
    short: "the RSI rose above overbought",
    exit_long: "the RSI rose to its exit",
    exit_short: "the RSI fell to its exit",
  },
  lines(parameters, { close }) {
    const period = readNumber(parameters, "period");
    const levels = ["oversold", "exit", "overbought"];
    return [
      { name: `RSI ${period}`, pane: "RSI", values: rsi(close, period) },
      ...levels.map((name) => levelLine(name, "RSI", readNumber(parameters, name), close.length)),
    ];
  },
  create(parameters, rules = DEFAULT_RULES) {
    const period = readNumber(parameters, "period");
    const oversold = readNumber(parameters, "oversold");
    const overbought = readNumber(parameters, "overbought");
    const exit = readNumber(parameters, "exit");
    if (!(oversold <= exit && exit <= overbought)) {
      throw new RangeError(
        `exit must lie between oversold and overbought: ${exit} is not between ${oversold} and ${overbought}`,
      );
    }
    const shorts = readShorts(parameters, rules);
    const entry = entryDraft(parameters);
    let strength: Float64Array = new Float64Array(0);
    const falls = (i: number) => strength[i - 1]! >= oversold && strength[i]! < oversold;
    const rises = (i: number) => shorts && strength[i - 1]! <= overbought && strength[i]! > overbought;
    return {
      warmup: period + 2,
      lookback: wilderSettlingCandles(period),
      prepare(candles, pool) {
        strength = rsi(candles.close, period, pool);
      },
      nextDecision(i, { quantity }) {
        const count = strength.length;
        // The levels have an order: an entry against the position lies beyond the exit.
        if (quantity > 0) { while (i < count && !(strength[i]! >= exit)) i++; }
        else if (quantity < 0) { while (i < count && !(strength[i]! <= exit)) i++; }
        else while (i < count && !falls(i) && !rises(i)) i++;
        return i;
      },
      decide(i, account, book) {
        const now = strength[i]!;
        if (account.quantity <= 0 && falls(i)) {
          entry.side = 1;
          book.place(entry);
        } else if (account.quantity >= 0 && rises(i)) {
          entry.side = -1;
          book.place(entry);
        } else if ((account.quantity > 0 && now >= exit) || (account.quantity < 0 && now <= exit)) {
          // Repeated at each close until flat: volume may have held back part of the entry or of the last exit.
          book.cancelAll();
          book.close(1, null);
        }
      },
    };
  },
};
