/** The effects of a module's rows. Candles open where the last one closed and reach half a unit beyond both. */
import { expect } from "@std/expect";
import { LIMIT, MARKET, STOP, STOP_LIMIT } from "../../../../engine/strategy.ts";
import { codeOf } from "./guests.ts";
import { play, type Row } from "../puppet.ts";

const buy: Row = { side: 1, sizeBy: 1, size: 2 };

Deno.test("a market order is filled at the next open, with its tag, and shown as a trade at the close after", () => {
  const { result, seen } = play([[{ ...buy, tagPointer: 256, tagBytes: 4 }]], [10, 11, 12], "grün");
  expect(result.trades.count).toBe(1);
  // The first three letters of the text have four bytes: ü has two.
  expect([result.trades.entryPrice[0], result.trades.quantity[0], result.trades.tag[0]]).toEqual([10, 2, "grü"]);
  expect(seen.map(({ results }) => results)).toEqual([[], [0], []]);
  expect(seen[0]!.trades).toEqual([]);
  expect(seen[1]!.trades).toEqual([{ number: seen[1]!.trades[0]!.number, quantity: 2, entryPrice: 10 }]);
});

Deno.test("orders of every type arrive with their prices and are listed as working until they end", () => {
  const rows: Row[] = [
    { ...buy, type: LIMIT, limitPrice: 5, candlesMax: 1 },
    { ...buy, type: STOP, stopPrice: 50 },
    { side: -1, sizeBy: 2, size: 0.25, type: STOP_LIMIT, stopPrice: 6, limitPrice: 5.5 },
  ];
  const { result, seen } = play([rows], [10, 10, 10]);
  expect([...result.orders.type]).toEqual([LIMIT, STOP, STOP_LIMIT]);
  expect([...result.orders.limitPrice]).toEqual([5, NaN, 5.5]);
  expect([...result.orders.stopPrice]).toEqual([NaN, 50, 6]);
  expect(seen[1]!.results).toEqual([0, 1, 2]);
  expect(seen[0]!.working).toEqual([]);
  // The first order works for one candle after the one that placed it.
  expect(seen[2]!.working).toEqual([1, 2]);
});

Deno.test("an order is cancelled and replaced by its number; for an ended order the results are 0 and -1", () => {
  const wait: Row = { ...buy, type: LIMIT, limitPrice: 5 };
  const { seen, result } = play([
    [wait, wait],
    [{ action: "cancel", target: 0 }, { ...wait, action: "replace", target: 1, limitPrice: 6 }],
    [{ action: "cancel", target: 0 }, { ...wait, action: "replace", target: 1 }, { action: "cancel", target: -7 }],
    [{ action: "cancelAll" }],
    [],
  ], [10, 10, 10, 10, 10]);
  expect(seen.map(({ results }) => results)).toEqual([[], [0, 1], [1, 2], [0, -1, 0], [0]]);
  expect(seen.map(({ working }) => working)).toEqual([[], [0, 1], [2], [2], []]);
  expect(result.trades.count).toBe(0);
});

Deno.test("a part of a trade is closed by its number; a closed trade cannot be", () => {
  const { result, seen } = play([
    [buy],
    [{ action: "closeTrade", target: 0, size: 0.5 }, { action: "closeTrade", target: 9, size: 1 }],
    [{ action: "close", size: 1 }],
    [],
  ], [10, 10, 12, 12]);
  expect(seen[1]!.trades[0]!.number).toBe(0);
  expect(seen[2]!.results).toEqual([1, -1]);
  expect(seen[2]!.trades[0]!.quantity).toBe(1);
  expect(seen[3]!.trades).toEqual([]);
  // Half of it at the open of candle 2, which is 10; the rest at the open of candle 3, which is 12.
  expect([...result.trades.exitPrice]).toEqual([10, 12]);
  expect([...result.trades.pnl]).toEqual([0, 2]);
});

Deno.test("an open trade's stop loss and take profit are set by its number", () => {
  const { result, seen } = play([
    [{ ...buy, stopLoss: 1 }],
    [{ action: "protect", target: 0, takeProfit: 12 }, { action: "protect", target: 5, takeProfit: 12 }],
    [],
  ], [10, 10, 13]);
  expect(seen[2]!.results).toEqual([1, 0]);
  expect([...result.trades.exitPrice]).toEqual([12]);
});

