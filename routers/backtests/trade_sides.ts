import { z } from "zod";
import type { Backtest } from "../../db/backtests.ts";
import { readRecord, requireColumn } from "../../db/codec/unreadable.ts";
import type { NumericMetricName } from "../../engine/metrics/definitions.ts";
import { tradeMetrics } from "../../engine/metrics/trade_metrics.ts";
import { TradeTally } from "../../engine/metrics/trade_tally.ts";
import type { UserContext } from "../common/trpc.ts";
import { tradeBlocks } from "./trade_order.ts";

/** The metrics of a run's trades that each side has; times in the market stand in the table of all. */
const SIDE_METRICS = [
  "trades",
  "open_trades",
  "win_rate",
  "profit_factor",
  "payoff_ratio",
  "expectancy",
  "average_trade",
  "best_trade",
  "worst_trade",
  "average_win",
  "average_loss",
  "max_consecutive_wins",
  "max_consecutive_losses",
] as const satisfies readonly (NumericMetricName & keyof ReturnType<typeof tradeMetrics>)[];

const sideSchema = z.array(z.object({ name: z.enum(SIDE_METRICS), value: z.number().nullable() }));

/** The metrics of long and of short trades, in the same order; null where a side has no value. */
export const sidesSchema = z.object({ long: sideSchema, short: sideSchema });

/** Measures the long and the short trades of a completed run apart, however many there are. */
export async function readSides(ctx: UserContext, row: Backtest): Promise<z.infer<typeof sidesSchema>> {
  const all = (row.result?.metrics["trades"] ?? 0) + (row.result?.metrics["open_trades"] ?? 0);
  const sides = { long: new TradeTally(all), short: new TradeTally(all) };
  for await (const { columns, count } of tradeBlocks(ctx, row)) {
    readRecord(`trades of the backtest ${row.id}`, () => {
      const [side, pnl, returns] = [
        requireColumn(columns, "side"),
        requireColumn(columns, "pnl"),
        requireColumn(columns, "return"),
      ];
      const [exit, ambiguous] = [requireColumn(columns, "exitTime"), requireColumn(columns, "ambiguous")];
      for (let i = 0; i < count; i++) {
        const tally = side[i]! > 0 ? sides.long : sides.short;
        tally.count(0, -1, ambiguous[i] !== 0);
        if (!Number.isNaN(exit[i])) tally.close(pnl[i]!, returns[i]!, 0);
      }
    });
  }
  return { long: show(sides.long), short: show(sides.short) };
}

function show(tally: TradeTally): z.infer<typeof sideSchema> {
  const measured = tradeMetrics(tally);
  return SIDE_METRICS.map((name) => {
    const value = measured[name];
    return { name, value: typeof value === "number" ? value : null };
  });
}
