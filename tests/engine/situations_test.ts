/**
 * One candle, one order, one expected fill: the rules of engine/walk.ts and engine/rules/triggers.ts as a trader checks
 * them. A candle is written open high low close; the market is at 100 before it. `loss`, `target` and `trail` are the stop
 * loss, the take profit and the trailing stop's distance of the order.
 */
import { expect } from "@std/expect";
import type { ExecutionRequest } from "../../engine/execution.ts";
import { BY_UNITS, LIMIT, type OrderDraft, STOP, STOP_LIMIT } from "../../engine/strategy.ts";
import { flat, type ListedTrade, listTrades, order, type Row, runOver, script } from "./market.ts";

type Situation = readonly [order: string, candle: string, expected: string, execution?: ExecutionRequest];

const PENETRATE = { limitFill: "penetrate" } as const;
const TARGET_FIRST = { bothTouched: "target_first" } as const;
const NEAREST = { bothTouched: "nearest" } as const;
const NOT_ON_ENTRY = { entryCandleExit: false } as const;
const LIBRARY_ENTRY = { entryCandleExit: "same_direction" } as const;

/** Orders that wait for the candle; the account is flat. */
const ENTRIES: readonly Situation[] = [
  // Market orders fill at the open, whatever the candle does.
  ["buy", "101 105 95 103", "in at 101"],
  ["sell", "101 105 95 103", "in at 101"],
  // Limits: at their price, or at the open if that is better.
  ["buy limit 98", "100 101 97 99", "in at 98"],
  ["buy limit 98", "100 101 98 99", "in at 98"],
  ["buy limit 98", "100 101 98.01 99", "waits"],
  ["buy limit 98", "97 99 96 98", "in at 97"],
  ["buy limit 98", "98 99 96 98", "in at 98"],
  ["buy limit 103", "101 102 99 100", "in at 101"],
  ["buy limit 103 loss 102", "101 102 99 100", "in at 101, out at 101: stop_loss"],
  ["sell limit 102", "100 103 99 101", "in at 102"],
  ["sell limit 102", "100 102 99 101", "in at 102"],
  ["sell limit 102", "100 101.99 99 101", "waits"],
  ["sell limit 102", "104 105 103 104", "in at 104"],
  // Limits that must be traded through.
  ["buy limit 98", "100 101 98 99", "waits", PENETRATE],
  ["buy limit 98", "100 101 97.99 99", "in at 98", PENETRATE],
  ["buy limit 98", "98 99 98 99", "waits", PENETRATE],
  ["buy limit 98", "97 99 97 98", "in at 97", PENETRATE],
  ["sell limit 102", "100 102 99 101", "waits", PENETRATE],
  ["sell limit 102", "100 102.01 99 101", "in at 102", PENETRATE],
  // Stops: at their price, or at the open if that is worse.
  ["buy stop 103", "100 104 99 102", "in at 103"],
  ["buy stop 103", "100 103 99 102", "in at 103"],
  ["buy stop 103", "100 102.99 99 102", "waits"],
  ["buy stop 103", "105 106 104 105", "in at 105"],
  ["buy stop 99", "100 101 99.5 100", "in at 100"],
  ["sell stop 97", "100 101 96 98", "in at 97"],
  ["sell stop 97", "100 101 97.01 98", "waits"],
  ["sell stop 97", "95 96 94 95", "in at 95"],
  // Stop-limits: a stop that turns into a limit.
  ["buy stop 103 limit 104", "100 105 99 102", "in at 103"],
  ["buy stop 103 limit 104", "103.5 105 102 104", "in at 103.5"],
  ["buy stop 103 limit 104", "106 107 105 106", "waits"],
  ["buy stop 103 limit 104", "106 107 103 105", "in at 104"],
  ["buy stop 103 limit 102", "100 104 99 101", "waits"],
  ["sell stop 97 limit 96", "100 101 95 98", "in at 97"],
  ["sell stop 97 limit 96", "96.5 98 95 97", "in at 96.5"],
  ["sell stop 97 limit 96", "94 95 93 94", "waits"],
  ["sell stop 97 limit 96", "94 97 93 96", "in at 96"],
  // A market order fills before anything else: its stop and target see the whole candle.
  ["buy loss 95 target 110", "100 105 94 96", "in at 100, out at 95: stop_loss"],
  ["buy loss 95 target 110", "100 111 98 109", "in at 100, out at 110: take_profit"],
  ["buy loss 95 target 110", "100 111 94 105", "in at 100, out at 95: stop_loss, ambiguous"],
  ["buy loss 95 target 110", "100 111 94 105", "in at 100, out at 110: take_profit, ambiguous", TARGET_FIRST],
  ["buy loss 95 target 110", "100 105 94 96", "in at 100", NOT_ON_ENTRY],
  ["buy loss 102", "100 105 94 96", "in at 100, out at 100: stop_loss"],
  ["buy target 99", "100 105 94 96", "in at 100, out at 100: take_profit"],
  ["sell loss 105 target 90", "100 106 95 101", "in at 100, out at 105: stop_loss"],
  ["sell loss 105 target 90", "100 104 89 91", "in at 100, out at 90: take_profit"],
  // After a buy stop the high is yet to come; the low may have come before.
  ["buy stop 103 loss 99 target 108", "100 109 99.5 107", "in at 103, out at 108: take_profit"],
  ["buy stop 103 loss 99 target 108", "100 109 98 107", "in at 103, ambiguous"],
  ["buy stop 103 loss 99 target 108", "100 109 98 107", "in at 103, out at 108: take_profit, ambiguous", TARGET_FIRST],
  ["buy stop 103 loss 99", "100 105 98 101", "in at 103"],
  ["buy stop 103 loss 99", "100 105 98 98.5", "in at 103, out at 99: stop_loss"],
  ["buy stop 103 loss 99 target 108", "100 109 98 98.5", "in at 103, out at 99: stop_loss, ambiguous"],
  ["buy stop 103 loss 99", "100 105 98 98.5", "in at 103", LIBRARY_ENTRY],
  ["buy stop 103 loss 99 target 108", "100 109 99.5 107", "in at 103, out at 108: take_profit", LIBRARY_ENTRY],
  ["buy stop 103 loss 102 target 108", "105 109 101 107", "in at 105, out at 102: stop_loss, ambiguous"],
  ["buy stop 103 loss 104", "100 106 99 105", "in at 103, out at 103: stop_loss"],
  ["sell stop 97 loss 101 target 92", "100 100.5 91 93", "in at 97, out at 92: take_profit"],
  // After a buy limit the low is yet to come; the high may have come before.
  ["buy limit 98 loss 95", "100 101 94 97", "in at 98, out at 95: stop_loss"],
  ["buy limit 98 loss 95", "100 101 94 97", "in at 98", LIBRARY_ENTRY],
  ["buy limit 98 target 102", "100 103 97 101", "in at 98"],
  ["buy limit 98 target 102", "100 103 97 102", "in at 98, out at 102: take_profit"],
  ["buy limit 98 loss 95 target 102", "100 103 94 99", "in at 98, out at 95: stop_loss, ambiguous"],
  ["buy limit 98 loss 95 target 102", "100 103 94 102.5", "in at 98, out at 102: take_profit, ambiguous", TARGET_FIRST],
  ["sell limit 102 loss 105", "100 106 99 103", "in at 102, out at 105: stop_loss"],
  ["sell limit 102 target 98", "100 103 97 98", "in at 102, out at 98: take_profit"],
  // A trailing stop moves after the best price, and a close beyond it proves that it was hit on the way back.
  ["buy trail 4", "100 110 99 108", "in at 100"],
  ["buy trail 4", "100 110 99 105", "in at 100, out at 106: trailing_stop"],
  ["buy trail 4", "100 103 95 102", "in at 100, out at 96: trailing_stop"],
];

