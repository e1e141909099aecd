import { newDraft } from "../../engine/strategy.ts";
import type { Builtin } from "./builtin.ts";
import { schemaOf } from "./parameter_schema.ts";

/** Buys once, at the first decision, and never sells: the benchmark of every other strategy. */
export const buyAndHold: Builtin = {
  slug: "buy-and-hold",
  name: "Buy and Hold",
  description: "Buys with all equity at the start and holds to the end. The benchmark for every other strategy.",
  default_frequency: "DAILY",
  min_candles: 1,
  lookback_candles: 0,
  parameter_schema: schemaOf({}),
  reasons: {
    long: "the range began",
    short: null,
    exit_long: null,
    exit_short: null,
  },
  create() {
    const order = newDraft();
    let hasOrdered = false;
    return {
      warmup: 1,
      prepare() {
        hasOrdered = false;
      },
      decide(_i, _account, book) {
        if (hasOrdered) return;
        hasOrdered = true;
        book.place(order);
      },
    };
  },
};
