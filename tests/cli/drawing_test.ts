import { expect } from "@std/expect";
import { drawHeatMap } from "../../cli/heat_map.ts";
import { drawEquity, drawMetrics, drawRows, drawTrades, pointsIn } from "../../cli/drawing.ts";
import type { Trade } from "../../cli/demo_client.ts";
import { withoutColor } from "../../cli/terminal.ts";

const TRADE: Trade = {
  ...{ number: 123_456, side: "short", entry_time: "2024-01-02T03:04:00.000Z", exit_time: "2024-01-02T03:05:00.000Z" },
  ...{ exit_reason: "stop_loss", quantity: 1, entry_price: 1, exit_price: 1, pnl: 1, return: 0, fees: 0, tag: null },
  ...{ candles: 1, mae: 0, mfe: 0, ambiguous: false, entry_order: 1234, exit_order: null, exit_tag: null },
  instrument: null,
  currency: null,
};

Deno.test("a wide table of trades names their orders and both tags", () => {
  const trade = { ...TRADE, exit_order: 1235, tag: "breakout", exit_tag: "stop" };
  expect(drawTrades([trade, TRADE], withoutColor, 160, { showsOrders: true })).toMatch(
    /Orders +│? *Tags[^]*1234 \/ 1235 +│? *breakout \/ stop[^]*1234 \/ – /,
  );
});

Deno.test("tables and curves stay within the terminal, whatever their numbers are", () => {
  for (const amount of [0, 12.5, -1234.56, 1e-9, 123_456_789_012_345, -9.87e300]) {
    const metrics = {
      initial_equity: amount,
      final_equity: amount,
      total_return: amount,
      sharpe: amount,
      trades: amount,
    };
    const trades = [{ ...TRADE, quantity: amount, entry_price: amount, exit_price: amount, pnl: amount }];
    for (const columns of [44, 60, 80, 100, 120, 160]) {
      const points = Array.from({ length: pointsIn(columns) }, (_, i) => ({
        timestamp: "2024-01-02T03:04:00.000Z",
        equity: amount * (1 + i / 100),
        drawdown: 0,
        position: 0,
      }));
      const drawn = [
        drawMetrics(metrics, withoutColor, columns),
        drawTrades(trades, withoutColor, columns, { showsOrders: true }),
        drawEquity(points, withoutColor),
      ].join("\n");
      const widest = Math.max(...drawn.split("\n").map((line) => line.length));
      expect([amount, columns, widest <= columns, widest]).toEqual([amount, columns, true, widest]);
    }
  }
});

Deno.test("a heat map has its highest row on top, a shade for each quarter, and no more columns than the terminal", () => {
  const surface = {
    x: { parameter: "fast", values: [1, 2, 3] },
    y: { parameter: "slow", values: [10, 20] },
    values: [[-1, null, 2], [3, 4, 5]],
  };
  expect(drawHeatMap(surface, withoutColor, 80)).toBe([
    "20 ▒▒▒▓▓▓███",
    "10 ░░░   ░░░",
    "   1  2  3",
    "slow up, fast across",
  ].join("\n"));
  expect(drawHeatMap({ ...surface, y: null, values: [[7, 8, 9]] }, withoutColor, 8).split("\n")[0]).toBe(" ░░░▒▒▒");
});

Deno.test("a narrow table goes without what it can spare, and breaks its widest words", () => {
  const head = ["Id", "Created", "Words", " Return"];
  const rows = [["0123456789", "2024-01-02", "a sentence of words that is long", "1.00%"]];
  const draw = (columns: number) => drawRows(head, rows, { paint: withoutColor, columns }, ["Created"]);
  const widthOf = (text: string) => Math.max(...text.split("\n").map((line) => line.length));
  // The four columns have 10, 10, 32 and 6 characters, and three more each, and one.
  expect([draw(71), draw(70), draw(58)].map(widthOf)).toEqual([71, 58, 58]);
  expect(draw(71)).toContain("Created");
  expect(draw(70)).not.toContain("Created");
  const narrow = draw(45);
  expect(widthOf(narrow)).toBeLessThanOrEqual(45);
  expect(narrow).toMatch(/0123456789 │ a sentence of words +│ +1\.00% │\n│ +│ that is long/);
});