/** A long of one unit, bought at 100 the candle before. */
const LONGS: readonly Situation[] = [
  ["loss 95", "100 101 94 98", "out at 95: stop_loss"],
  ["loss 95", "100 101 95 98", "out at 95: stop_loss"],
  ["loss 95", "100 101 95.01 98", "holds"],
  ["loss 95", "93 96 92 95", "out at 93: stop_loss"],
  ["target 105", "100 106 99 101", "out at 105: take_profit"],
  ["target 105", "108 109 107 108", "out at 108: take_profit"],
  ["target 105", "100 105 99 101", "holds", PENETRATE],
  ["loss 95 target 105", "100 106 94 100", "out at 95: stop_loss, ambiguous"],
  ["loss 95 target 105", "100 106 94 100", "out at 105: take_profit, ambiguous", TARGET_FIRST],
  ["loss 95 target 105", "100 105 94 100", "out at 105: take_profit, ambiguous", NEAREST],
  ["loss 95 target 105", "100 107 95 100", "out at 95: stop_loss, ambiguous", NEAREST],
  ["loss 95 target 105", "106 107 94 100", "out at 106: take_profit"],
  ["loss 95 target 105", "94 107 93 100", "out at 94: stop_loss"],
  ["trail 4", "100 105 97 104", "holds"],
  ["trail 4", "100 105 96 104", "out at 96: trailing_stop"],
  ["trail 4", "100 106 97 101", "out at 102: trailing_stop"],
  ["trail 4 loss 98", "100 101 97.5 100", "out at 98: stop_loss"],
];

