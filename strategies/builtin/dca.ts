import { BY_CASH } from "../../engine/strategy.ts";
import {
  entryDraft,
  periodProperty,
  positiveProperty,
  readNumber,
  schemaOf,
  TAKE_PROFIT_LEVEL,
} from "./parameter_schema.ts";
import type { Builtin } from "./builtin.ts";

/** A rest of money below this share of a purchase gives no order. */
const REMAINDER_MIN = 0.01;

/** Buys for the same amount at fixed intervals, whatever the price. */
export const dca: Builtin = {
  slug: "dca",
  name: "Dollar-Cost Averaging",
  description:
    "Accumulation. Buys for the same amount of money at fixed intervals, whatever the price, until the cash is spent; the last purchase spends the rest. Each purchase is a trade of its own, held to the end or to its take profit.",
  default_frequency: "DAILY",
  min_candles: 1,
  lookback_candles: 1,
  parameter_schema: schemaOf({
    interval: periodProperty("Candles from one purchase to the next", 7),
    fraction: positiveProperty("Money of each purchase, as a fraction of the initial balance (0.05 is 5%)", 0.05, 1),
    takeProfitLevel: TAKE_PROFIT_LEVEL,
  }),
  reasons: {
    long: "it was time for the next purchase",
    short: null,
    exit_long: null,
    exit_short: null,
  },
  create(parameters) {
    const interval = readNumber(parameters, "interval");
    const fraction = readNumber(parameters, "fraction");
    const purchase = { ...entryDraft(parameters), sizeBy: BY_CASH };
    let next = 0;
    return {
      warmup: 1,
      prepare() {
        next = 0;
      },
      decide(i, account, book) {
        if (i < next) return;
        next = i + interval;
        const amount = account.initialBalance * fraction;
        if (account.cash < amount * REMAINDER_MIN) return;
        purchase.size = Math.min(amount, account.cash);
        book.place(purchase);
      },
    };
  },
};
