import { expect } from "@std/expect";
import { donchianBreakout } from "../../../strategies/builtin/donchian_breakout.ts";
import { resolveExecution } from "../../../engine/execution.ts";
import { run } from "../../../engine/run.ts";
import { checkOrders } from "../../../workers/sandbox/integrity.ts";
import { candlesOf, parametersOf, play, type Row } from "./play.ts";

const ROWS: readonly Row[] = [
  [10, 11, 9, 10],
  [10, 12, 9.5, 11],
  [11, 11.5, 10, 11], // The channel of three: 12 to 9. Stops wait there.
  [11, 11.8, 10.5, 11.5], // Untouched. 12 to 9.5.
  [11.6, 13, 11.4, 12.8], // Buys at 12. The exit channel of two: from 10.5.
  [13, 14, 12.5, 13.5], // From 11.4.
  [13.5, 13.6, 11, 11.2], // Sold at 11.4. Flat: 14 to 11.
  [11.2, 11.3, 10, 10.1], // Sells short at 11. The exit channel: to 13.6.
  [14, 14.5, 13.8, 14], // Opens beyond it: covered at 14.
];
const CHANNELS = { entry: 3, exit: 2 };

Deno.test("donchian-breakout enters and leaves by stops at the edges of its channels, at the open after a gap", () => {
  expect(play(donchianBreakout, ROWS, CHANNELS)).toEqual([
    { side: "long", quantity: 1, entry: [4, 12], exit: [6, 11.4, "signal"], pnl: -0.6 },
    { side: "short", quantity: 1, entry: [7, 11], exit: [8, 14, "signal"], pnl: -3 },
  ]);
});

Deno.test("donchian-breakout with direction long ignores the break below", () => {
  // After candle 6 the buy stop waits at 14, after candle 7 at max(14, 13.6, 11.3) = 13.6... the last candle opens at 14.
  expect(play(donchianBreakout, ROWS, { ...CHANNELS, direction: "long" })).toEqual([
    { side: "long", quantity: 1, entry: [4, 12], exit: [6, 11.4, "signal"], pnl: -0.6 },
    { side: "long", quantity: 1, entry: [8, 14], exit: null, pnl: 0 },
  ]);
});

Deno.test("donchian-breakout attaches a stop loss to its entry", () => {
  // 12 x 0.96 = 11.52 is reached before the channel's 11.4.
  expect(play(donchianBreakout, ROWS.slice(0, 7), { ...CHANNELS, direction: "long", stopLossLevel: 0.04 })).toEqual([
    { side: "long", quantity: 1, entry: [4, 12], exit: [6, 11.52, "stop_loss"], pnl: -0.48 },
  ]);
});

Deno.test("donchian-breakout has no order refused, neither after a gap through both stops nor where shorts are forbidden", () => {
  // Bought at 12 with a stop loss at 11.52. Candle 5 opens below it and below the exit channel's 10.5.
  const gap: Row[] = [...ROWS.slice(0, 5), [10, 10.2, 9.8, 10], [10, 10.2, 8, 8.5], [8.5, 8.6, 8, 8]];
  for (const settings of [{}, { allowShort: false }]) {
    const execution = resolveExecution({ sizing: { type: "units", value: 1 }, ...settings }, "crypto");
    const result = run({
      candles: candlesOf(gap),
      firstIndex: 0,
      timeframeMs: 3_600_000,
      initialBalance: 1000,
      execution,
      strategy: donchianBreakout.create(
        parametersOf(donchianBreakout, { ...CHANNELS, stopLossLevel: 0.04 }),
        execution,
      ),
      control: null,
    });
    expect(result.trades.count).toBe(settings.allowShort === false ? 1 : 2);
    expect(checkOrders(result).status).toBe("passed");
  }
});