/** A short of one unit, sold at 100 the candle before. */
const SHORTS: readonly Situation[] = [
  ["loss 105", "100 106 99 102", "out at 105: stop_loss"],
  ["loss 105", "107 108 106 107", "out at 107: stop_loss"],
  ["target 95", "100 101 94 99", "out at 95: take_profit"],
  ["target 95", "92 93 91 92", "out at 92: take_profit"],
  ["loss 105 target 95", "100 106 94 100", "out at 105: stop_loss, ambiguous"],
  ["loss 105 target 95", "100 106 94 100", "out at 95: take_profit, ambiguous", TARGET_FIRST],
  ["loss 105 target 95", "94 106 93 100", "out at 94: take_profit"],
  ["trail 4", "100 103 95 97", "holds"],
  ["trail 4", "100 103 94 99", "out at 98: trailing_stop"],
];

/** Reads "buy stop 103 limit 104 loss 99": words, each but the first with a price. */
function readOrder(text: string): OrderDraft {
  const words = text.split(" ");
  const priceOf = (word: string) => words.includes(word) ? Number(words[words.indexOf(word) + 1]) : NaN;
  const limitPrice = priceOf("limit");
  const stopPrice = priceOf("stop");
  const type = words.includes("limit")
    ? words.includes("stop") ? STOP_LIMIT : LIMIT
    : words.includes("stop")
    ? STOP
    : 0;
  return order({
    side: words[0] === "sell" ? -1 : 1,
    type,
    limitPrice,
    stopPrice,
    sizeBy: BY_UNITS,
    size: 1,
    stopLoss: priceOf("loss"),
    takeProfit: priceOf("target"),
    trailDistance: priceOf("trail"),
  });
}

function readCandle(text: string): Row {
  const [open = NaN, high = NaN, low = NaN, close = NaN] = text.split(" ").map(Number);
  return [open, high, low, close];
}

function sayExit(trade: ListedTrade): string {
  return trade.exit === null ? "" : `out at ${trade.exit[1]}: ${trade.reason}`;
}

/** The fate of the only order at the end of its candle. */
function sayOutcome(rows: Row[], draft: OrderDraft, execution: ExecutionRequest, isCarried: boolean): string {
  const result = runOver(rows, script({ 0: (book) => book.place(draft) }), execution);
  const [trade, ...others] = listTrades(result);
  expect(others).toEqual([]);
  if (trade === undefined) return "waits";
  const parts = [isCarried ? "" : `in at ${trade.entry[1]}`, sayExit(trade)];
  if (isCarried && trade.exit === null) parts.push("holds");
  if (result.trades.ambiguous[0] === 1) parts.push("ambiguous");
  return parts.filter((part) => part !== "").join(", ");
}

for (const [text, candle, expected, execution = {}] of ENTRIES) {
  Deno.test(`${text} in ${candle} ${JSON.stringify(execution)}: ${expected}`, () => {
    expect(sayOutcome([...flat(100), readCandle(candle)], readOrder(text), execution, false)).toBe(expected);
  });
}

for (const [side, table] of [["buy", LONGS], ["sell", SHORTS]] as const) {
  for (const [text, candle, expected, execution = {}] of table) {
    Deno.test(`${side === "buy" ? "long" : "short"} from 100, ${text} in ${candle} ${JSON.stringify(execution)}: ${expected}`, () => {
      expect(sayOutcome([...flat(100, 100), readCandle(candle)], readOrder(`${side} ${text}`), execution, true)).toBe(
        expected,
      );
    });
  }
}
