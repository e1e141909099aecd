import { expect } from "@std/expect";
import { turtle } from "../../../strategies/builtin/turtle.ts";
import { resolveExecution } from "../../../engine/execution.ts";
import { run } from "../../../engine/run.ts";
import { checkOrders } from "../../../workers/sandbox/integrity.ts";
import { candlesOf, parametersOf, play, type Row } from "./play.ts";

const SETTINGS = { entry: 2, exit: 2, range: 1, units: 2, step: 1, direction: "long" };

Deno.test("turtle buys a unit at the breakout, another a range further, and leaves both at the exit channel", () => {
  const rows: Row[] = [
    [10, 11, 9, 10],
    [10, 11, 9, 10], // The channel is 9 to 11, the range 2: a unit is 1% of 1000 / 2 = 5.
    [10, 12, 10, 12], // Buys at 11. The next unit waits at 13.
    [12, 14, 12, 14], // Buys at 13.
    [14, 15, 13, 14], // Two units are all. The exit channel: 12.
    [14, 14, 11, 11.5], // Sold at 12.
  ];
  expect(play(turtle, rows, SETTINGS)).toEqual([
    { side: "long", quantity: 5, entry: [2, 11], exit: [5, 12, "signal"], pnl: 5 },
    { side: "long", quantity: 5, entry: [3, 13], exit: [5, 12, "signal"], pnl: -5 },
  ]);
  expect(play(turtle, rows, { ...SETTINGS, units: 1 })).toMatchObject([{ quantity: 5, entry: [2, 11] }]);
});

Deno.test("turtle lifts the stop of all units with the newest one", () => {
  const rows: Row[] = [
    [10, 11, 9, 10],
    [10, 11, 9, 10],
    [10.6, 12, 10.5, 12], // Buys at 11, with its stop at 11 - 0.5 x 2 = 10.
    [12.5, 14, 12.5, 14], // Buys at 13: the stop of both is 12.
    [14, 14, 11.5, 12],
  ];
  expect(play(turtle, rows, { ...SETTINGS, stop: 0.5 })).toEqual([
    { side: "long", quantity: 5, entry: [2, 11], exit: [4, 12, "stop_loss"], pnl: 5 },
    { side: "long", quantity: 5, entry: [3, 13], exit: [4, 12, "stop_loss"], pnl: -5 },
  ]);
});

Deno.test("turtle goes short below the channel, and caps a unit by its share of the exposure", () => {
  const rows: Row[] = [[10, 11, 9, 10], [10, 11, 9, 10], [10, 10, 8, 8], [8, 8, 8, 8]];
  expect(play(turtle, rows, { ...SETTINGS, direction: "both" })).toEqual([
    { side: "short", quantity: 5, entry: [2, 9], exit: null, pnl: 5 },
  ]);
  // A half of 2.2% of 1000, at a price of 11: one unit.
  expect(play(turtle, rows, { ...SETTINGS, direction: "both", exposure: 0.022 })).toMatchObject([{ quantity: 1 }]);
});

Deno.test("turtle asks for no unit that the account cannot pay", () => {
  // Half of 1000 at 11 are 45.45 units. At 13 twice as many cost 1182, and equity is 1045 at the close of 12.
  const rows: Row[] = [[10, 11, 9, 10], [10, 11, 9, 10], [10, 12, 10, 12], [12, 14, 12, 14], [14, 15, 13, 14]];
  const result = run({
    candles: candlesOf(rows),
    firstIndex: 0,
    timeframeMs: 3_600_000,
    initialBalance: 1000,
    execution: resolveExecution({}, "crypto"),
    strategy: turtle.create(parametersOf(turtle, { ...SETTINGS, risk: 0.1, exposure: 1 })),
    control: null,
  });
  expect(result.trades.count).toBe(1);
  expect(checkOrders(result).status).toBe("passed");
});
