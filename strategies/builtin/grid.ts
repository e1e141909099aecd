import { BY_UNITS, LIMIT, newDraft, REFUSED, type Strategy } from "../../engine/strategy.ts";
import { type Parameters, positiveProperty, readNumber, schemaOf } from "./parameter_schema.ts";
import type { Builtin } from "./builtin.ts";

/** Buys at evenly spaced prices below the start, and sells each purchase one step higher. */
export const grid: Builtin = {
  slug: "grid",
  name: "Grid",
  description:
    "Range trading. From the first close down, buy limits wait at evenly spaced prices; each purchase is sold once it has gained that spacing, after which its limit waits again. It earns from swings. When the market falls below the grid, it holds everything it bought; the floor ends it there.",
  default_frequency: "HOURLY",
  min_candles: 1,
  lookback_candles: 1,
  parameter_schema: schemaOf({
    levels: { type: "integer", description: "Prices at which it buys", default: 10, minimum: 1, maximum: 100 },
    spacing: positiveProperty(
      "From one level to the next, as a fraction of the first close (0.01 is 1%); also each trade's gain",
      0.01,
      0.5,
    ),
    fraction: positiveProperty(
      "Share of the initial balance that all levels together may spend; the rest pays fees",
      0.95,
      1,
    ),
    floor: {
      type: "number",
      description:
        "Sells everything and ends the grid once the close is this far below the first one, as a fraction of it; 0: never",
      default: 0,
      minimum: 0,
      maximum: 1,
    },
  }),
  reasons: {
    long: "the price fell to a level of the grid",
    short: null,
    exit_long: "the close fell below the floor",
    exit_short: null,
  },
  create(parameters) {
    const levels = readNumber(parameters, "levels");
    const spacing = readNumber(parameters, "spacing");
    if (levels * spacing >= 1) {
      throw new RangeError(
        `levels x spacing must be less than 1, so that the lowest price is above 0: it is ${levels} x ${spacing}`,
      );
    }
    return gridStrategy(parameters, levels, spacing);
  },
};

function gridStrategy(parameters: Parameters, levels: number, spacing: number): Strategy {
  const fraction = readNumber(parameters, "fraction");
  const floor = readNumber(parameters, "floor");
  const purchase = { ...newDraft(), type: LIMIT, sizeBy: BY_UNITS, takeProfitFraction: spacing };
  const orders = new Int32Array(levels).fill(REFUSED);
  let close: Float64Array = new Float64Array(0);
  let start = NaN;
  let ended = false;
  return {
    warmup: 1,
    prepare(candles) {
      close = candles.close;
      orders.fill(REFUSED);
      start = NaN;
      ended = false;
    },
    decide(i, account, book) {
      if (ended) return;
      if (Number.isNaN(start)) start = close[i]!;
      if (floor > 0 && close[i]! <= start * (1 - floor)) {
        ended = true;
        book.cancelAll();
        if (account.quantity > 0) book.close(1, "floor");
        return;
      }
      // A lower purchase has a lower target and is sold first. So open trades fill the grid from the top, and the levels
      // below them must have waiting orders.
      const held = book.openTrades;
      if (held + book.workingOrders >= levels) return;
      for (let level = held; level < levels; level++) {
        if (orders[level] !== REFUSED && book.isWorking(orders[level]!)) continue;
        purchase.limitPrice = start * (1 - spacing * (level + 1));
        purchase.size = account.initialBalance * fraction / levels / purchase.limitPrice;
        orders[level] = book.place(purchase);
      }
    },
  };
}
