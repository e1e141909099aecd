import { donchian, type DonchianColumns } from "../../engine/indicators/donchian.ts";
import { BY_UNITS, newDraft, type Strategy } from "../../engine/strategy.ts";
import {
  entryDraft,
  entrySchema,
  type Parameters,
  periodProperty,
  readNumber,
  readShorts,
} from "./parameter_schema.ts";
import { type Builtin, type DecisionRules, DEFAULT_RULES } from "./builtin.ts";
import { channelLines } from "./channel_lines.ts";
import { WaitingStop } from "./waiting_stop.ts";

/** Trades breakouts of the price channel with stop orders that wait at its edges. */
export const donchianBreakout: Builtin = {
  slug: "donchian-breakout",
  name: "Donchian Breakout",
  description:
    "Trend following, the Turtles' rule. While flat, a buy stop waits at the highest high of the entry channel and (both directions) a sell stop at its lowest low; once in, a stop at the other edge of the shorter exit channel follows the price. Many small losses, few large gains.",
  default_frequency: "DAILY",
  min_candles: 1,
  lookback_candles: 20,
  parameter_schema: entrySchema({
    entry: periodProperty("Candles of the channel whose breakout is traded", 20),
    exit: periodProperty("Candles of the channel at whose other edge a position is left", 10),
  }),
  reasons: {
    long: "the price broke above the entry channel",
    short: "the price broke below the entry channel",
    exit_long: "the price fell through the exit channel",
    exit_short: "the price rose through the exit channel",
  },
  lines: (parameters, candles) => channelLines(parameters, candles),
  create: (parameters, rules = DEFAULT_RULES) => breakoutStrategy(parameters, rules),
};

function breakoutStrategy(parameters: Parameters, rules: DecisionRules): Strategy {
  const entryPeriod = readNumber(parameters, "entry");
  const exitPeriod = readNumber(parameters, "exit");
  const shorts = readShorts(parameters, rules);
  const buy = new WaitingStop({ ...entryDraft(parameters), side: 1 });
  const sell = new WaitingStop({ ...entryDraft(parameters), side: -1 });
  const leave = new WaitingStop({ ...newDraft(), sizeBy: BY_UNITS, reduceOnly: true });
  let entries: DonchianColumns = { upper: new Float64Array(0), lower: new Float64Array(0) };
  let exits = entries;
  return {
    warmup: Math.max(entryPeriod, exitPeriod),
    prepare({ high, low }, pool) {
      entries = donchian(high, low, entryPeriod, pool);
      exits = donchian(high, low, exitPeriod, pool);
      for (const stop of [buy, sell, leave]) stop.forget();
    },
    decide(i, account, book) {
      if (account.quantity === 0) {
        leave.withdraw(book);
        buy.wait(book, entries.upper[i]!);
        if (shorts) sell.wait(book, entries.lower[i]!);
      } else {
        buy.withdraw(book);
        sell.withdraw(book);
        leave.draft.side = account.quantity > 0 ? -1 : 1;
        leave.draft.size = Math.abs(account.quantity);
        leave.wait(book, account.quantity > 0 ? exits.lower[i]! : exits.upper[i]!);
      }
    },
  };
}
