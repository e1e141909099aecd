import { expect } from "@std/expect";
import { decodeColumns } from "../../../db/codec/columns.ts";
import { packColumns } from "../../../db/codec/packed_columns.ts";
import { packTrades, unpackTrades } from "../../../db/codec/packed_trades.ts";
import { TRADE_COLUMNS } from "../../../db/codec/result_parts.ts";
import { run } from "../../../engine/run.ts";
import { randomRun } from "../../engine/properties/random_run.ts";
import { bytesOf } from "../../engine/properties/bytes.ts";

/** One long trade from 100.5 to 110.25 that saw 99.75 and 112, and one that is still open. */
const TRADES = {
  side: Float64Array.of(1, -1),
  quantity: Float64Array.of(3.7, 2),
  entryPrice: Float64Array.of(100.5, 110.25),
  exitPrice: Float64Array.of(110.25, NaN),
  fees: Float64Array.of(0.3, 0.1),
  pnl: Float64Array.of(1 * 3.7 * (110.25 - 100.5) - 0.3, -1.1),
  return: Float64Array.of((1 * 3.7 * (110.25 - 100.5) - 0.3) / (100.5 * 3.7), -1.1 / (110.25 * 2)),
  mae: Float64Array.of(0.75 / 100.5, 0),
  mfe: Float64Array.of(11.5 / 100.5, 0.25 / 110.25),
};

Deno.test("what follows from a trade's prices is left out, and comes back to the bit", () => {
  const packed = packTrades(TRADES);
  // The open trade's pnl is at a close that the trade does not name.
  expect(packed.pnl).toEqual(Float64Array.of(NaN, -1.1));
  expect(packed.return).toEqual(Float64Array.of(NaN, NaN));
  expect([packed.mae, packed.maeTicks]).toEqual([Float64Array.of(NaN, NaN), Float64Array.of(75, 0)]);
  expect([packed.mfe, packed.mfeTicks]).toEqual([Float64Array.of(NaN, NaN), Float64Array.of(1150, 25)]);
  expect(unpackTrades(packed)).toEqual(TRADES);
});

Deno.test("a digit that prices do not explain is kept", () => {
  const pnl = Float64Array.of(TRADES.pnl[0]! * (1 + 2 ** -52), TRADES.pnl[1]!);
  const trades = { ...TRADES, pnl, mae: Float64Array.of(1 / 3, 1 / 7) };
  expect(packTrades(trades).pnl).toEqual(pnl);
  expect(unpackTrades(packTrades(trades))).toEqual(trades);
});

Deno.test("trades that cannot be told from packed ones, and other columns, stay as they are", () => {
  const { mae: _mae, ...others } = TRADES;
  const kept = [
    { ...TRADES, return: Float64Array.of(NaN, -0.1) },
    { ...TRADES, entryPrice: Float64Array.of(100.5, 1 / 3) },
    others,
    { time: TRADES.fees },
  ];
  for (const columns of kept) {
    expect(packTrades(columns)).toBe(columns);
    expect(unpackTrades(columns)).toEqual(columns);
  }
});

Deno.test("trades of random runs come back to the bit", () => {
  let trades = 0;
  for (let n = 0; n < 100; n++) {
    const { trades: found } = run(randomRun(1, n));
    const columns = Object.fromEntries(TRADE_COLUMNS.map((name) => [name, new Float64Array(found[name])]));
    trades += found.count;
    const back = unpackTrades(decodeColumns(packColumns(packTrades(columns))));
    expect(bytesOf(TRADE_COLUMNS.map((name) => back[name]))).toBe(bytesOf(TRADE_COLUMNS.map((name) => columns[name])));
  }
  expect(trades).toBeGreaterThan(500);
});
