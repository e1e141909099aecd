import { expect } from "@std/expect";
import { resolveExecution } from "../../../engine/execution.ts";
import { run } from "../../../engine/run.ts";
import { EXIT_REASONS } from "../../../engine/trade_columns.ts";
import { openingRangeBreakout } from "../../../strategies/builtin/opening_range_breakout.ts";
import { candlesOf, parametersOf, type Row } from "./play.ts";

const HOUR = 3_600_000;
const QUIET: readonly Row[] = Array(10).fill([10, 10, 10, 10]);
/** The range of two candles is 9 to 12. */
const OPEN: readonly Row[] = [[10, 11, 9, 10], [10, 12, 10, 11]];

/** Sides, entries and exits, in trading days of five candles; two quiet days come before the rows. */
function trades(rows: readonly Row[], parameters: Readonly<Record<string, unknown>> = {}, quiet = QUIET) {
  const candles = candlesOf([...quiet, ...rows]);
  const ends = Int32Array.of(5, 10, 15, 20);
  const { trades: { count, side, entryTime, entryPrice, exitTime, exitPrice, exitReason } } = run({
    candles,
    firstIndex: 0,
    timeframeMs: HOUR,
    tradingDays: { ends, dates: Float64Array.from(ends) },
    initialBalance: 1000,
    execution: resolveExecution({}, "stock"),
    strategy: openingRangeBreakout.create(parametersOf(openingRangeBreakout, parameters)),
    control: null,
  });
  return Array.from({ length: count }, (_, k) => [
    ...[side[k], entryTime[k]! / HOUR, entryPrice[k], exitTime[k]! / HOUR, exitPrice[k]],
    EXIT_REASONS[exitReason[k]!],
  ]);
}

Deno.test("opening-range-breakout buys above the range and leaves at the open of the day's last candle", () => {
  const rows: Row[] = [...OPEN, [11, 13, 11, 12.5], [12.5, 14, 12, 13.5], [13.4, 14, 13, 14]];
  expect(trades(rows)).toEqual([[1, 12, 12, 14, 13.4, "signal"]]);
  // 12 x 1.1 = 13.2.
  expect(trades(rows, { takeProfitLevel: 0.1 })).toEqual([[1, 12, 12, 13, 13.200000000000001, "take_profit"]]);
});

Deno.test("opening-range-breakout stops at the other edge, and does not turn there", () => {
  const rows: Row[] = [...OPEN, [11, 13, 11, 12.5], [12.5, 12.6, 8, 8.5], [8.5, 9, 8, 8]];
  expect(trades(rows)).toEqual([[1, 12, 12, 13, 9, "stop_loss"]]);
});

Deno.test("opening-range-breakout sells below the range, unless it is long only", () => {
  const rows: Row[] = [...OPEN, [11, 11, 8, 8.5], [8.5, 8.6, 8, 8], [7.5, 8, 7, 7]];
  expect(trades(rows)).toEqual([[-1, 12, 9, 14, 7.5, "signal"]]);
  expect(trades(rows, { direction: "long" })).toEqual([]);
});

Deno.test("opening-range-breakout places nothing late in the day, and leaves on the next one where a day's length is unknown", () => {
  // The order of candle 1 is withdrawn at the close of candle 3, so the last candle's high of 20 fills nothing.
  const still: Row[] = [...OPEN, [11, 11.5, 10, 11], [11, 11.5, 10, 11], [11, 20, 11, 20]];
  expect(trades(still)).toEqual([]);
  // As the first day of the data: bought at 12, held over the end of the day, sold after the next day's first candle.
  const first: Row[] = [...OPEN, [11, 13, 11, 12.5], [12.5, 14, 12, 13.5], [13.4, 14, 13, 14]];
  expect(trades([...first, [14, 14, 14, 14], [15, 15, 15, 15]], {}, [])).toEqual([[1, 2, 12, 6, 15, "signal"]]);
});
