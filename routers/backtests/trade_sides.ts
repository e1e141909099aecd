import { z } from "zod";
import type { Backtest } from "../../db/backtests.ts";
import { listTrades } from "../../db/row_pages.ts";
import type { NumericMetricName } from "../../engine/metrics/definitions.ts";
import { tradeMetrics } from "../../engine/metrics/trade_metrics.ts";
import { TradeTally } from "../../engine/metrics/trade_tally.ts";
import { turnsOf } from "../common/large_reads.ts";
import type { UserContext } from "../common/trpc.ts";

/** Trades of a piece: few enough that nobody else waits for them. */
const PIECE_TRADES = 5_000;

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
export async function readSides(
  ctx: UserContext,
  { id, ownerId, result }: Backtest,
): Promise<z.infer<typeof sidesSchema>> {
  const run = turnsOf(ctx);
  const all = (result?.metrics["trades"] ?? 0) + (result?.metrics["open_trades"] ?? 0);
  const sides = { long: new TradeTally(all), short: new TradeTally(all) };
  for (let after = 0; after < all; after += PIECE_TRADES) {
    const page = { backtestId: id, ownerId, after, limit: PIECE_TRADES };
    const trades = await run(() => listTrades(ctx.db, page, (...chunk) => ctx.rowsWorker.cut(...chunk)));
    for (const { side, pnl, return: fraction, exitTime, ambiguous } of trades) {
      sides[side].count(0, -1, ambiguous);
      if (exitTime !== null) sides[side].close(pnl, fraction, 0);
    }
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