Deno.test("stops, trailing stops and time stops of an order apply to its trade", () => {
  const exits = (row: Row, closes: number[]) => {
    const { trades } = play([[{ ...buy, ...row }]], closes).result;
    return [...trades.exitPrice];
  };
  // Bought at 10. A stop loss of 10% is at 9; candle 2 falls from 10 to 8.
  expect(exits({ stopLossFraction: 0.1 }, [10, 10, 8])).toEqual([9]);
  // A take profit of 20% is at 12; candle 2 rises from 10 to 13.
  expect(exits({ takeProfitFraction: 0.2 }, [10, 10, 13])).toEqual([12]);
  // Candle 2 reaches 13.5, so a stop 2 behind is at 11.5; candle 3 falls from 13 to 11.
  expect(exits({ trailDistance: 2 }, [10, 10, 13, 11])).toEqual([11.5]);
  // Held for candles 1 and 2, closed at the open of candle 3.
  expect(exits({ timeStopCandles: 2 }, [10, 10, 11, 12])).toEqual([11]);
});

Deno.test("0 and -0 mean none", () => {
  const { result } = play([[{ ...buy, stopLoss: -0, takeProfit: 0, trailDistance: -0, limitPrice: -0 }]], [10, 11, 12]);
  expect([...result.orders.type]).toEqual([MARKET]);
  expect([...result.orders.limitPrice]).toEqual([NaN]);
  expect(result.trades.exitPrice[0]).toBe(NaN);
});

Deno.test("the simulator refuses a valid order that it cannot place, closes nothing while flat, and the run goes on", () => {
  const { result, seen } = play([
    [{ ...buy, size: -2 }, { ...buy, type: LIMIT, limitPrice: -1 }, { ...buy, type: STOP }, {
      action: "close",
      size: 1,
    }],
    [buy],
    [],
  ], [10, 10, 10]);
  expect(seen[1]!.results).toEqual([-1, -1, -1, -1]);
  expect(result.metrics.rejected_orders).toBe(3);
  expect(result.trades.count).toBe(1);
});

const UNUSABLE: readonly (readonly [row: Row, reason: string])[] = [
  [{ ...buy, action: 0 }, "action is 0: it must be 1 to 7"],
  [{ ...buy, action: 8 }, "action is 8"],
  [{ ...buy, action: -1 }, "action is -1"],
  [{ ...buy, side: 0 }, "side is 0: it must be 1 or -1"],
  [{ ...buy, side: 2 }, "side is 2"],
  [{ ...buy, type: 4 }, "type is 4: it must be 0 to 3"],
  [{ ...buy, type: -2_147_483_648 }, "type is -2147483648"],
  [{ ...buy, sizeBy: 5 }, "size_by is 5: it must be 0 to 4"],
  [{ ...buy, size: NaN }, "size is NaN"],
  [{ ...buy, size: Infinity }, "size is Infinity"],
  [{ ...buy, limitPrice: NaN }, "limit_price is NaN"],
  [{ ...buy, stopPrice: -Infinity }, "stop_price is -Infinity"],
  [{ ...buy, stopLoss: NaN }, "stop_loss is NaN"],
  [{ ...buy, takeProfit: Infinity }, "take_profit is Infinity"],
  [{ ...buy, stopLossFraction: NaN }, "stop_loss_fraction is NaN"],
  [{ ...buy, takeProfitFraction: NaN }, "take_profit_fraction is NaN"],
  [{ ...buy, trailDistance: Infinity }, "trail_distance is Infinity"],
  [{ ...buy, trailFraction: NaN }, "trail_fraction is NaN"],
  [{ ...buy, flags: 2 }, "flags is 2: only bit 0 has a meaning"],
  [{ ...buy, tagPointer: 256, tagBytes: 65 }, "tag_len is 65: it must be at most 64"],
  [{ ...buy, tagPointer: 256, tagBytes: -1 }, "tag_len is 4294967295"],
  [{ ...buy, tagPointer: 2_147_483_647, tagBytes: 1 }, "tag_ptr is 2147483647, outside the memory"],
  [{ ...buy, tagPointer: -1, tagBytes: 1 }, "tag_ptr is 4294967295, outside the memory"],
  [{ ...buy, tagPointer: 258, tagBytes: 1 }, "the tag is not UTF-8"],
  [{ action: "close", size: 0 }, "size is 0: the fraction to close must be above 0 and at most 1"],
  [{ action: "close", size: 1.5 }, "size is 1.5"],
  [{ action: "closeTrade", size: NaN }, "size is NaN"],
  [{ action: "protect", stopLoss: NaN }, "stop_loss is NaN"],
];

Deno.test("an invalid row ends the run with INVALID_SIGNAL, the candle, the row and the value", () => {
  for (const [row, reason] of UNUSABLE) {
    // The text's third byte is the second half of a letter.
    const attempt = () => play([[], [{ ...buy }, row]], [10, 11, 12], "aüz");
    expect(attempt).toThrow(`Cannot take order 1 of candle 1 (2024-01-02T00:00:00.000Z): ${reason}`);
    expect(codeOf(attempt)).toBe("INVALID_SIGNAL");
  }
});
