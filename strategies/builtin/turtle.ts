import { atr } from "../../engine/indicators/atr.ts";
import { donchian, type DonchianColumns } from "../../engine/indicators/donchian.ts";
import { wilderSettlingCandles } from "../../engine/indicators/wilder.ts";
import { type Account, BY_UNITS, newDraft, type OrderBook } from "../../engine/strategy.ts";
import {
  DIRECTION,
  type Parameters,
  periodProperty,
  positiveProperty,
  readNumber,
  readShorts,
  schemaOf,
} from "./parameter_schema.ts";
import { channelLines } from "./channel_lines.ts";
import { type Builtin, type BuiltinStrategy, type DecisionRules, DEFAULT_RULES } from "./builtin.ts";
import { WaitingStop } from "./waiting_stop.ts";

/** Trades breakouts as the Turtles did: in units of equal risk, with more of them as the market moves on. */
export const turtle: Builtin = {
  slug: "turtle",
  name: "Turtle",
  description:
    "Trend following with pyramiding. While flat, stop orders wait at the edges of the entry channel. A unit risks a fixed share of equity for each average true range. Each step in its favour adds a unit, up to the largest number, and lifts the stop of all behind the newest. Leaves there, or at the other edge of the exit channel.",
  default_frequency: "DAILY",
  min_candles: 1,
  lookback_candles: 400,
  parameter_schema: schemaOf({
    entry: periodProperty("Candles of the channel whose breakout is traded", 20),
    exit: periodProperty("Candles of the channel at whose other edge all units are left", 10),
    range: periodProperty("Candles of the average true range, smoothed with Wilder's weight 1 / period", 20),
    units: { type: "integer", description: "The most units at once", default: 4, minimum: 1, maximum: 100 },
    step: positiveProperty("Average true ranges from one unit's entry to the next", 0.5, 100),
    stop: positiveProperty("Average true ranges from the newest unit's entry to the stop of all", 2, 100),
    risk: positiveProperty("Fraction of equity that a unit gains or loses for each average true range", 0.01, 1),
    exposure: positiveProperty("The largest holding, as a fraction of equity: it caps the size of a unit", 0.95, 100),
    direction: DIRECTION,
  }),
  reasons: {
    long: "the price broke above the entry channel, or moved a step further",
    short: "the price broke below the entry channel, or moved a step further",
    exit_long: "the price fell through the exit channel",
    exit_short: "the price rose through the exit channel",
  },
  lines(parameters, candles) {
    const period = readNumber(parameters, "range");
    const values = atr(candles.high, candles.low, candles.close, period);
    return [...channelLines(parameters, candles), { name: `ATR ${period}`, pane: "ATR", values }];
  },
  create: (parameters, rules = DEFAULT_RULES) => turtleStrategy(parameters, rules),
};

function turtleStrategy(parameters: Parameters, rules: DecisionRules): BuiltinStrategy {
  const number = (name: string) => readNumber(parameters, name);
  const [entryPeriod, exitPeriod, rangePeriod] = [number("entry"), number("exit"), number("range")];
  const [units, step, stop, risk, exposure] = [
    ...[number("units"), number("step"), number("stop"), number("risk"), number("exposure")] as const,
  ];
  const shorts = readShorts(parameters, rules);
  const buy = new WaitingStop({ ...newDraft(), sizeBy: BY_UNITS });
  const sell = new WaitingStop({ ...newDraft(), sizeBy: BY_UNITS, side: -1 });
  const leave = new WaitingStop({ ...newDraft(), sizeBy: BY_UNITS, reduceOnly: true });
  let entries: DonchianColumns = { upper: new Float64Array(0), lower: new Float64Array(0) };
  let exits = entries;
  let ranges = entries.upper;
  let close = ranges;
  /** The average true range of the position, as it was at its first close; NaN without one. */
  let range = NaN;
  const waitFor = (order: WaitingStop, book: OrderBook, price: number, away: number, size: number) => {
    if (order.waitsAt(book, price)) return;
    order.draft.size = size;
    order.draft.stopLoss = price - order.draft.side * stop * away;
    // Far below the market a falling range leaves no room above 0.
    if (price > 0 && order.draft.stopLoss > 0) order.wait(book, price);
    else order.withdraw(book);
  };
  const waitForBreakout = (i: number, equity: number, book: OrderBook) => {
    leave.withdraw(book);
    range = NaN;
    const [upper, lower, away] = [entries.upper[i]!, entries.lower[i]!, ranges[i]!];
    // Without any movement there is no risk to size by.
    if (!(away > 0)) return;
    const unit = Math.min(risk * equity / away, exposure * equity / (units * upper));
    waitFor(buy, book, upper, away, unit);
    if (shorts) waitFor(sell, book, lower, away, unit);
  };
  const follow = (i: number, { quantity, equity }: Account, book: OrderBook) => {
    if (Number.isNaN(range)) range = ranges[i]!;
    const [side, own, other] = quantity > 0 ? [1, buy, sell] as const : [-1, sell, buy] as const;
    other.withdraw(book);
    const newest = book.tradeEntryPrice(book.tradeAt(book.openTrades - 1));
    const stopLoss = newest - side * stop * range;
    for (let n = 0; n < book.openTrades; n++) book.protect(book.tradeAt(n), stopLoss, NaN);
    const [price, unit] = [newest + side * step * range, own.draft.size];
    // After a gap, earlier units may have cost more than their share, and the next one be due already.
    const value = (Math.abs(quantity) + unit) * Math.max(price, close[i]!);
    const isPaid = value <= Math.max(1, exposure) * equity;
    if (book.openTrades < units && isPaid) waitFor(own, book, price, range, unit);
    else own.withdraw(book);
    leave.draft.side = -side;
    leave.draft.size = Math.abs(quantity);
    leave.wait(book, side > 0 ? exits.lower[i]! : exits.upper[i]!);
  };
  return {
    warmup: Math.max(entryPeriod, exitPeriod, rangePeriod),
    lookback: Math.max(entryPeriod, exitPeriod, wilderSettlingCandles(rangePeriod)),
    prepare(candles, pool) {
      const { high, low } = candles;
      close = candles.close;
      entries = donchian(high, low, entryPeriod, pool);
      exits = donchian(high, low, exitPeriod, pool);
      ranges = atr(high, low, close, rangePeriod, pool);
      for (const order of [buy, sell, leave]) order.forget();
    },
    decide(i, account, book) {
      if (account.quantity === 0) waitForBreakout(i, account.equity, book);
      else follow(i, account, book);
    },
  };
}
